"""Histories for tests of the context: turns in a row, of a size, or of any shape."""

from __future__ import annotations

from collections.abc import Sequence

from hypothesis import strategies as st

from pi_batch.messages import (
    AssistantMessage,
    ImageBlock,
    Message,
    TextBlock,
    ThinkingBlock,
    ToolCall,
    ToolResultMessage,
    UserMessage,
    user_text,
)

PNG = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="


def turn(number: int, chars: int = 35, calls: int = 1) -> list[Message]:
    """A reply with calls and their results."""
    ids = [f"t{number}c{index}" for index in range(calls)]
    wanted = tuple(ToolCall(call_id, "read", {"path": f"file-{call_id}.py"}) for call_id in ids)
    reply = AssistantMessage((TextBlock(f"Step {number}."), *wanted), "tool_use")
    results = [ToolResultMessage(call_id, "read", (TextBlock(("word " * chars)[:chars]),)) for call_id in ids]
    return [reply, *results]


def history(turns: int, chars: int = 35, calls: int = 1) -> list[Message]:
    """A prompt and so many turns."""
    said: list[Message] = [user_text("Do it.")]
    return said + [message for number in range(turns) for message in turn(number, chars, calls)]


def are_paired(messages: Sequence[Message]) -> bool:
    """True when each call's result follows directly, in order, and no result stands alone."""
    waiting: list[str] = []
    for message in messages:
        if isinstance(message, ToolResultMessage):
            if not waiting or waiting.pop(0) != message.tool_call_id:
                return False
            continue
        if waiting:
            return False
        if isinstance(message, AssistantMessage):
            waiting = [call.id for call in message.tool_calls]
    return not waiting


@st.composite
def any_history(draw: st.DrawFn) -> list[Message]:
    """A prompt, then replies with their results and what the user says between them."""
    messages: list[Message] = [user_text("Do it.")]
    for number in range(draw(st.integers(0, 8))):
        calls = draw(st.integers(0, 3))
        thinking = (ThinkingBlock(f"thought {number}", f"sig-{number}"),) if draw(st.booleans()) else ()
        ids = [f"t{number}c{index}" for index in range(calls)]
        wanted = tuple(ToolCall(call_id, "read", {"path": call_id}) for call_id in ids)
        reply = AssistantMessage((*thinking, TextBlock("so"), *wanted), "tool_use" if calls else "stop")
        messages.append(reply)
        for call_id in ids:
            text = TextBlock(draw(st.sampled_from(["short", "long " * 900, "行" * 2_500, "\ud800" * 3_000])))
            image = (ImageBlock(PNG, "image/png"),) if draw(st.booleans()) else ()
            messages.append(ToolResultMessage(call_id, "read", (text, *image), is_error=draw(st.booleans())))
        if draw(st.booleans()):
            messages.append(UserMessage((TextBlock("Go on."),)))
    return messages
