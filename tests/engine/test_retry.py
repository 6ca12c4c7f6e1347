"""One place retries: what makes sense, as long as time and money allow, and nothing else."""

from __future__ import annotations

import asyncio
import random
import time
from collections.abc import AsyncIterator

import pytest

from pi_batch.budget import BudgetExhausted, Ledger, Need, Reservation
from pi_batch.engine.model_port import ModelPort
from pi_batch.engine.retry import Requester, RetryPolicy
from pi_batch.errors import ErrorKind, ProviderError
from pi_batch.events import Event, MessageEnd, MessageStart, MessageUpdate, RetryScheduled, Warned
from pi_batch.messages import AssistantMessage, TextBlock, Usage
from pi_batch.protocols import Delta, ModelRequest
from pi_batch.providers.fake import Scripted, Step, says
from pi_batch.redact import Masker
from pi_batch.results import BudgetAmounts
from pi_batch.wiring.surroundings import SystemClock

FAST = RetryPolicy(base_s=0.001)


def failure(
    kind: ErrorKind = "rate_limit",
    *,
    is_retryable: bool = True,
    retry_after_s: float | None = None,
    spent: Usage | None = None,
) -> ProviderError:
    return ProviderError(
        f"it was {kind}", kind=kind, is_retryable=is_retryable, retry_after_s=retry_after_s, spent=spent
    )


class BreaksOff(Scripted):
    """A service that ends in the middle of its first sentence."""

    async def stream(self, request: ModelRequest) -> AsyncIterator[Delta | AssistantMessage]:
        self.requests.append(request)
        yield Delta("text", "x" * 350)
        raise ProviderError("it broke", kind="stream_interrupted")


class Trial:
    """One request against a script."""

    def __init__(
        self,
        *steps: Step,
        policy: RetryPolicy = FAST,
        limit: BudgetAmounts | None = None,
        secrets: tuple[str, ...] = (),
        retries_empty: bool = True,
        timeout_s: float = 60.0,
        provider: Scripted | None = None,
        is_watched: bool = True,
    ) -> None:
        self.timeout_s = timeout_s
        self.events: list[Event] = []
        self.waits: list[float] = []
        self.reservations: list[Reservation] = []
        self.provider = provider or Scripted(steps)
        self.ledger = Ledger(limit or BudgetAmounts(), SystemClock())
        self.ledger.start_time()
        port = ModelPort(
            self.provider,
            "fake",
            "m",
            cost_usd=lambda _model, usage: usage.total_tokens / 1000,
            retries_empty=retries_empty,
        )
        self.requester = Requester(
            port=port,
            ledger=self.ledger,
            emit=self.events.append,
            clock=SystemClock(),
            mask=Masker(secrets),
            random=random.Random(7),
            policy=policy,
            on_wait=self.waits.append,
            is_watched=is_watched,
        )

    async def ask(self) -> AssistantMessage:
        def request(reservation: Reservation) -> ModelRequest:
            return ModelRequest("m", "", (), (), reservation.output_tokens, None, self.timeout_s)

        return await self.requester.complete(request, Need(10, 2_000), self.reservations.append)

    def scheduled(self) -> list[RetryScheduled]:
        return [event for event in self.events if isinstance(event, RetryScheduled)]


async def test_a_reply_is_settled_at_what_it_cost() -> None:
    trial = Trial(says("hi", cost_usd=0.25))
    assert (await trial.ask()).cost_usd == 0.25
    assert (trial.ledger.turns, trial.ledger.cost_usd) == (1, 0.25)


async def test_a_reply_that_names_no_cost_is_priced_by_the_table() -> None:
    trial = Trial(says("hi", cost_usd=None))
    reply = await trial.ask()
    assert reply.cost_usd == pytest.approx(0.02)


async def test_a_reply_without_usage_is_charged_an_estimate_and_that_is_said() -> None:
    trial = Trial(AssistantMessage((TextBlock("x" * 350),), "stop"))
    reply = await trial.ask()
    assert reply.usage is not None
    assert reply.usage.output_tokens >= 100
    assert any(isinstance(event, Warned) for event in trial.events)


async def test_a_passing_fault_is_tried_again() -> None:
    trial = Trial(failure(), failure("overloaded"), says("hi"))
    assert (await trial.ask()).text == "hi"
    assert [retry.error_kind for retry in trial.scheduled()] == ["rate_limit", "overloaded"]
    assert len(trial.reservations) == 3
    assert trial.ledger.turns == 1


@pytest.mark.parametrize("kind", ["auth", "quota", "invalid_request", "model_not_found"])
async def test_a_lasting_fault_is_not_tried_again(kind: ErrorKind) -> None:
    trial = Trial(failure(kind, is_retryable=False), says("hi"))
    with pytest.raises(ProviderError, match=kind):
        await trial.ask()
    assert len(trial.provider.requests) == 1
    assert trial.ledger.turns == 0


async def test_tries_come_to_an_end() -> None:
    trial = Trial(*[failure()] * 10, policy=RetryPolicy(max_retries=3, base_s=0.001))
    with pytest.raises(ProviderError):
        await trial.ask()
    assert len(trial.provider.requests) == 4


async def test_answers_without_sense_are_tried_again_twice_at_most() -> None:
    trial = Trial(*[failure("bad_response")] * 10)
    with pytest.raises(ProviderError):
        await trial.ask()
    assert len(trial.provider.requests) == 3


async def test_an_empty_reply_is_asked_for_again_and_its_tokens_count() -> None:
    trial = Trial(says(""), says("hi"))
    assert (await trial.ask()).text == "hi"
    assert trial.ledger.used.tokens == 40


