"""Replies of the bench's service on the wires besides Chat Completions, as bytes of server-sent events."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

_REPLIES = {
    "/messages": re.compile(rb'"role": ?"assistant"'),
    "/responses": re.compile(rb'"type": ?"function_call"'),  # each reply of the bench makes one call
    ":stream": re.compile(rb'"role": ?"model"'),
    "/chat": re.compile(rb'"role": ?"assistant"'),
}


def replies_in(path: str, body: bytes) -> int:
    """How many replies a request holds."""
    return next(len(pattern.findall(body)) for part, pattern in _REPLIES.items() if part in path)


def frames(path: str, texts: Sequence[str], calls: Sequence[Mapping[str, Any]]) -> Iterator[bytes]:
    """Every event of a reply that says these texts, or makes these calls (as Chat Completions has them)."""
    if "/messages" in path:
        return map(_named, _messages(texts, calls))
    if "/responses" in path:
        return map(_named, _responses(texts, calls))
    return (_data(chunk) + b"\r\n\r\n" for chunk in _gemini(texts, calls))


def _data(event: Mapping[str, Any]) -> bytes:
    return b"data: " + json.dumps(event, separators=(",", ":")).encode()


def _named(event: Mapping[str, Any]) -> bytes:
    return f"event: {event['type']}\n".encode() + _data(event) + b"\n\n"


def _messages(texts: Sequence[str], calls: Sequence[Mapping[str, Any]]) -> Iterator[dict[str, Any]]:
    usage = {"input_tokens": 1000, "output_tokens": 20}
    message = {"id": "msg_1", "type": "message", "role": "assistant", "model": "bench", "content": []}
    yield {"type": "message_start", "message": {**message, "usage": usage}}
    if texts:
        block: dict[str, Any] = {"type": "text", "text": ""}
        yield {"type": "content_block_start", "index": 0, "content_block": block}
        for text in texts:
            delta = {"type": "text_delta", "text": text}
            yield {"type": "content_block_delta", "index": 0, "delta": delta}
        yield {"type": "content_block_stop", "index": 0}
    for index, call in enumerate(calls):
        block = {"type": "tool_use", "id": call["id"], "name": call["function"]["name"], "input": {}}
        yield {"type": "content_block_start", "index": index, "content_block": block}
        delta = {"type": "input_json_delta", "partial_json": call["function"]["arguments"]}
        yield {"type": "content_block_delta", "index": index, "delta": delta}
        yield {"type": "content_block_stop", "index": index}
    stop = {"stop_reason": "tool_use" if calls else "end_turn"}
    yield {"type": "message_delta", "delta": stop, "usage": usage}
    yield {"type": "message_stop"}


def _responses(texts: Sequence[str], calls: Sequence[Mapping[str, Any]]) -> Iterator[dict[str, Any]]:
    head = {"id": "resp_1", "object": "response", "model": "bench", "output": []}
    yield {"type": "response.created", "response": {**head, "status": "in_progress"}}
    output: list[dict[str, Any]] = []
    if texts:
        item: dict[str, Any] = {"type": "message", "id": "msg_1", "role": "assistant", "content": []}
        yield {"type": "response.output_item.added", "output_index": 0, "item": item}
        for text in texts:
            place = {"item_id": "msg_1", "output_index": 0, "content_index": 0}
            yield {"type": "response.output_text.delta", **place, "delta": text}
        output.append({**item, "content": [{"type": "output_text", "text": "".join(texts)}]})
        yield {"type": "response.output_item.done", "output_index": 0, "item": output[0]}
    for index, call in enumerate(calls):
        function = call["function"]
        item = {"type": "function_call", "id": f"fc_{call['id']}", "call_id": call["id"], **function}
        begun = {**item, "arguments": ""}
        yield {"type": "response.output_item.added", "output_index": index, "item": begun}
        delta = {"item_id": item["id"], "output_index": index, "delta": function["arguments"]}
        yield {"type": "response.function_call_arguments.delta", **delta}
        yield {"type": "response.output_item.done", "output_index": index, "item": item}
        output.append(item)
    usage = {"input_tokens": 1000, "output_tokens": 20, "total_tokens": 1020}
    whole = {**head, "status": "completed", "output": output, "usage": usage}
    yield {"type": "response.completed", "response": whole}


def _gemini(texts: Sequence[str], calls: Sequence[Mapping[str, Any]]) -> Iterator[dict[str, Any]]:
    usage = {"promptTokenCount": 1000, "candidatesTokenCount": 20, "totalTokenCount": 1020}
    head = {"usageMetadata": usage, "modelVersion": "bench", "responseId": "r"}
    parts: list[dict[str, Any]] = [{"text": text} for text in texts]
    for call in calls:
        arguments = json.loads(call["function"]["arguments"])
        made = {"id": call["id"], "name": call["function"]["name"], "args": arguments}
        parts.append({"functionCall": made, "thoughtSignature": "c2lnbmF0dXJl"})
    for part in parts:
        yield {"candidates": [{"content": {"role": "model", "parts": [part]}, "index": 0}], **head}
    yield {"candidates": [{"finishReason": "STOP", "index": 0}], **head}
