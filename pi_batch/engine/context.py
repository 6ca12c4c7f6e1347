"""The history gate: what every history passes before every request.

After it: each call has exactly one result, directly after its message and in call order; no result
without its call; no blank text; valid UTF-8 without NUL; images are what their bytes say; tool names fit
every provider's pattern. A message that is right already comes back as the same object, so that encoders
can keep what they encoded.
"""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Iterator, Sequence
from operator import is_

from msgspec.structs import replace

from pi_batch.messages import (
    AssistantMessage,
    ImageBlock,
    Message,
    SystemMessage,
    TextBlock,
    ThinkingBlock,
    ToolCall,
    ToolResultMessage,
    UserMessage,
)

TOOL_NAME = re.compile(r"[A-Za-z0-9_-]{1,64}\Z")
EMPTY_RESULT = "(no output)"
LOST_RESULT = "The call was interrupted: its result is unknown, and so are its effects."

_MAGIC = (
    (b"\x89PNG\r\n\x1a\n", "image/png"),
    (b"\xff\xd8\xff", "image/jpeg"),
    (b"GIF87a", "image/gif"),
    (b"GIF89a", "image/gif"),
)


def gate(messages: Sequence[Message]) -> tuple[Message, ...]:
    """The history as it may be sent."""
    sent: list[Message] = []
    index = 0
    while index < len(messages):
        message = messages[index]
        index += 1
        match message:
            case AssistantMessage():
                results, index = _results_after(messages, index)
                reply = _clean_reply(message)
                if reply.content:
                    sent.append(reply)
                    sent.extend(_paired(reply, results))
            case UserMessage():
                sent.extend(_clean_user(message))
            case ToolResultMessage() | SystemMessage():
                continue  # a result without its call; the system prompt travels beside the history
    return tuple(sent)


class HistoryGate:
    """`gate` for a history that grows: what has passed once is only looked at again when it has changed.

    Everything before the last reply is final: results are missing only after it.
    """

    def __init__(self) -> None:
        self._final: list[Message] = []
        """The beginning of the history that was final the last time."""
        self._passed: tuple[Message, ...] = ()
        """What of it is sent."""

    def __call__(self, messages: Sequence[Message]) -> tuple[Message, ...]:
        """The history as it may be sent."""
        known = len(self._final)
        if known > len(messages) or not all(map(is_, self._final, messages)):
            known, self._passed = 0, ()
        last = max(_last_reply(messages), known)
        self._passed += gate(messages[known:last])
        self._final = [*messages[:last]]
        return self._passed + gate(messages[last:])


def _last_reply(messages: Sequence[Message]) -> int:
    """The index of the last reply; 0 without one."""
    replies = (
        index for index in reversed(range(len(messages))) if isinstance(messages[index], AssistantMessage)
    )
    return next(replies, 0)


def clean_text(text: str) -> str:
    """Text that JSON and every provider take: no NUL, no lone surrogate."""
    if "\0" in text:
        text = text.replace("\0", "\ufffd")
    try:
        text.encode()
    except UnicodeEncodeError:
        text = text.encode("utf-8", "replace").decode()
    return text


def image_type(data: bytes) -> str | None:
    """The MIME type that the bytes show, among those that providers take; None for anything else."""
    if data[:4] == b"RIFF" and data[8:12] == b"WEBP":
        return "image/webp"
    return next((mime for magic, mime in _MAGIC if data.startswith(magic)), None)


def _results_after(messages: Sequence[Message], index: int) -> tuple[dict[str, ToolResultMessage], int]:
    """The first result for each id directly after a reply, and the index after them."""
    results: dict[str, ToolResultMessage] = {}
    while index < len(messages):
        message = messages[index]
        if not isinstance(message, ToolResultMessage):
            break
        results.setdefault(message.tool_call_id, message)
        index += 1
    return results, index


def _paired(reply: AssistantMessage, results: dict[str, ToolResultMessage]) -> Iterator[ToolResultMessage]:
    """One result per call, in call order; a lost one is said."""
    for call in reply.tool_calls:
        result = results.get(call.id)
        if result is None:
            yield ToolResultMessage(
                call.id, call.name, (TextBlock(LOST_RESULT),), is_error=True, error_kind="failed"
            )
        else:
            yield _clean_result(result, call.name)


def _clean_reply(message: AssistantMessage) -> AssistantMessage:
    content = tuple(block for block in map(_clean_block, message.content) if block is not None)
    unique: set[str] = set()
    kept = []
    for block in content:
        if isinstance(block, ToolCall):
            if block.id in unique:
                continue
            unique.add(block.id)
        kept.append(block)
    if len(kept) == len(message.content) and all(
        new is old for new, old in zip(kept, message.content, strict=True)
    ):
        return message
    return replace(message, content=tuple(kept))


def _clean_block(block: TextBlock | ThinkingBlock | ToolCall) -> TextBlock | ThinkingBlock | ToolCall | None:
    match block:
        case TextBlock():
            text = clean_text(block.text)
            if not text.strip() and block.signature is None:
                return None
            return block if text == block.text else replace(block, text=text)
        case ThinkingBlock():
            if not block.thinking and block.signature is None:
                return None
            return block  # signed: it goes back as it came
        case ToolCall():
            return block if TOOL_NAME.match(block.name) else replace(block, name=_safe_name(block.name))


def _safe_name(name: str) -> str:
    return re.sub(r"[^A-Za-z0-9_-]", "_", name)[:64] or "unnamed"


def _clean_result(result: ToolResultMessage, name: str) -> ToolResultMessage:
    content = _clean_content(result.content) or (TextBlock(EMPTY_RESULT),)
    if content == result.content and name == result.tool_name:
        return result
    return replace(result, content=content, tool_name=name)


def _clean_user(message: UserMessage) -> Iterator[UserMessage]:
    content = _clean_content(message.content)
    if content == message.content:
        yield message
    elif content:
        yield replace(message, content=content)


def _clean_content(content: tuple[TextBlock | ImageBlock, ...]) -> tuple[TextBlock | ImageBlock, ...]:
    return tuple(block for block in map(_clean_part, content) if block is not None)


def _clean_part(block: TextBlock | ImageBlock) -> TextBlock | ImageBlock | None:
    if isinstance(block, TextBlock):
        text = clean_text(block.text)
        if not text.strip():
            return None
        return block if text == block.text else replace(block, text=text)
    try:
        head = base64.b64decode(block.data[:64], validate=True)
    except (binascii.Error, ValueError):
        head = b""
    actual = image_type(head)
    if actual is None:
        return TextBlock(f"[an image that is no {block.mime_type}: left out]")
    return block if actual == block.mime_type else replace(block, mime_type=actual)
