"""When a history is too long, where it may be cut, and how a bulky result is shortened.

Sizes follow pi: a summary is made when the next request would leave less than `reserve` of the window, and
the newest messages are kept as they are. Both are smaller where the window is small.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal

from msgspec import Struct
from msgspec.structs import replace

from pi_batch.engine.estimate import message_tokens
from pi_batch.messages import (
    AssistantMessage,
    ImageBlock,
    Message,
    TextBlock,
    ToolResultMessage,
)

RESERVE_TOKENS = 16_384
"""Left free for a reply and for what an estimate misses; at most a quarter of the window."""
KEEP_TOKENS = 20_000
"""Newest messages that a summary leaves as they are; at most KEEP_SHARE of what there is room for."""
KEEP_SHARE = 0.6
ELIDED_CHARS = 400
"""What is left of an old bulky result."""
BULKY_CHARS = 2_000
ELISION_SHARE = 0.25
"""Part of the room that leaving out old results must win; else a summary is made. So the beginning, and
with it a service's prompt cache, changes once in many turns."""
MIN_SHRINK = 0.1
"""A compaction that takes away less than this part of the history has not shrunk it."""
TAIL_CHARS = (16_000, 8_000, 4_000, 2_000, 1_000, 500)
"""What a result of the newest messages is shortened to where they do not fit: the first that is enough."""

CompactionReason = Literal["threshold", "overflow", "recorded"]


class Room(Struct, frozen=True):
    """How much history fits."""

    limit_tokens: int
    """Input beyond this is compacted before it is sent."""
    lasting_tokens: int
    """In every request: system prompt, declarations, prompt or summary."""

    @property
    def keep_tokens(self) -> int:
        """Newest messages that stay as they are."""
        return min(KEEP_TOKENS, max(0, int((self.limit_tokens - self.lasting_tokens) * KEEP_SHARE)))

    @property
    def elision_gain(self) -> int:
        """Tokens that shortening old results must win to be worth a changed beginning."""
        return int(max(0, self.limit_tokens - self.lasting_tokens) * ELISION_SHARE)


def reserve_tokens(window: int, wished: int | None) -> int:
    """What stays free of a window: what was asked for, at most half; else pi's, at most a quarter."""
    return min(RESERVE_TOKENS, window // 4) if wished is None else min(wished, window // 2)


def cut_at(messages: Sequence[Message], keep_tokens: int) -> int:
    """The index of the first message to be kept; 0 when nothing may be cut.

    A history is cut before a reply only, so a call and its results stay together. The last reply is always
    kept, and the prompt alone is nothing to sum up.
    """
    first = kept = 0
    for index in range(len(messages) - 1, 0, -1):
        kept += message_tokens(messages[index])
        if first and kept > keep_tokens:
            break
        if isinstance(messages[index], AssistantMessage):
            first = index
    return first if first > 1 else 0


def elided(messages: Sequence[Message], end: int) -> dict[int, ToolResultMessage]:
    """Shorter stand-ins for the bulky results before `end`, by index."""
    found = {}
    for index, message in enumerate(messages[:end]):
        if isinstance(message, ToolResultMessage):
            short = shortened(message, ELIDED_CHARS, least=BULKY_CHARS)
            if short is not message:
                found[index] = short
    return found


def fitted(messages: Sequence[Message], over_tokens: int) -> dict[int, ToolResultMessage]:
    """Results shortened all alike until about `over_tokens` are won, or as far as it goes, by index."""
    found: dict[int, ToolResultMessage] = {}
    for max_chars in TAIL_CHARS:
        found = {}
        for index, message in enumerate(messages):
            if isinstance(message, ToolResultMessage):
                short = shortened(message, max_chars, least=max_chars + ELIDED_CHARS)
                if short is not message:
                    found[index] = short
        if won_tokens(messages, found) >= over_tokens:
            break
    return found


def won_tokens(messages: Sequence[Message], changed: Mapping[int, Message]) -> int:
    """Tokens by which the stand-ins are shorter."""
    return sum(message_tokens(messages[index]) - message_tokens(new) for index, new in changed.items())


def shortened(result: ToolResultMessage, max_chars: int, *, least: int) -> ToolResultMessage:
    """A result cut in its middle to about `max_chars`, and saying so; itself when under `least` characters.

    Images go, too: each costs more than the text that is left.
    """
    text = result.text
    images = sum(isinstance(block, ImageBlock) for block in result.content)
    if len(text) < least and not images:
        return result
    head, tail = text, ""
    if len(text) >= least:
        head, tail = text[: max_chars * 2 // 3], text[len(text) - max_chars // 3 :]
    left_out = len(text) - len(head) - len(tail)
    note = _note(left_out, len(text), images, result.details.get("full_output_path"))
    content = "\n".join(part for part in (head, note, tail) if part)
    return replace(result, content=(TextBlock(content),))


def _note(left_out: int, chars: int, images: int, path: object) -> str:
    what = [f"{left_out} of {chars} characters"] if left_out else []
    what += [f"{images} image{'s' if images > 1 else ''}"] if images else []
    where = f"; the full output: {path}" if isinstance(path, str) else "; call again if it is needed"
    return f"[{' and '.join(what)} of this result left out to save context{where}]"
