"""The one place that makes a failed request again.

Providers raise; this decides, waits and reserves anew. The wait is the server's own word plus some
jitter, else an exponential one; never longer than the cap or than the time left. Every try is reserved
and settled by itself, so retries are in the budget like everything else.
"""

from __future__ import annotations

import asyncio
import random
from collections.abc import Callable, Sequence

from msgspec import Struct
from msgspec.structs import replace

from pi_batch.budget import Ledger, Need, Reservation
from pi_batch.consequences import after_error
from pi_batch.engine.estimate import estimate_reply_tokens, text_tokens
from pi_batch.engine.masking import LiveMask, Mask
from pi_batch.engine.model_port import ModelPort
from pi_batch.engine.tool_calls import Emit
from pi_batch.errors import ProviderError
from pi_batch.events import MessageEnd, MessageStart, MessageUpdate, RetryScheduled, Warned
from pi_batch.messages import AssistantMessage, StopReason, Usage
from pi_batch.protocols import Clock, Delta, ModelRequest

SHAKY_KINDS = ("bad_response", "stream_interrupted")
"""Answers without sense or end: tried again at most twice."""


TIME_UP_S = 0.05
"""Timers of a request that ends with the wall time may go off this much early."""


class RetryPolicy(Struct, frozen=True):
    """How often and how long."""

    max_retries: int = 4
    """After the first try of each request."""
    cap_s: float = 60.0
    """A longer wait is not made: the request fails now."""
    base_s: float = 1.0
    max_shaky: int = 2


