"""Histories for encoder tests: what a long, untidy session holds."""

from __future__ import annotations

import base64

from msgspec.structs import replace

from pi_batch.messages import (
    AssistantMessage,
    ImageBlock,
    Message,
    TextBlock,
    ThinkingBlock,
    ToolCall,
    ToolResultMessage,
    user_text,
)

PNG = base64.b64encode(b"\x89PNG\r\n\x1a\n" + b"\0" * 20).decode()
IMAGE = ImageBlock(PNG, "image/png")


def call(call_id: str = "call_1", name: str = "read", **arguments: object) -> ToolCall:
    """A call of a tool."""
    return ToolCall(call_id, name, arguments or {"path": "a.txt"})


def reply(*blocks: TextBlock | ThinkingBlock | ToolCall | str, **fields: str) -> AssistantMessage:
    """A reply of these blocks; a string is a text block."""
    content = tuple(TextBlock(block) if isinstance(block, str) else block for block in blocks)
    has_calls = any(isinstance(block, ToolCall) for block in content)
    message = AssistantMessage(content, "tool_use" if has_calls else "stop")
    return replace(message, **fields)


def result(
    call_id: str = "call_1", *blocks: TextBlock | ImageBlock | str, is_error: bool = False, name: str = "read"
) -> ToolResultMessage:
    """A result of these blocks; a string is a text block."""
    content = tuple(TextBlock(block) if isinstance(block, str) else block for block in blocks)
    return ToolResultMessage(call_id, name, content, is_error)


def turn(number: int, text: str = "some output\n") -> list[Message]:
    """A reply that calls, and its result."""
    call_id = f"call_{number}"
    return [reply(f"turn {number}", call(call_id, path=f"file{number}.txt")), result(call_id, text)]


def long_history(turns: int, text: str = "some output\n") -> list[Message]:
    """A task of so many turns."""
    history: list[Message] = [user_text("do it")]
    for number in range(turns):
        history += turn(number, text)
    return history
