"""A scripted reply as chunks of Gemini's stream: CRLF line ends, no comment, no end mark."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from tests.servers.chat_replies import pieces
from tests.servers.gemini_rules import generation, signature_of
from tests.servers.script import Call, Reply

MODEL = "\0model"
"""Under this key the server puts the model into a body: it stands in the path."""


def gemini_usage(reply: Reply, request_chars: int) -> dict[str, Any] | None:
    """The usage object; None when the reply says none. Names of Chat Completions are understood, too."""
    fields = dict(reply.usage or {})
    if fields.pop("none", False):
        return None
    for chat, ours in (("prompt_tokens", "promptTokenCount"), ("completion_tokens", "candidatesTokenCount")):
        if chat in fields:
            fields.setdefault(ours, fields.pop(chat))
    usage: dict[str, Any] = {
        "promptTokenCount": max(1, request_chars // 4),
        "candidatesTokenCount": len(reply.text) // 4 + 12 * len(reply.calls) + 1,
        **{key: value for key, value in fields.items() if key.endswith("Count")},
    }
    thoughts = usage.get("thoughtsTokenCount", 0)
    return {**usage, "totalTokenCount": usage["promptTokenCount"] + usage["candidatesTokenCount"] + thoughts}


def gemini_frames(reply: Reply, body: Mapping[str, Any], request_chars: int) -> Iterator[str]:
    """Every chunk of the stream, framed."""
    model = str(body.get(MODEL, "gemini-3-pro"))
    usage = gemini_usage(reply, request_chars)
    head: dict[str, Any] = {"modelVersion": reply.model or model, "responseId": "resp-loopback"}
    counted = {} if usage is None else {"usageMetadata": usage}
    if "blocked" in reply.quirks:
        yield _frame({"promptFeedback": {"blockReason": reply.stop or "SAFETY"}, **counted, **head})
        return
    contents: list[dict[str, Any]] = [{"parts": [part], "role": "model"} for part in _parts(reply, model)]
    candidates = [{"content": content, "index": 0} for content in contents] or [{"index": 0}]
    if "no_finish" not in reply.quirks:
        candidates[-1]["finishReason"] = reply.stop or "STOP"
    for candidate in candidates:
        yield _frame({"candidates": [candidate], **counted, **head})


def gemini_document(reply: Reply, body: Mapping[str, Any], request_chars: int) -> dict[str, Any]:
    """The same as one object, for a request without `stream`."""
    model = str(body.get(MODEL, "gemini-3-pro"))
    content = {"parts": _parts(reply, model), "role": "model"}
    candidate = {"content": content, "finishReason": reply.stop or "STOP", "index": 0}
    head = {"modelVersion": reply.model or model, "responseId": "resp-loopback"}
    return {"candidates": [candidate], "usageMetadata": gemini_usage(reply, request_chars), **head}


def _parts(reply: Reply, model: str) -> list[dict[str, Any]]:
    parts: list[dict[str, Any]] = []
    parts += [{"text": piece, "thought": True} for piece in pieces(reply.thinking, reply.piece_chars)]
    if reply.thinking and "signed_thought" in reply.quirks:
        parts[-1]["thoughtSignature"] = signature_of(parts[-1])
    parts += [{"text": piece} for piece in pieces(reply.text, reply.piece_chars)]
    is_new = generation(model) >= 3
    if reply.text and "signed_text" in reply.quirks:
        parts[-1]["thoughtSignature"] = signature_of(parts[-1])
    elif reply.text and not reply.calls and is_new:
        parts.append({"text": "", "thoughtSignature": signature_of({"text": ""})})
    calls = [
        {"functionCall": _call(index, call, reply, is_new=is_new)} for index, call in enumerate(reply.calls)
    ]
    if calls and is_new:
        calls[0]["thoughtSignature"] = signature_of(calls[0])  # type: ignore[assignment]
    return parts + calls


def _call(index: int, call: Call, reply: Reply, *, is_new: bool) -> dict[str, Any]:
    args: Any = dict(call.arguments) if call.raw is None else _loose(call.raw or "{}")
    wire: dict[str, Any] = {"name": call.name, "args": args}
    call_id = f"fc-{index}-{call.name}" if call.id is None else call.id
    if not is_new or "no_ids" in reply.quirks:
        return wire
    return {"id": "fc-0" if "same_id" in reply.quirks else call_id, **wire}


def _loose(raw: str) -> Any:
    """What is no JSON stands there as a string."""
    try:
        return json.loads(raw)
    except ValueError:
        return raw


def _frame(chunk: Mapping[str, Any]) -> str:
    return f"data: {json.dumps(chunk, ensure_ascii=False)}\r\n\r\n"