class Requester(Struct, frozen=True):
    """Makes one request to completion, within the ledger."""

    port: ModelPort
    ledger: Ledger
    emit: Emit
    clock: Clock
    mask: Mask
    random: random.Random
    """Seeded: jitter."""
    policy: RetryPolicy = RetryPolicy()
    on_wait: Callable[[float], None] = lambda _seconds: None
    """Told how long each wait was: working time leaves it out."""
    counts_turn: bool = True
    """False for a request that is no turn of the agent: a summary."""
    is_watched: bool = True
    """False where nobody takes the pieces of a reply: no event is made of them then."""

    async def complete(
        self,
        make_request: Callable[[Reservation], ModelRequest],
        need: Need,
        on_reserved: Callable[[Reservation], None],
    ) -> AssistantMessage:
        """Reserve, request, settle; again where that makes sense.

        Raises: ProviderError when it failed for good; BudgetExhausted when no room is left.
        """
        tries = shaky = 0
        while True:
            waited_from_s = self.clock.monotonic()
            reservation = await self.ledger.reserve(need)
            tries += 1
            heard: list[str] = []
            is_begun = False
            try:
                async with self.port.limiter.slot():
                    self.on_wait(self.clock.monotonic() - waited_from_s)
                    on_reserved(reservation)
                    is_begun = True
                    self.emit(MessageStart("assistant", self.port.label))
                    reply = await self._one_try(make_request(reservation), heard)
                self._refuse_empty(reply, tries, shaky)
                _refuse_no_room(reply)
            except ProviderError as error:
                self._settle_lost(reservation, "error", _spent(error, reservation, heard))
                self.ledger.check_time(TIME_UP_S)  # a request that our own limit ended is no service's fault
                shaky += error.kind in SHAKY_KINDS
                await self._wait(error, tries, shaky)
                continue
            except BaseException:
                if is_begun:
                    self._settle_lost(reservation, "aborted", _heard_usage(reservation, heard))
                else:
                    self.ledger.release(reservation)
                raise
            return self._settle(reservation, reply)

    async def _one_try(self, request: ModelRequest, heard: list[str]) -> AssistantMessage:
        """Stream one reply; `heard` takes its pieces as they come. Raises: ProviderError."""
        reply: AssistantMessage | None = None
        live = LiveMask(self.mask) if self.is_watched else None
        async for piece in self.port.provider.stream(request):
            if isinstance(piece, Delta):
                heard.append(piece.text)
                if live is not None and (text := live.feed(piece.kind, piece.text)):
                    self.emit(MessageUpdate(piece.kind, text))
            else:
                reply = piece
        if reply is None:
            raise ProviderError(
                "the reply ended without an end", kind="stream_interrupted", is_retryable=True
            )
        return reply

    def _refuse_empty(self, reply: AssistantMessage, tries: int, shaky: int) -> None:
        """Raises: ProviderError for an empty reply while tries are left; the last is taken as it is."""
        is_empty = reply.stop_reason == "stop" and not reply.tool_calls and not reply.text.strip()
        may_retry = tries <= self.policy.max_retries and shaky < self.policy.max_shaky
        if is_empty and may_retry and self.port.retries_empty:
            raise ProviderError(
                "the model gave an empty reply",
                kind="bad_response",
                is_retryable=True,
                spent=reply.usage or Usage(),
            )

    def _settle(self, reservation: Reservation, reply: AssistantMessage) -> AssistantMessage:
        """Charge a reply; one without usage is charged an estimate."""
        usage = reply.usage
        if usage is None:
            self.emit(Warned(f"{self.port.label} reported no usage: tokens are estimated"))
            usage = Usage(reservation.input_tokens, estimate_reply_tokens(reply))
        cost_usd = reply.cost_usd
        if cost_usd is None:
            cost_usd = self.port.cost_usd(reply.model or self.port.model, usage)
        settle = self.ledger.settle if self.counts_turn else self.ledger.settle_uncounted
        settle(reservation, usage, cost_usd)
        return _with_charge(reply, usage, cost_usd)

    def _settle_lost(self, reservation: Reservation, stop_reason: StopReason, spent: Usage) -> None:
        """Charge for a message that never became one; it ends in the stream, and no entry names it."""
        cost_usd: float | None = 0.0
        if spent.total_tokens:
            cost_usd = self.port.cost_usd(self.port.model, spent)
            self.ledger.settle_uncounted(reservation, spent, cost_usd)
        else:
            self.ledger.release(reservation)
        self.emit(MessageEnd("", "assistant", self.port.label, stop_reason, spent, cost_usd))

    async def _wait(self, error: ProviderError, tries: int, shaky: int) -> None:
        """Sleep before the next try. Raises: the error itself when there is none."""
        may_retry = error.is_retryable and after_error(error.kind).is_retried
        if not may_retry or tries > self.policy.max_retries or shaky > self.policy.max_shaky:
            raise error
        wait_s = self._wait_s(error, tries)
        left_s = self.ledger.seconds_left
        if wait_s > self.policy.cap_s or wait_s >= left_s:
            limit = "the retry cap" if wait_s > self.policy.cap_s else "the time left"
            raise ProviderError(
                f"{error}; the next try would be in {wait_s:.0f} s, beyond {limit}",
                kind=error.kind,
                status=error.status,
            ) from error
        self.emit(RetryScheduled(tries, round(wait_s, 3), error.kind, str(error)))
        await asyncio.sleep(wait_s)
        self.on_wait(wait_s)

    def _wait_s(self, error: ProviderError, tries: int) -> float:
        """The server's word plus up to a tenth; else 1, 2, 4 … 30 s less up to a quarter."""
        if error.retry_after_s is not None:
            return error.retry_after_s * (1 + 0.1 * self.random.random())
        backoff_s = min(30.0, self.policy.base_s * 2.0 ** (tries - 1))
        return backoff_s * (1 - 0.25 * self.random.random())


def _refuse_no_room(reply: AssistantMessage) -> None:
    """Raises: ProviderError for a reply that the end of the window cut before its first word."""
    usage = reply.usage
    if reply.stop_reason == "length" and not reply.content and usage is not None and not usage.output_tokens:
        raise ProviderError("the request left no room for a reply", kind="context_overflow", spent=usage)


def _spent(error: ProviderError, reservation: Reservation, heard: Sequence[str]) -> Usage:
    """What a failed request cost: the service's own count, else an estimate if it had begun to answer."""
    return error.spent if isinstance(error.spent, Usage) else _heard_usage(reservation, heard)


def _heard_usage(reservation: Reservation, heard: Sequence[str]) -> Usage:
    """An estimate for a reply of which only some pieces came; nothing where none did."""
    return Usage(reservation.input_tokens, text_tokens("".join(heard))) if heard else Usage()


def _with_charge(reply: AssistantMessage, usage: Usage, cost_usd: float | None) -> AssistantMessage:
    """The reply with what was charged for it."""
    if reply.usage is usage and reply.cost_usd == cost_usd:
        return reply
    return replace(reply, usage=usage, cost_usd=cost_usd)
