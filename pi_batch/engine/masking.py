"""Secrets hidden before anything enters the history or the live stream."""

from __future__ import annotations

import codecs
from typing import Any, Protocol

from msgspec.structs import replace

from pi_batch.messages import AssistantMessage, TextBlock, ThinkingBlock, ToolCall
from pi_batch.outputs import ByteMask


class Mask(Protocol):
    """Hides known secret values."""

    @property
    def is_empty(self) -> bool:
        """True when there is nothing to hide."""
        ...

    def mask(self, text: str) -> str:
        """The text without them."""
        ...

    def mask_settled(self, text: str) -> str:
        """The text without them, nor an end that may become one."""
        ...

    def mask_bytes(self, data: bytes) -> bytes:
        """The bytes without them."""
        ...

    def mask_json(self, value: Any) -> Any:
        """The JSON value without them."""
        ...

    def stream(self) -> ByteMask:
        """A mask for bytes that come in pieces."""
        ...


def mask_reply(reply: AssistantMessage, mask: Mask) -> AssistantMessage:
    """A reply as it may be recorded; signed blocks of unchanged text stay as they are."""
    if mask.is_empty:
        return reply
    return replace(reply, content=tuple(_mask_block(block, mask) for block in reply.content))


def _mask_block(
    block: TextBlock | ThinkingBlock | ToolCall, mask: Mask
) -> TextBlock | ThinkingBlock | ToolCall:
    match block:
        case TextBlock():
            return replace(block, text=mask.mask(block.text))
        case ThinkingBlock():
            return _mask_thinking(block, mask)
        case ToolCall():
            arguments = None if block.arguments is None else mask.mask_json(dict(block.arguments))
            return replace(block, arguments=arguments, raw_arguments=mask.mask(block.raw_arguments))


def _mask_thinking(block: ThinkingBlock, mask: Mask) -> ThinkingBlock:
    """A thought without secrets; its signature may hold it too, or be good for the unchanged text only."""
    thinking = mask.mask(block.thinking)
    signature = None if block.signature is None else mask.mask(block.signature)
    if thinking != block.thinking and signature == block.signature:
        signature = None  # a changed thought is refused under its signature
    return replace(block, thinking=thinking, signature=signature)


class LiveMask:
    """Masks a streamed reply, kind by kind, across the borders of its deltas."""

    def __init__(self, mask: Mask) -> None:
        self._mask = mask
        self._streams: dict[str, tuple[ByteMask, codecs.IncrementalDecoder]] = {}

    def feed(self, kind: str, text: str) -> str:
        """What may be shown so far."""
        if self._mask.is_empty:
            return text
        if kind not in self._streams:
            self._streams[kind] = (self._mask.stream(), codecs.getincrementaldecoder("utf-8")("replace"))
        stream, decoder = self._streams[kind]
        return decoder.decode(stream.feed(text.encode("utf-8", "replace")))
