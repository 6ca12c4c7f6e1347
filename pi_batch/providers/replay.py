"""Plays a recorded session: no key, no network, real tools.

The assistant messages on the recording's active branch are the replies, in order. What is done with them is
done anew; where that comes out otherwise than recorded, a warning says so with both.
"""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Callable, Iterator
from pathlib import Path
from typing import Literal

from msgspec.structs import replace

from pi_batch.errors import ReplayDiverged
from pi_batch.messages import (
    AssistantMessage,
    Message,
    TextBlock,
    ThinkingBlock,
    ToolCall,
    ToolResultMessage,
    Usage,
    UserMessage,
)
from pi_batch.protocols import Delta, ModelRequest, RecordedSummary
from pi_batch.providers.recording import (
    exit_code,
    find_recording,
    path_rewriter,
    read_recording,
    user_text_of,
    with_paths,
)

DELTA_CHARS = 256
SHOWN_CHARS = 60


class Replay:
    """One task's recording; implements `protocols.Provider`."""

    name = "replay"

    def __init__(
        self,
        path: Path,
        *,
        key: str = "",
        workspace: str | None = None,
        on_warning: Callable[[str], None] | None = None,
    ) -> None:
        """Read the recording: a session file, or a directory that holds one for `key`.

        `on_warning` is told of each divergence at once; without it they are kept for `warnings`.
        Raises: UsageError, one line, when there is nothing to be replayed.
        """
        self._recording = read_recording(find_recording(path, key))
        self._kept: list[str] = []
        self._warn = on_warning or self._kept.append
        self._next: int | None = None
        """The reply that comes next; None before the first request."""
        self._summarized: set[int] = set()
        """Where a compaction was given, by the reply after it."""
        self._compared = 0
        """The last reply whose results were looked at, counted from 1."""
        self._rewrite: Callable[[str], str] = lambda text: text
        self._has_said_unpriced = False
        if workspace is not None:
            self.bind(workspace)

    @property
    def has_phases(self) -> bool:
        """True when the recording has a plan first, and then its work."""
        return self._recording.has_phases

    @property
    def has_steps(self) -> bool:
        """True when the recording has another model for each attempt."""
        return self._recording.has_steps

    @property
    def attempts(self) -> int:
        """How often the recorded work was taken up, after failed verifications."""
        return self._recording.attempts

    def bind(self, workspace: str) -> None:
        """Say where the live workspace is, before the first request: recorded paths lead there then."""
        self._rewrite = path_rewriter(self._recording.roots, workspace)

    async def stream(self, request: ModelRequest) -> AsyncIterator[Delta | AssistantMessage]:
        """Yield the next recorded reply. Raises: ReplayDiverged when the recording is at its end."""
        if self._next is None:
            self._next = self._begin(request)
        index, replies = self._next, self._recording.replies
        self._compare_results(request.messages, index)
        if index >= len(replies):
            raise ReplayDiverged(
                f"{self._recording.path}: {len(replies)} replies recorded, number {index + 1} was asked for"
                f" (after {_last_of(request.messages)}): the run went another way than the recording"
            )
        reply = self._charged(with_paths(replies[index], self._rewrite))
        for delta in _deltas(reply):
            yield delta
        self._next = index + 1
        yield reply

    def recorded_summary(self) -> RecordedSummary | None:
        """The compaction that the recording has before the next reply, with its paths as they are now."""
        found = self._recording.compactions.get(self._next or 0)
        if found is None or self._next in self._summarized:
            return None
        self._summarized.add(self._next or 0)
        return replace(found, text=self._rewrite(found.text))

    async def close(self) -> None:
        """Nothing is held open."""

    def leftover_warning(self) -> str | None:
        """What to say at the end when not all was asked for; None when nothing is left."""
        used, recorded = self._next or 0, len(self._recording.replies)
        if used >= recorded:
            return None
        return f"{self._recording.path}: {recorded - used} of {recorded} recorded replies were not asked for"

    def warnings(self) -> tuple[str, ...]:
        """What `on_warning` was not there to take, and what is left over; asked once, at the end."""
        kept, self._kept[:] = tuple(self._kept), []
        leftover = self.leftover_warning()
        return kept if leftover is None else (*kept, leftover)

    def _begin(self, request: ModelRequest) -> int:
        """Look at the prompt, and find the place: after the replies that a resumed history holds already."""
        for text in self._recording.warnings:
            self._warn(text)
        first = next((message for message in request.messages if isinstance(message, UserMessage)), None)
        recorded = self._recording.prompt
        live = None if first is None else user_text_of(first)
        if None not in (recorded, live) and self._rewrite(recorded or "").strip() != (live or "").strip():
            self._warn(
                f"{self._recording.path}: the prompt is not the recorded one:"
                f" recorded {_short(recorded or '')}, now {_short(live or '')}"
            )
        return sum(isinstance(message, AssistantMessage) for message in request.messages)

    def _compare_results(self, messages: tuple[Message, ...], index: int) -> None:
        """Warn of results of the last reply that came out otherwise than the recording's of the same call."""
        if index <= self._compared or index > len(self._recording.results):
            return
        self._compared = index
        recorded = self._recording.results[index - 1]
        for message in reversed(messages):
            if isinstance(message, AssistantMessage):
                return
            if isinstance(message, ToolResultMessage) and message.tool_call_id in recorded:
                found = _difference(recorded[message.tool_call_id], message)
                if found is not None:
                    call = f"{message.tool_name} call {message.tool_call_id!r}"
                    self._warn(f"{self._recording.path}: {call}: {found}")

    def _charged(self, reply: AssistantMessage) -> AssistantMessage:
        """The reply with usage and price; what was not recorded counts as nothing, and that is said once."""
        missing = [
            what for what, value in (("usage", reply.usage), ("price", reply.cost_usd)) if value is None
        ]
        if missing and not self._has_said_unpriced:
            self._has_said_unpriced = True
            self._warn(f"{self._recording.path}: no {' and no '.join(missing)} recorded: charged as 0")
        return replace(reply, usage=reply.usage or Usage(), cost_usd=reply.cost_usd or 0.0)


