"""A scripted reply as Responses events."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from tests.servers.chat_replies import pieces
from tests.servers.responses_rules import encrypted_of, reasoning_id
from tests.servers.script import Call, Reply

STATUS = {"max_output_tokens": "incomplete", "content_filter": "incomplete", "failed": "failed"}
"""`Reply.stop` -> status; anything else is the status itself."""


def responses_usage(reply: Reply, request_chars: int) -> dict[str, Any] | None:
    """The usage object; None when the reply says none. Names of Chat Completions are understood, too."""
    fields = dict(reply.usage or {})
    if fields.pop("none", False):
        return None
    for chat, ours in (("prompt_tokens", "input_tokens"), ("completion_tokens", "output_tokens")):
        if chat in fields:
            fields.setdefault(ours, fields.pop(chat))
    output = (len(reply.text) + len(reply.thinking)) // 4 + 12 * len(reply.calls) + 1
    usage: dict[str, Any] = {
        "input_tokens": max(1, request_chars // 4),
        "input_tokens_details": {"cached_tokens": 0, "cache_write_tokens": 0},
        "output_tokens": output,
        "output_tokens_details": {"reasoning_tokens": 0},
        **{key: value for key, value in fields.items() if "tokens" in key},
    }
    return {**usage, "total_tokens": usage["input_tokens"] + usage["output_tokens"]}


def responses_frames(reply: Reply, body: Mapping[str, Any], request_chars: int) -> Iterator[str]:
    """Every event of the stream, framed and numbered."""
    for number, (name, fields) in enumerate(_events(reply, body, request_chars)):
        event = {"type": name, "sequence_number": number, **fields}
        if "no_index" in reply.quirks:
            event.pop("output_index", None)
        yield f"event: {name}\ndata: {json.dumps(event, ensure_ascii=False)}\n\n"


def responses_document(reply: Reply, body: Mapping[str, Any], request_chars: int) -> dict[str, Any]:
    """The same as one object, for a request without `stream`."""
    return _response(reply, body, _items(reply), responses_usage(reply, request_chars))


def _events(
    reply: Reply, body: Mapping[str, Any], request_chars: int
) -> Iterator[tuple[str, dict[str, Any]]]:
    begun = _response(reply, body, [], None) | {"status": "in_progress", "incomplete_details": None}
    yield "response.created", {"response": begun}
    yield "response.in_progress", {"response": begun}
    if "unknown_events" in reply.quirks:
        yield "response.telepathy.delta", {"output_index": 99, "delta": "none"}
    items = list(enumerate(_items(reply)))
    if "out_of_order" in reply.quirks:
        for index, item in items:
            yield "response.output_item.added", {"output_index": index, "item": _begun(item)}
        items.reverse()
    for index, item in items:
        if "out_of_order" not in reply.quirks:
            yield "response.output_item.added", {"output_index": index, "item": _begun(item)}
        yield from _growth(index, item, reply)
        if "no_item_done" not in reply.quirks:
            done = {**item, "encrypted_content": None} if _is_late(item, reply) else item
            yield "response.output_item.done", {"output_index": index, "item": done}
    if "no_stop" in reply.quirks or "no_finish" in reply.quirks:
        return
    output = [] if "empty_output" in reply.quirks else _items(reply)
    response = _response(reply, body, output, responses_usage(reply, request_chars))
    yield f"response.{response['status']}", {"response": response}


def _is_late(item: Mapping[str, Any], reply: Reply) -> bool:
    return item["type"] == "reasoning" and "late_encrypted" in reply.quirks


def _response(
    reply: Reply, body: Mapping[str, Any], output: list[dict[str, Any]], usage: dict[str, Any] | None
) -> dict[str, Any]:
    status = STATUS.get(reply.stop, reply.stop) if reply.stop else "completed"
    error = {"code": "server_error", "message": "it broke"} if status == "failed" else None
    return {
        "id": "resp_loopback",
        "object": "response",
        "created_at": 1,
        "status": status,
        "error": error,
        "incomplete_details": {"reason": reply.stop} if status == "incomplete" else None,
        "instructions": body.get("instructions"),
        "metadata": {},
        "model": reply.model or body["model"],
        "output": output,
        "parallel_tool_calls": True,
        "temperature": None,
        "tool_choice": "auto",
        "tools": body.get("tools", []),
        "top_p": None,
        "store": False,
        "usage": usage,
    }


def _items(reply: Reply) -> list[dict[str, Any]]:
    items: list[dict[str, Any]] = []
    if reply.thinking:
        items.append(
            {
                "type": "reasoning",
                "id": reasoning_id(reply.thinking),
                "summary": [{"type": "summary_text", "text": reply.thinking}],
                "encrypted_content": encrypted_of(reply.thinking),
            }
        )
    if reply.text:
        part: dict[str, Any] = {"type": "output_text", "text": reply.text, "annotations": []}
        if "refusal" in reply.quirks:
            part = {"type": "refusal", "refusal": reply.text}
        message = {"type": "message", "id": "msg_loopback", "role": "assistant", "status": "completed"}
        phase = {"phase": "commentary" if reply.calls else "final_answer"} if "phases" in reply.quirks else {}
        items.append({**message, "content": [part], **phase})
    items += [_call(index, call, reply) for index, call in enumerate(reply.calls)]
    return items


def _call(index: int, call: Call, reply: Reply) -> dict[str, Any]:
    call_id = f"call_{index}_{call.name}" if call.id is None else call.id
    if "no_ids" in reply.quirks:
        call_id = ""
    elif "same_id" in reply.quirks:
        call_id = "call_0"
    text = json.dumps(dict(call.arguments), ensure_ascii=False) if call.raw is None else call.raw
    return {
        "type": "function_call",
        "id": f"fc_{index}_{call.name}",
        "call_id": call_id,
        "name": call.name,
        "arguments": text,
        "status": "completed",
    }


def _begun(item: Mapping[str, Any]) -> dict[str, Any]:
    """An item as it is announced: empty, its encrypted content cut off."""
    empty: dict[str, dict[str, Any]] = {
        "message": {"content": [], "status": "in_progress"},
        "reasoning": {"summary": [], "encrypted_content": "enc_cut"},
        "function_call": {"arguments": "", "status": "in_progress"},
    }
    return {**item, **empty[item["type"]]}


def _growth(index: int, item: Mapping[str, Any], reply: Reply) -> Iterator[tuple[str, dict[str, Any]]]:
    place = {"item_id": item["id"], "output_index": index}
    match item["type"]:
        case "reasoning":
            for piece in pieces(reply.thinking, reply.piece_chars):
                name = "response.reasoning_summary_text.delta"
                yield name, {**place, "summary_index": 0, "delta": piece}
        case "message":
            part = item["content"][0]
            empty = {**part, ("refusal" if part["type"] == "refusal" else "text"): ""}
            yield "response.content_part.added", {**place, "content_index": 0, "part": empty}
            kind = "refusal" if part["type"] == "refusal" else "output_text"
            extra: dict[str, Any] = {} if kind == "refusal" else {"logprobs": []}
            for piece in pieces(reply.text, reply.piece_chars):
                yield f"response.{kind}.delta", {**place, "content_index": 0, "delta": piece, **extra}
            yield "response.content_part.done", {**place, "content_index": 0, "part": part}
        case "function_call":
            for piece in pieces(item["arguments"], reply.piece_chars):
                yield "response.function_call_arguments.delta", {**place, "delta": piece}
            name, whole = "response.function_call_arguments.done", item["arguments"]
            yield name, {**place, "name": item["name"], "arguments": whole}
