"""Makes room in a conversation: old results shortened, else everything but the newest summed up.

A summary is a request like any other: reserved before, settled after, tried again by the same rules. It is
no turn. What it replaces stays in the session; a `compaction` entry says where the history goes on.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from typing import Any

from pi_batch.budget import BudgetExhausted, Need
from pi_batch.engine.compaction import (
    MIN_SHRINK,
    CompactionReason,
    Room,
    cut_at,
    elided,
    fitted,
    reserve_tokens,
    won_tokens,
)
from pi_batch.engine.conversation import Conversation
from pi_batch.engine.model_port import ModelPort
from pi_batch.engine.retry import Requester
from pi_batch.engine.summarizer import Meter, Quoted, Summary, ask_for_summary
from pi_batch.engine.summary import Files, files_of, whole_summary, written_part
from pi_batch.errors import ErrorKind, ProviderError
from pi_batch.events import CompactionEnd, CompactionStart, Warned
from pi_batch.messages import AssistantMessage, Message, Usage, UserMessage
from pi_batch.protocols import RecordedSummary
from pi_batch.session.context import compaction_message
from pi_batch.session_log import SessionLog

TOO_LONG: tuple[ErrorKind, ...] = ("context_overflow", "request_too_large")
"""A request that is refused with one of these may be taken when it is shorter."""
MAX_FRUITLESS = 2
"""Compactions in a row that do not shrink the history: then the run ends."""
LEARNED_SHARE = 0.8
"""Of a request that was too long: what is taken for the limit from then on."""
UNKNOWN_WINDOW = (
    "its context window is not known here, so the history is summed up only once a request was too long;"
    " say it with PI_BATCH_CONTEXT_WINDOW, or context_window in the config file or the price file"
)


class Compactor:
    """One task's; lives over all its attempts."""

    def __init__(self, conversation: Conversation, requester: Requester, session: SessionLog) -> None:
        self._conversation = conversation
        self._requester = requester
        self._session = session
        self._emit = requester.emit
        self._learned_limit = sys.maxsize
        """Taken from a request that the service found too long."""
        self._fruitless = 0
        self._overflows = 0
        """Since the last reply."""
        self._files = Files()
        self._summary = ""
        """The newest, as it was recorded."""
        self._task = ""
        """The prompt, once a summary stands in its place."""

    def restore(self, task: str, summary: str, details: Mapping[str, Any]) -> None:
        """Go on after a recorded compaction: the conversation's first message is this summary.

        `task` is the session's first prompt; `summary` and `details` are those of the compaction entry.
        """
        self._task, self._summary, self._files = task, summary, files_of(details)

    def ask_of(self, requester: Requester) -> None:
        """Another model is asked from now on: what was learned of the one before does not hold."""
        self._requester = requester
        self._learned_limit = sys.maxsize
        self._fruitless = 0

    async def make_room(self) -> None:
        """Before a request: compact where it would come too near to the window.

        Raises: ProviderError, BudgetExhausted.
        """
        self._overflows = 0
        recorded = self._requester.port.recorded_summary()
        if recorded is not None:
            await self._replay(recorded)
            return
        room = self._room()
        before = self._conversation.input_tokens()
        if before <= room.limit_tokens or self._elide(room):
            return
        await self._compact(room, 0 if self._fruitless else room.keep_tokens, "threshold")

    async def recover(self, error: ProviderError) -> None:
        """After the service found a request too long: make it shorter.

        Raises: ProviderError, of the same kind, when that is not possible; BudgetExhausted.
        """
        self._overflows += 1
        before = self._conversation.input_tokens()
        port = self._requester.port
        if port.context_window is None and self._learned_limit == sys.maxsize:
            self._emit(Warned(f"{port.label}: {UNKNOWN_WINDOW}"))
        self._learned_limit = min(self._learned_limit, int(before * LEARNED_SHARE))
        room = self._room()
        keep = room.keep_tokens if self._overflows == 1 else 0
        if self._overflows > MAX_FRUITLESS or not await self._compact(room, keep, "overflow"):
            raise _too_long(port, before, error)

    def output_tokens(self, input_tokens: int) -> int:
        """The most output to ask for: what the model gives, within what the window leaves."""
        port = self._requester.port
        if port.context_window is None:
            return port.max_output_tokens
        left = port.context_window * 49 // 50 - input_tokens
        return max(1, min(port.max_output_tokens, max(left, port.context_window // 16)))

    def _room(self) -> Room:
        """How much fits; without end while nothing is known of the window."""
        port, limit = self._requester.port, self._learned_limit
        if port.context_window is not None:
            limit = min(limit, port.context_window - reserve_tokens(port.context_window, port.reserve))
        return Room(limit, self._conversation.lasting_tokens)

    def _elide(self, room: Room) -> bool:
        """Shorten old bulky results; False, and nothing is changed, where that wins too little."""
        messages = self._conversation.messages
        short = elided(messages, cut_at(messages, room.keep_tokens))
        won = won_tokens(messages, short)
        if won < max(1, room.elision_gain) or self._conversation.input_tokens() - won > room.limit_tokens:
            return False
        self._conversation.replace_results(short)
        return True

    async def _compact(self, room: Room, keep_tokens: int, reason: CompactionReason) -> bool:
        """Sum up, and shorten what is kept where it does not fit. False when neither changed anything.

        Raises: ProviderError when the history has not shrunk for the second time in a row.
        """
        conversation = self._conversation
        before = conversation.input_tokens()
        first = cut_at(conversation.messages, keep_tokens) or cut_at(conversation.messages, 0)
        if first:
            await self._sum_up(first, before, reason)
        over = conversation.input_tokens() - room.limit_tokens
        short = fitted(conversation.messages, over) if over > 0 else {}
        if short:
            conversation.replace_results(short)
        if not first and not short:
            return False
        after = conversation.input_tokens()
        self._fruitless = self._fruitless + 1 if after > before * (1 - MIN_SHRINK) else 0
        if self._fruitless >= MAX_FRUITLESS:
            raise _too_long(self._requester.port, after, None)
        return True

    async def _sum_up(self, first: int, before: int, reason: CompactionReason) -> None:
        """Let a new summary stand for everything before `first`. Raises: ProviderError, BudgetExhausted."""
        self._emit(CompactionStart(reason, before))
        meter = Meter(self._emit)
        end = CompactionEnd(before, before, error="interrupted")
        task, start = self._task_text(), 1 if self._summary else 0
        quoted = Quoted(
            tuple(self._conversation.messages[start:first]),
            written_part(task, self._summary),
            self._room().limit_tokens,
        )
        try:
            summary = await ask_for_summary(self._requester, self._session, quoted, meter)
            end = self._put(first, summary, before)
        except (ProviderError, BudgetExhausted) as error:
            end = CompactionEnd(before, before, error=str(error))
            raise
        finally:
            self._emit(meter.with_lost(end))

    def _put(self, first: int, summary: Summary, before: int) -> CompactionEnd:
        """Record a summary and begin the conversation with it."""
        conversation = self._conversation
        task = self._task_text()
        self._files = self._files.after(conversation.messages[self._start : first])
        text = whole_summary(task, summary.text, self._files)
        self._begin_with(text, first, before, self._files.details, summary)
        after = conversation.input_tokens()
        return CompactionEnd(before, after, summary.usage, summary.cost_usd, model=summary.model)

    def _begin_with(
        self, text: str, first: int, before: int, details: Mapping[str, Any], summary: Summary
    ) -> None:
        """On disk before it is used, as every message is."""
        self._task = self._task_text()
        entry_id = self._session.append_compaction(
            text,
            self._conversation.entry_id(first),
            before,
            details,
            usage=summary.usage,
            cost_usd=summary.cost_usd,
        )
        self._conversation.begin_with(compaction_message(text), entry_id, first)
        self._summary = text

    async def _replay(self, recorded: RecordedSummary) -> None:
        """Put a recording's summary where it was, at what it cost then. Raises: BudgetExhausted."""
        conversation = self._conversation
        first = len(conversation.messages) - recorded.kept_messages
        first = next((at for at in range(first, 0, -1) if _is_reply(conversation.messages[at])), 0)
        if not first:
            return
        before, usage = conversation.input_tokens(), recorded.usage or Usage()
        self._emit(CompactionStart("recorded", before))
        ledger = self._requester.ledger
        try:
            reservation = await ledger.reserve(Need(0, usage.total_tokens))
        except BudgetExhausted as error:
            self._emit(CompactionEnd(before, before, error=str(error)))
            raise
        cost_usd = recorded.cost_usd or 0.0
        ledger.settle_uncounted(reservation, usage, cost_usd)
        self._files = files_of(recorded.details)
        summary = Summary(recorded.text, "", usage, cost_usd)
        self._begin_with(recorded.text, first, before, recorded.details, summary)
        self._emit(CompactionEnd(before, conversation.input_tokens(), usage, cost_usd))

    @property
    def _start(self) -> int:
        """Where what is to be summed up begins: an earlier summary goes along by itself."""
        return 1 if self._summary else 0

    def _task_text(self) -> str:
        """The prompt: the first message, until a summary stands there."""
        if self._summary:
            return self._task
        first = self._conversation.messages[0]
        return first.text if isinstance(first, UserMessage) else ""


def _is_reply(message: Message) -> bool:
    return isinstance(message, AssistantMessage)


def _too_long(port: ModelPort, tokens: int, error: ProviderError | None) -> ProviderError:
    """Why the run ends: one line that says what to do."""
    window = f" of {port.context_window} tokens" if port.context_window is not None else ""
    said = f" ({error})" if error is not None else ""
    return ProviderError(
        f"{port.label}: the context, about {tokens} tokens, does not fit its window{window}, and summing"
        f" it up does not help{said}; take a model with a larger window, or a shorter prompt",
        kind=error.kind if error is not None else "context_overflow",
        status=error.status if error is not None else None,
    )
