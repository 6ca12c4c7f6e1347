"""Session files for tests, line by line."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

TIME = "2026-01-01T00:00:00.000Z"
HEADER: dict[str, Any] = {"type": "session", "version": 3, "id": "uuid-1", "timestamp": TIME, "cwd": "/w"}
ZERO_COST = {"input": 0, "output": 0, "cacheRead": 0, "cacheWrite": 0, "total": 0}
NO_USAGE = {"input": 0, "output": 0, "cacheRead": 0, "cacheWrite": 0, "totalTokens": 0, "cost": ZERO_COST}


def lines(*objects: Mapping[str, Any]) -> bytes:
    """Objects as JSON Lines."""
    return b"".join(json.dumps(item, ensure_ascii=False).encode() + b"\n" for item in objects)


def entry(entry_id: str, parent: str | None = None, kind: str = "custom", /, **fields: Any) -> dict[str, Any]:
    """An entry of any type."""
    return {"type": kind, "id": entry_id, "parentId": parent, "timestamp": TIME, **fields}


def user(entry_id: str, parent: str | None, text: str) -> dict[str, Any]:
    """A user message."""
    message = {"role": "user", "content": [{"type": "text", "text": text}], "timestamp": 1}
    return entry(entry_id, parent, "message", message=message)


def call(call_id: str, name: str = "bash", **arguments: Any) -> dict[str, Any]:
    """A toolCall block."""
    return {"type": "toolCall", "id": call_id, "name": name, "arguments": arguments}


def reply(
    entry_id: str, parent: str | None, *blocks: Mapping[str, Any] | str, stop: str = "stop", **fields: Any
) -> dict[str, Any]:
    """An assistant message; texts become text blocks."""
    content = [{"type": "text", "text": block} if isinstance(block, str) else dict(block) for block in blocks]
    message = {
        "role": "assistant",
        "content": content,
        "api": "openai-completions",
        "provider": "openai",
        "model": "gpt-4.1",
        "usage": NO_USAGE,
        "stopReason": stop,
        "timestamp": 1,
        **fields,
    }
    return entry(entry_id, parent, "message", message=message)


def result(
    entry_id: str, parent: str | None, call_id: str, text: str = "ok", **fields: Any
) -> dict[str, Any]:
    """A tool result."""
    message = {
        "role": "toolResult",
        "toolCallId": call_id,
        "toolName": "bash",
        "content": [{"type": "text", "text": text}],
        "isError": False,
        "timestamp": 1,
        **fields,
    }
    return entry(entry_id, parent, "message", message=message)


def chain(path: Path, *entries: Mapping[str, Any], **header: Any) -> Path:
    """Write a session whose entries hang on one another, whatever their parentId says."""
    parent, linked = None, []
    for item in entries:
        linked.append({**item, "parentId": parent})
        parent = item["id"]
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(lines({**HEADER, **header}, *linked))
    return path
