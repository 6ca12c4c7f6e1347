"""Asks a model to sum a conversation up: the one set for it, else the task's own.

A request like any other, reserved before and settled after, tried again by the same rules; but no turn.
"""

from __future__ import annotations

import sys

from msgspec import Struct
from msgspec.structs import replace

from pi_batch.budget import Need, Reservation
from pi_batch.engine.compaction import reserve_tokens
from pi_batch.engine.estimate import CHARS_PER_TOKEN, message_tokens, text_tokens
from pi_batch.engine.masking import mask_reply
from pi_batch.engine.model_port import ModelPort
from pi_batch.engine.retry import Requester
from pi_batch.engine.summary import SYSTEM, request_text
from pi_batch.engine.tool_calls import Emit
from pi_batch.errors import ProviderError
from pi_batch.events import CompactionEnd, Event, MessageEnd, MessageStart, MessageUpdate, Warned
from pi_batch.messages import AssistantMessage, Message, Usage, user_text
from pi_batch.protocols import ModelRequest
from pi_batch.session_log import SessionLog

SUMMARY_TOKENS = 13_000
"""The most output of a summary, what a model thinks before it included; less where little is kept free."""
MAX_WORDS = 1_500
"""The longest summary that is asked for."""
WORDS_PER_TOKEN = 0.5
LESS_THOUGHT = {"medium": "low", "high": "low", "xhigh": "low", "max": "low"}
"""A task's thinking level for its summaries: the output is small, and must not be thought alone."""
QUESTION_TOKENS = 700
"""What is asked beside the conversation."""
MIN_CHARS = 1_000
"""Of the conversation, however small the window."""
CAUTION = 0.9
"""Of what fits: an estimate may be too low."""
SECOND_TRY = 0.4
"""Of what was taken to fit, after the service found it too long."""


class Summary(Struct, frozen=True):
    """What a summary came to."""

    text: str
    model: str
    usage: Usage | None
    cost_usd: float | None


class Quoted(Struct, frozen=True):
    """What is to be summed up."""

    messages: tuple[Message, ...]
    earlier: str
    """The summary before it; empty without one."""
    limit_tokens: int
    """The most that the task's own model takes in."""


class Meter:
    """Lets through what is said of a summary's tries, but for the message: that is `compaction_end`."""

    def __init__(self, emit: Emit) -> None:
        self._emit = emit
        self._usage = Usage()
        self._cost_usd: float | None = 0.0

    def emit(self, event: Event) -> None:
        """Pass an event on; add up what failed tries cost."""
        match event:
            case MessageStart() | MessageUpdate():
                return
            case MessageEnd():
                self._usage += event.usage or Usage()
                known = self._cost_usd is not None and event.cost_usd is not None
                self._cost_usd = (self._cost_usd or 0.0) + (event.cost_usd or 0.0) if known else None
            case _:
                self._emit(event)

    def total(self, usage: Usage | None, cost_usd: float | None) -> tuple[Usage | None, float | None]:
        """What the answer took, if any came, with the failed tries."""
        if not self._usage.total_tokens:
            return usage, cost_usd
        is_known = self._cost_usd is not None and (cost_usd is not None or usage is None)
        total_usd = (self._cost_usd or 0.0) + (cost_usd or 0.0) if is_known else None
        return self._usage + (usage or Usage()), total_usd

    def with_lost(self, end: CompactionEnd) -> CompactionEnd:
        """The end with the failed tries in its sums."""
        if not self._usage.total_tokens:
            return end
        is_known = self._cost_usd is not None and (end.cost_usd is not None or end.error is not None)
        cost_usd = (self._cost_usd or 0.0) + (end.cost_usd or 0.0) if is_known else None
        return replace(end, usage=self._usage + (end.usage or Usage()), cost_usd=cost_usd)


async def ask_for_summary(requester: Requester, session: SessionLog, quoted: Quoted, meter: Meter) -> Summary:
    """A model's summary. Raises: ProviderError, BudgetExhausted."""
    port = requester.port
    if port.summarizer is not None:
        try:
            return await _ask(port.summarizer, requester, session, quoted, meter)
        except ProviderError as error:
            text = f"the summary by {port.summarizer.label} failed, {port.label} makes it: {error}"
            requester.emit(Warned(text))
    port = replace(port, thinking=LESS_THOUGHT.get(port.thinking or "", port.thinking))
    return await _ask(port, requester, session, quoted, meter)


async def _ask(
    port: ModelPort, requester: Requester, session: SessionLog, quoted: Quoted, meter: Meter
) -> Summary:
    """Ask one model; once more with less of the conversation where that was too long for it."""
    limit = quoted.limit_tokens if port.label == requester.port.label else sys.maxsize
    window = port.context_window or limit
    output = min(
        port.max_output_tokens, SUMMARY_TOKENS, max(1, reserve_tokens(window, port.reserve) * 4 // 5)
    )
    space = min(window, limit) - output - QUESTION_TOKENS - text_tokens(quoted.earlier)
    words = min(MAX_WORDS, int(output * WORDS_PER_TOKEN))
    said = sum(map(message_tokens, quoted.messages))
    asking = replace(requester, port=port, emit=meter.emit, counts_turn=False)
    share = CAUTION
    while True:
        chars = max(MIN_CHARS, int(min(space, said) * CHARS_PER_TOKEN * share))
        text = request_text(quoted.messages, quoted.earlier, chars, words)
        try:
            reply = mask_reply(await _reply(asking, session, text, output), requester.mask)
        except ProviderError as error:
            if error.kind != "context_overflow" or share == SECOND_TRY:
                raise
            share = SECOND_TRY
            continue
        model = f"{reply.provider or port.provider_name}/{reply.model or port.model}"
        return Summary(reply.text, model, reply.usage, reply.cost_usd)


async def _reply(asking: Requester, session: SessionLog, text: str, output_tokens: int) -> AssistantMessage:
    """One request for a summary. Raises: ProviderError, BudgetExhausted."""
    port = asking.port

    def request(reservation: Reservation) -> ModelRequest:
        return ModelRequest(
            model=port.model,
            system=SYSTEM,
            messages=(user_text(text),),
            tools=(),
            max_output_tokens=reservation.output_tokens,
            thinking=port.thinking,
            timeout_s=asking.ledger.seconds_left,
        )

    def record_start(reservation: Reservation) -> None:
        """A summary that was asked for and is not recorded counts as spent when the run is resumed."""
        session.append_custom(
            "pi-batch",
            {
                "kind": "request_start",
                "purpose": "compaction",
                "input_tokens": reservation.input_tokens,
                "output_tokens": reservation.output_tokens,
                "cost_usd": reservation.cost_usd,
            },
        )

    need = Need(text_tokens(SYSTEM) + text_tokens(text), output_tokens, port.price_usd)
    return await asking.complete(request, need, record_start)
