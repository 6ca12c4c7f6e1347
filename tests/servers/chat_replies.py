"""A scripted reply as Chat Completions chunks, with the habits of the services that imitate them."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from tests.servers.script import Call, Reply

Frame = Mapping[str, Any] | str


def chat_usage(reply: Reply, body: Mapping[str, Any], request_chars: int) -> dict[str, Any] | None:
    """The usage object; None when the reply says none."""
    fields = dict(reply.usage or {})
    if fields.pop("none", False):
        return None
    output = (
        len(reply.text) + len(reply.thinking) + sum(len(_arguments(call)) for call in reply.calls)
    ) // 4 + 1
    prompt = max(1, request_chars // 4)
    usage: dict[str, Any] = {"prompt_tokens": prompt, "completion_tokens": output}
    usage |= fields
    usage.setdefault("total_tokens", usage["prompt_tokens"] + usage["completion_tokens"])
    return usage


def chat_frames(reply: Reply, body: Mapping[str, Any], request_chars: int) -> Iterator[Frame]:
    """Every event of the stream, [DONE] too."""
    usage = chat_usage(reply, body, request_chars)
    model = reply.model or body["model"]
    head = {"id": "chatcmpl-loopback", "object": "chat.completion.chunk", "created": 1, "model": model}

    def chunk(delta: Mapping[str, Any], finish: str | None = None) -> dict[str, Any]:
        choice: dict[str, Any] = {"index": 0, "delta": delta, "finish_reason": finish}
        if usage and finish and "usage_in_choice" in reply.quirks:
            choice["usage"] = usage
        each = {"usage": usage} if usage and "usage_each_chunk" in reply.quirks else {}
        return {**head, "choices": [choice], **each}

    yield chunk({"role": "assistant", "content": ""})
    for delta in _deltas(reply):
        yield chunk(delta)
    if "no_finish" not in reply.quirks:
        yield chunk({}, reply.stop or ("tool_calls" if reply.calls else "stop"))
    is_asked = body.get("stream_options", {}).get("include_usage")
    if usage and "usage_x_groq" in reply.quirks:
        yield {**head, "choices": [], "x_groq": {"usage": usage}}
    elif usage and (is_asked or reply.usage) and not _elsewhere(reply):
        yield {**head, "choices": [], "usage": usage}
    if "no_done" not in reply.quirks:
        yield "data: [DONE]\n\n"


def chat_document(reply: Reply, body: Mapping[str, Any], request_chars: int) -> dict[str, Any]:
    """The same as one object, for a request without `stream`."""
    message: dict[str, Any] = {"role": "assistant", "content": reply.text or None, "refusal": None}
    if reply.thinking:
        message["reasoning_content"] = reply.thinking
    if reply.calls:
        message["tool_calls"] = [_whole_call(index, call) for index, call in enumerate(reply.calls)]
    finish = reply.stop or ("tool_calls" if reply.calls else "stop")
    return {
        "id": "chatcmpl-loopback",
        "object": "chat.completion",
        "created": 1,
        "model": reply.model or body["model"],
        "choices": [{"index": 0, "message": message, "finish_reason": finish, "logprobs": None}],
        "usage": chat_usage(reply, body, request_chars),
    }


def pieces(text: str, size: int) -> Iterator[str]:
    """A text in pieces of at most so many characters."""
    for start in range(0, len(text), max(1, size)):
        yield text[start : start + max(1, size)]


def _elsewhere(reply: Reply) -> bool:
    return bool({"usage_in_choice", "usage_each_chunk", "no_usage_chunk"} & {*reply.quirks})


def _arguments(call: Call) -> str:
    return json.dumps(dict(call.arguments), ensure_ascii=False) if call.raw is None else call.raw


def _deltas(reply: Reply) -> Iterator[dict[str, Any]]:
    field = "reasoning" if "reasoning" in reply.quirks else "reasoning_content"
    for piece in pieces(reply.thinking, reply.piece_chars):
        delta = {field: piece}
        if "reasoning_twice" in reply.quirks:
            delta = {"reasoning": piece, "reasoning_content": piece}
        if "reasoning_details" in reply.quirks:
            delta["reasoning_details"] = [
                {"type": "reasoning.text", "text": piece, "index": 0, "format": "x"}
            ]  # type: ignore[assignment]
        yield delta
    if "reasoning_details" in reply.quirks:
        yield {
            "reasoning_details": [{"type": "reasoning.encrypted", "data": "ENC", "index": 1, "id": "rs_1"}]
        }
    for piece in pieces(reply.text, reply.piece_chars):
        yield {"refusal": piece} if "refusal" in reply.quirks else {"content": piece}
    if "ghost_call" in reply.quirks:
        yield {"tool_calls": [{"index": 0, "id": "", "function": {"name": "", "arguments": ""}}]}
    for index, call in enumerate(reply.calls):
        yield from _call_deltas(index, call, reply)


def _call_id(index: int, call: Call, quirks: tuple[str, ...]) -> str | None:
    if "no_ids" in quirks:
        return None
    if "same_id" in quirks:
        return "call_0"
    return f"call_{index}_{call.name}" if call.id is None else call.id


def _call_deltas(index: int, call: Call, reply: Reply) -> Iterator[dict[str, Any]]:
    quirks = reply.quirks
    call_id = _call_id(index, call, quirks)
    is_whole = bool({"same_index", "no_index"} & {*quirks})
    place: dict[str, Any] = {} if "no_index" in quirks else {"index": 0 if "same_index" in quirks else index}
    names: dict[str, Any] = {"type": "function"} | ({} if call_id is None else {"id": call_id})
    text = _arguments(call)
    first = text if is_whole else ""
    yield {"tool_calls": [{**place, **names, "function": {"name": call.name, "arguments": first}}]}
    for piece in pieces("" if is_whole else text, reply.piece_chars):
        if "repeats_names" in quirks:
            yield {"tool_calls": [{**place, **names, "function": {"name": call.name, "arguments": piece}}]}
        else:
            yield {"tool_calls": [{**place, "function": {"arguments": piece}}]}


def _whole_call(index: int, call: Call) -> dict[str, Any]:
    function = {"name": call.name, "arguments": _arguments(call)}
    return {"id": _call_id(index, call, ()), "type": "function", "function": function}
