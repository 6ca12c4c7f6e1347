"""A scripted reply as Messages events."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from tests.servers.chat_replies import pieces
from tests.servers.messages_rules import signature_of
from tests.servers.script import Call, Reply

PING = 'event: ping\ndata: {"type": "ping"}\n\n'


def messages_usage(reply: Reply, request_chars: int) -> dict[str, Any]:
    """The usage object as it is at the end."""
    fields = {key: value for key, value in (reply.usage or {}).items() if key != "none"}
    output = (len(reply.text) + len(reply.thinking)) // 4 + 12 * len(reply.calls) + 1
    return {
        "input_tokens": max(1, request_chars // 4),
        "cache_creation_input_tokens": 0,
        "cache_read_input_tokens": 0,
        "output_tokens": output,
        **fields,
    }


def messages_frames(reply: Reply, body: Mapping[str, Any], request_chars: int) -> Iterator[str]:
    """Every event of the stream, framed."""
    usage = messages_usage(reply, request_chars)
    is_silent = bool((reply.usage or {}).get("none"))
    message = {**_message(reply, body), "content": [], "stop_reason": None, "stop_details": None}
    message["usage"] = {} if is_silent else {**usage, "output_tokens": 1}
    yield _event("message_start", message=message)
    yield PING
    if "unknown_events" in reply.quirks:
        yield _event("content_block_telepathy", index=99, thoughts="none")
    for index, block in enumerate(_blocks(reply)):
        yield from _block_events(index, block, reply)
    stop = {"stop_reason": _stop(reply), "stop_sequence": None}
    if stop["stop_reason"] == "refusal":
        stop["stop_details"] = {"type": "refusal", "category": None, "explanation": "against the rules"}  # type: ignore[assignment]
    end_usage = {} if is_silent or "no_delta_usage" in reply.quirks else {"usage": usage}
    yield _event("message_delta", delta=stop, **end_usage)
    if "no_stop" not in reply.quirks:
        yield _event("message_stop")


def messages_document(reply: Reply, body: Mapping[str, Any], request_chars: int) -> dict[str, Any]:
    """The same as one object, for a request without `stream`."""
    message = _message(reply, body)
    blocks = [{key: value for key, value in block.items() if key != "raw"} for block in _blocks(reply)]
    message |= {"content": blocks, "stop_reason": _stop(reply), "stop_sequence": None}
    return {**message, "usage": messages_usage(reply, request_chars)}


def _message(reply: Reply, body: Mapping[str, Any]) -> dict[str, Any]:
    model = reply.model or body["model"]
    return {"id": "msg_loopback", "type": "message", "role": "assistant", "model": model}


def _stop(reply: Reply) -> str:
    return reply.stop or ("tool_use" if reply.calls else "end_turn")


def _blocks(reply: Reply) -> list[dict[str, Any]]:
    blocks: list[dict[str, Any]] = []
    if reply.thinking:
        signature = signature_of(reply.thinking)
        blocks.append({"type": "thinking", "thinking": reply.thinking, "signature": signature})
    if reply.redacted:
        blocks.append({"type": "redacted_thinking", "data": reply.redacted})
    if reply.text:
        blocks.append({"type": "text", "text": reply.text})
    blocks += [_call(index, call) for index, call in enumerate(reply.calls)]
    return blocks


def _call(index: int, call: Call) -> dict[str, Any]:
    call_id = f"toolu_{index}_{call.name}" if call.id is None else call.id
    return {
        "type": "tool_use",
        "id": call_id,
        "name": call.name,
        "input": dict(call.arguments),
        "raw": call.raw,
    }


def _block_events(index: int, block: dict[str, Any], reply: Reply) -> Iterator[str]:
    raw = block.pop("raw", None)
    start, deltas = dict(block), []
    match block["type"]:
        case "text":
            start["text"] = ""
            deltas = [
                {"type": "text_delta", "text": piece} for piece in pieces(block["text"], reply.piece_chars)
            ]
        case "thinking":
            start |= {"thinking": "", "signature": ""}
            text = block["thinking"]
            deltas = [{"type": "thinking_delta", "thinking": p} for p in pieces(text, reply.piece_chars)]
            deltas.append({"type": "signature_delta", "signature": block["signature"]})
        case "tool_use" if "whole_input" not in reply.quirks:
            start["input"] = {}
            text = raw if raw is not None else json.dumps(block["input"], ensure_ascii=False)
            text = "" if raw is None and not block["input"] else text
            deltas = [
                {"type": "input_json_delta", "partial_json": p}
                for p in ("", *pieces(text, reply.piece_chars))
            ]
    yield _event("content_block_start", index=index, content_block=start)
    for delta in deltas:
        yield _event("content_block_delta", index=index, delta=delta)
        if "ping_each" in reply.quirks:
            yield PING
    yield _event("content_block_stop", index=index)


def _event(name: str, **fields: Any) -> str:
    return f"event: {name}\ndata: {json.dumps({'type': name, **fields}, ensure_ascii=False)}\n\n"