def _difference(recorded: ToolResultMessage, live: ToolResultMessage) -> str | None:
    """How two results of one call differ in what they came to; None when they do not."""
    codes = (exit_code(recorded), exit_code(live))
    if None not in codes and codes[0] != codes[1]:
        return f"recorded exit code {codes[0]}, now {codes[1]}"
    if recorded.is_error != live.is_error:
        return f"recorded {_outcome(recorded)}, now {_outcome(live)}"
    return None


def _outcome(result: ToolResultMessage) -> str:
    return f"an error ({_short(result.text)})" if result.is_error else "success"


def _deltas(reply: AssistantMessage) -> Iterator[Delta]:
    """The reply in small pieces, as a service would stream it."""
    for block in reply.content:
        match block:
            case TextBlock():
                yield from _pieces("text", block.text)
            case ThinkingBlock():
                yield from _pieces("thinking", block.thinking)
            case ToolCall():
                whole = block.raw_arguments or json.dumps(block.arguments or {}, ensure_ascii=False)
                yield from _pieces("tool_call", whole)


def _pieces(kind: Literal["text", "thinking", "tool_call"], text: str) -> Iterator[Delta]:
    for start in range(0, len(text), DELTA_CHARS):
        yield Delta(kind, text[start : start + DELTA_CHARS])


def _last_of(messages: tuple[Message, ...]) -> str:
    match messages[-1] if messages else None:
        case None:
            return "an empty history"
        case ToolResultMessage() as result:
            return f"a result of {result.tool_name}"
        case UserMessage() as message:
            return f"the user message {_short(user_text_of(message))}"
        case other:
            return f"a message of role {other.role}"


def _short(text: str) -> str:
    """The beginning of a text, quoted, on one line."""
    clipped = text if len(text) <= SHOWN_CHARS else text[: SHOWN_CHARS - 1] + "…"
    return repr(clipped)