async def test_the_last_empty_reply_is_taken_as_it_is() -> None:
    trial = Trial(says(""), says(""), says(""), says("never"))
    assert (await trial.ask()).text == ""
    assert len(trial.provider.requests) == 3


async def test_a_recordings_empty_reply_is_what_was_recorded() -> None:
    trial = Trial(says(""), retries_empty=False)
    assert (await trial.ask()).text == ""


async def test_the_servers_word_on_waiting_is_kept_and_never_undercut() -> None:
    trial = Trial(failure(retry_after_s=0.05), says("hi"))
    started = time.monotonic()
    await trial.ask()
    assert time.monotonic() - started >= 0.05
    assert 0.05 <= trial.scheduled()[0].wait_s <= 0.056


async def test_waits_grow_and_shrink_by_a_quarter_at_most() -> None:
    trial = Trial(*[failure()] * 3, says("hi"), policy=RetryPolicy(base_s=0.01))
    await trial.ask()
    for wait, full in zip([retry.wait_s for retry in trial.scheduled()], (0.01, 0.02, 0.04), strict=True):
        assert 0.75 * full - 0.001 <= wait <= full + 0.001


async def test_a_wait_beyond_the_cap_fails_now_and_says_so() -> None:
    trial = Trial(failure(retry_after_s=3600.0), says("hi"))
    with pytest.raises(ProviderError, match="beyond the retry cap"):
        await asyncio.wait_for(trial.ask(), 1)


async def test_a_wait_beyond_the_time_left_fails_now_and_says_so() -> None:
    trial = Trial(failure(retry_after_s=30.0), says("hi"), limit=BudgetAmounts(wall_s=5))
    with pytest.raises(ProviderError, match="beyond the time left"):
        await asyncio.wait_for(trial.ask(), 1)


async def test_a_request_that_the_wall_time_ended_is_a_limit_and_no_fault_of_the_service() -> None:
    def slow(request: ModelRequest) -> AssistantMessage:
        time.sleep(request.timeout_s)
        raise failure("timeout")

    trial = Trial(slow, says("never"), limit=BudgetAmounts(wall_s=0.1), timeout_s=0.08)
    with pytest.raises(BudgetExhausted) as caught:
        await trial.ask()
    assert caught.value.stop == "max_wall_time"


async def test_what_a_failed_request_cost_is_in_the_ledger_and_in_the_stream() -> None:
    trial = Trial(failure("stream_interrupted", spent=Usage(1_000)), says("hi", cost_usd=0.5))
    await trial.ask()
    assert trial.ledger.cost_usd == pytest.approx(1.5)
    lost = next(event for event in trial.events if isinstance(event, MessageEnd))
    assert (lost.entry_id, lost.stop_reason, lost.usage, lost.cost_usd) == ("", "error", Usage(1_000), 1.0)


async def test_a_reply_that_breaks_off_costs_what_was_heard_of_it() -> None:
    trial = Trial(provider=BreaksOff([]))
    with pytest.raises(ProviderError, match="broke"):
        await trial.ask()
    assert trial.ledger.used.tokens is not None
    assert trial.ledger.used.tokens >= 10 + 100
    assert trial.ledger.turns == 0


async def test_retries_are_in_the_budget() -> None:
    trial = Trial(*[failure(spent=Usage(400))] * 9, limit=BudgetAmounts(tokens=2_100))
    with pytest.raises(BudgetExhausted):
        await trial.ask()
    assert len(trial.provider.requests) < 5


async def test_every_start_of_a_message_has_its_end_but_the_good_one() -> None:
    trial = Trial(failure(), failure(), says("hi"))
    await trial.ask()
    starts = sum(isinstance(event, MessageStart) for event in trial.events)
    assert starts == sum(isinstance(event, MessageEnd) for event in trial.events) + 1


async def test_a_wait_ends_at_once_when_cancelled() -> None:
    trial = Trial(failure(retry_after_s=50.0), says("hi"))
    task = asyncio.create_task(trial.ask())
    await asyncio.sleep(0.01)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await asyncio.wait_for(task, 1)


async def test_a_cancelled_request_gives_its_room_back() -> None:
    async def hang() -> None:
        await trial.ask()

    def block(_request: ModelRequest) -> AssistantMessage:
        raise asyncio.CancelledError

    trial = Trial(block, limit=BudgetAmounts(turns=1))
    with pytest.raises(asyncio.CancelledError):
        await hang()
    assert trial.ledger.turns_left() == 1
    end = trial.events[-1]
    assert isinstance(end, MessageEnd)
    assert end.stop_reason == "aborted"


async def test_deltas_are_live_and_hide_secrets_across_their_borders() -> None:
    trial = Trial(says("the key is hunter2-hunter2 indeed"), secrets=("hunter2-hunter2",))
    await trial.ask()
    shown = "".join(event.delta for event in trial.events if isinstance(event, MessageUpdate))
    assert "the key is" in shown
    assert "hunter2" not in shown


async def test_where_nobody_watches_no_event_is_made_of_pieces() -> None:
    trial = Trial(says("hello"), is_watched=False)
    assert (await trial.ask()).text == "hello"
    assert not [event for event in trial.events if isinstance(event, MessageUpdate)]
    broken = Trial(provider=BreaksOff(()), is_watched=False)
    with pytest.raises(ProviderError):
        await broken.ask()
    assert (broken.ledger.used.tokens or 0) > 100, "what was heard is charged all the same"


async def test_waiting_is_counted_apart_from_working() -> None:
    trial = Trial(failure(retry_after_s=0.02), says("hi"))
    await trial.ask()
    assert sum(trial.waits) >= 0.02
