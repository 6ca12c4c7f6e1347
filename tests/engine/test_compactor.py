"""Making room: when, with which model, at what cost, and when it is given up."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Sequence
from typing import Any

import pytest
from msgspec.structs import replace

from pi_batch.engine.agent import Agent
from pi_batch.engine.agent_outcome import AgentOutcome
from pi_batch.engine.model_port import ModelPort
from pi_batch.engine.retry import Requester, RetryPolicy
from pi_batch.engine.summary import SYSTEM, Files, whole_summary
from pi_batch.errors import ProviderError
from pi_batch.events import (
    CompactionEnd,
    CompactionStart,
    Event,
    MessageEnd,
    MessageStart,
    RetryScheduled,
    Warned,
)
from pi_batch.messages import (
    AssistantMessage,
    ToolCall,
    ToolDeclaration,
    ToolResultMessage,
    Usage,
    UserMessage,
)
from pi_batch.protocols import ModelRequest, RecordedSummary
from pi_batch.providers.fake import Scripted, Step, says
from pi_batch.redact import Masker
from pi_batch.results import BudgetAmounts
from pi_batch.session.context import compaction_message
from tests.clocks import FakeClock
from tests.engine.fakes import FakeTool, MemorySession, make_door
from tests.engine.histories import are_paired

WINDOW = 8_000
OVERFLOW = ProviderError(
    "prompt is too long: 9000 tokens > 8000 maximum", kind="context_overflow", status=400
)
SECRET = "sk-very-secret-value"


class Model:
    """Calls `echo` until it has done its turns; sums up when asked without tools."""

    def __init__(
        self, turns: int, chars: int = 1_750, *, summary: Sequence[Step] = (), fits: int = 10**9
    ) -> None:
        self.turns, self.chars, self.fits = turns, chars, fits
        self.summaries = list(summary)
        self.done = self.asked = 0

    def __call__(self, request: ModelRequest) -> AssistantMessage:
        if not request.tools:
            self.asked += 1
            step = self.summaries.pop(0) if self.summaries else says("## Goal\nCount.", output_tokens=200)
            if isinstance(step, ProviderError):
                raise step
            return step if isinstance(step, AssistantMessage) else step(request)
        assert are_paired(request.messages)
        size = sum(len(str(message.content)) for message in request.messages) // 4
        if size > self.fits:
            raise OVERFLOW
        self.done += 1
        usage = Usage(size + 300, 30)
        if self.done > self.turns:
            return replace(says("done"), usage=usage)
        call = ToolCall(f"c{self.done}", "echo", {"text": (f"{self.done} row " * self.chars)[: self.chars]})
        return AssistantMessage((call,), "tool_use", "fake", "m", usage=usage, cost_usd=0.01)


class Talk:
    """An agent with a small window and everything it left behind."""

    def __init__(
        self,
        model: Model,
        *,
        window: int | None = WINDOW,
        limit: BudgetAmounts | None = None,
        summarizer: Scripted | None = None,
        secrets: Sequence[str] = (),
        **port: Any,
    ) -> None:
        clock = FakeClock()
        self.model = model
        self.provider = Scripted([model], is_endless=True)
        self.session = MemorySession()
        echo = FakeTool("echo", lambda arguments, _context: arguments.text)
        fixture = make_door(echo, limit=limit, secrets=secrets, clock=clock)
        self.events: list[Event] = fixture.events
        self.ledger = fixture.door.ledger
        other = None
        if summarizer is not None:
            cost = lambda _model, usage: 0.001 * usage.output_tokens  # noqa: E731 -- a price
            other = ModelPort(summarizer, "cheap", "s", max_output_tokens=500, cost_usd=cost)
        requester = Requester(
            port=ModelPort(
                self.provider,
                "fake",
                "m",
                max_output_tokens=2_000,
                context_window=window,
                summarizer=other,
                **port,
            ),
            ledger=self.ledger,
            emit=self.events.append,
            clock=clock,
            mask=Masker(secrets),
            random=random.Random(0),
            policy=RetryPolicy(base_s=0.001),
        )
        self.agent = Agent(
            door=fixture.door,
            requester=requester,
            session=self.session,
            system="Be brief.",
            declarations=(ToolDeclaration("echo", "Echo.", {"type": "object", "properties": {}}),),
        )
        self.agent.open()

    async def run(self, prompt: str = "Count the rows.") -> AgentOutcome:
        return await asyncio.wait_for(self.agent.run(prompt, 1), 20)

    def of(self, kind: type[Any]) -> list[Any]:
        return [event for event in self.events if isinstance(event, kind)]

    def agents(self) -> list[ModelRequest]:
        """The requests that are no summaries."""
        return [request for request in self.provider.requests if request.tools]


async def test_a_long_history_is_summed_up_before_it_reaches_the_window() -> None:
    talk = Talk(Model(20))
    assert (await talk.run()).stop == "completed"
    ends = talk.of(CompactionEnd)
    assert len(ends) == len(talk.of(CompactionStart)) == len(talk.session.compactions) >= 2
    assert all(end.tokens_after < 0.75 * end.tokens_before for end in ends)
    assert all(end.tokens_before > 6_000 for end in ends)
    assert {start.reason for start in talk.of(CompactionStart)} == {"threshold"}


async def test_after_a_summary_the_history_begins_with_task_and_summary() -> None:
    talk = Talk(Model(12))
    await talk.run()
    last = talk.agents()[-1].messages
    assert isinstance(last[0], UserMessage)
    for part in ("Count the rows.", "## Goal\nCount.", "<summary>"):
        assert part in last[0].text
    assert isinstance(last[1], AssistantMessage)
    assert talk.agents()[-1].system == "Be brief."


async def test_the_entry_names_the_first_kept_message_and_the_files() -> None:
    talk = Talk(Model(12))
    await talk.run()
    text, first_kept, usage = talk.session.compactions[0]
    order = talk.session.order
    kept = int(first_kept, 16) - 1
    assert order[kept] == "assistant"
    assert kept < order.index("compaction")
    assert "Count the rows." in text
    assert usage == Usage(10, 200)


async def test_the_next_summary_takes_the_one_before_along() -> None:
    talk = Talk(Model(30))
    await talk.run()
    asked = [request for request in talk.provider.requests if not request.tools]
    assert "## Goal\nCount." not in asked[0].messages[0].text  # type: ignore[union-attr]
    for request in asked[1:]:
        assert "<earlier-summary-" in request.messages[0].text  # type: ignore[union-attr]
        assert request.messages[0].text.count("Count the rows.") == 0  # type: ignore[union-attr]
    assert all((request.system, request.tools, request.session_id) == (SYSTEM, (), "") for request in asked)
    assert all(request.max_output_tokens == 1_600 for request in asked)


async def test_a_summary_is_paid_for_and_is_no_turn() -> None:
    talk = Talk(Model(9), limit=BudgetAmounts(turns=10))
    assert (await talk.run()).stop == "completed"
    (end,) = talk.of(CompactionEnd)
    assert talk.ledger.turns == 10
    spent = sum((e.usage.total_tokens for e in talk.of(MessageEnd) if e.usage), end.usage.total_tokens)
    assert talk.ledger.used.tokens == spent
    assert talk.session.order.count("request_start") == 11
    assert len(talk.of(MessageStart)) == len(talk.of(MessageEnd))


async def test_a_cheaper_model_sums_up_where_one_is_set() -> None:
    cheap = Scripted([replace(says("cheap words", output_tokens=100), cost_usd=None)], is_endless=True)
    talk = Talk(Model(9), summarizer=cheap)
    await talk.run()
    assert talk.model.asked == 0
    (request,) = cheap.requests
    assert (request.model, request.max_output_tokens) == ("s", 500)
    (end,) = talk.of(CompactionEnd)
    assert (end.model, end.cost_usd) == ("fake/scripted", pytest.approx(0.1))
    assert talk.ledger.cost_usd == pytest.approx(0.1 + 0.09)


async def test_the_tasks_own_model_sums_up_where_the_cheaper_one_fails() -> None:
    cheap = Scripted([ProviderError("no such model", kind="model_not_found")], is_endless=True)
    talk = Talk(Model(9), summarizer=cheap)
    assert (await talk.run()).stop == "completed"
    assert talk.model.asked == 1
    assert any("cheap/s failed" in warned.message for warned in talk.of(Warned))


async def test_a_failed_try_of_a_summary_is_tried_again_and_charged() -> None:
    flaky = ProviderError("busy", kind="overloaded", is_retryable=True, spent=Usage(700, 0))
    talk = Talk(Model(9, summary=[flaky]))
    assert (await talk.run()).stop == "completed"
    (end,) = talk.of(CompactionEnd)
    assert end.usage == Usage(710, 200)
    assert len(talk.of(RetryScheduled)) == 1
    assert len(talk.of(MessageStart)) == len(talk.of(MessageEnd))


async def test_a_summary_that_fails_for_good_ends_the_run_with_its_reason() -> None:
    talk = Talk(Model(20, summary=[ProviderError("no credit", kind="quota")]))
    outcome = await talk.run()
    assert outcome.error is not None
    assert (outcome.stop, outcome.error.kind, outcome.is_service_fault) == ("model_error", "quota", True)
    assert [end.error for end in talk.of(CompactionEnd)] == ["no credit"]


async def test_a_model_that_sums_nothing_up_does_not_stop_the_work() -> None:
    filtered = AssistantMessage((), "content_filter", usage=Usage(5, 5), cost_usd=0.0)
    talk = Talk(Model(9, summary=[filtered]))
    assert (await talk.run()).stop == "completed"
    assert "No summary could be written" in talk.session.compactions[0][0]


async def test_a_summary_that_is_too_long_itself_is_asked_for_with_less() -> None:
    talk = Talk(Model(9, summary=[OVERFLOW]))
    assert (await talk.run()).stop == "completed"
    first, second = (request for request in talk.provider.requests if not request.tools)
    assert len(str(second.messages)) < 0.6 * len(str(first.messages))


async def test_a_summary_is_thought_about_less_than_the_task() -> None:
    talk = Talk(Model(9), thinking="high")
    await talk.run()
    assert {request.thinking for request in talk.agents()} == {"high"}
    assert {request.thinking for request in talk.provider.requests if not request.tools} == {"low"}


async def test_secrets_in_a_summary_are_masked() -> None:
    talk = Talk(Model(9, summary=[says(f"The key is {SECRET}.")]), secrets=[SECRET])
    await talk.run()
    assert SECRET not in talk.session.compactions[0][0]
    assert SECRET not in str(talk.agents()[-1].messages)


async def test_a_budget_without_room_for_a_summary_ends_the_run_as_that_limit() -> None:
    talk = Talk(Model(20), limit=BudgetAmounts(tokens=26_000))
    outcome = await talk.run()
    assert outcome.stop == "max_tokens"
    assert (talk.ledger.used.tokens or 0) <= 26_000


async def test_a_run_that_is_cancelled_while_it_sums_up_ends_what_it_began() -> None:
    def hang(_request: ModelRequest) -> AssistantMessage:
        raise asyncio.CancelledError

    talk = Talk(Model(20, summary=[hang]))
    with pytest.raises(asyncio.CancelledError):
        await talk.run()
    assert [end.error for end in talk.of(CompactionEnd)] == ["interrupted"]
    assert not talk.session.compactions


async def test_an_unknown_window_waits_for_the_services_refusal() -> None:
    talk = Talk(Model(12, fits=6_000), window=None)
    assert (await talk.run()).stop == "completed"
    assert talk.of(CompactionStart)[0].reason == "overflow"
    assert sum("PI_BATCH_CONTEXT_WINDOW" in warned.message for warned in talk.of(Warned)) == 1


async def test_a_refusal_in_a_known_window_is_compacted_and_asked_again() -> None:
    talk = Talk(Model(8, fits=3_000), window=100_000)
    assert (await talk.run()).stop == "completed"
    assert talk.of(CompactionStart)[0].reason == "overflow"
    assert not talk.of(Warned)


async def test_a_body_that_is_too_large_is_made_smaller_too() -> None:
    too_large = ProviderError("Request exceeds the maximum size", kind="request_too_large", status=413)
    model = Model(8)
    sizes: list[int] = []

    def refuse_the_sixth(request: ModelRequest) -> AssistantMessage:
        sizes.append(len(str(request.messages)))
        if len(sizes) == 6:
            raise too_large
        return model(request)

    talk = Talk(model, window=None)
    talk.provider._steps[:] = [refuse_the_sixth]
    assert (await talk.run()).stop == "completed"
    assert talk.of(CompactionStart)[0].reason == "overflow"


async def test_a_prompt_that_does_not_fit_is_asked_once_and_ends_with_the_reason() -> None:
    talk = Talk(Model(3, fits=10), window=None)
    outcome = await talk.run("word " * 9_000)
    assert outcome.error is not None
    assert (outcome.stop, outcome.error.kind, outcome.is_service_fault) == (
        "model_error",
        "context_overflow",
        True,
    )
    assert "prompt is too long" in outcome.error.message
    assert len(talk.provider.requests) == 1


async def test_overflow_and_compaction_do_not_take_turns_for_ever() -> None:
    model = Model(9)
    talk = Talk(model, window=None)
    model_call = model.__call__

    def never_again(request: ModelRequest) -> AssistantMessage:
        if request.tools and model.done >= 5:
            raise OVERFLOW
        return model_call(request)

    talk.provider._steps[:] = [never_again]
    outcome = await talk.run()
    assert outcome.error is not None
    assert outcome.error.kind == "context_overflow"
    assert len(talk.provider.requests) <= 5 + 5


async def test_summaries_that_do_not_shrink_end_the_run() -> None:
    long = says("word " * 9_000, output_tokens=9_000)
    talk = Talk(Model(30, summary=[long] * 30))
    outcome = await talk.run()
    assert outcome.error is not None
    assert outcome.error.kind == "context_overflow"
    assert talk.model.asked <= 4


async def test_after_a_resume_the_recorded_summary_goes_along() -> None:
    talk = Talk(Model(9))
    compactor = talk.agent._asker._compactor
    conversation = talk.agent._conversation
    recorded = whole_summary("Count the rows.", "## Done\nCounted to 7.", Files())
    conversation.add(compaction_message(recorded), "00000001")
    compactor.restore("Count the rows.", recorded, {"readFiles": ["a.py"], "modifiedFiles": ["b.py"]})
    assert (await talk.run("Go on.")).stop == "completed"
    asked = next(request for request in talk.provider.requests if not request.tools)
    quoted = str(asked.messages)
    assert "Counted to 7." in quoted
    assert "Count the rows." not in quoted
    text = talk.session.compactions[0][0]
    for part in ("Count the rows.", "- a.py", "- b.py"):
        assert part in text


async def test_old_bulky_results_go_before_anything_is_summed_up() -> None:
    talk = Talk(Model(6, chars=5_000))
    assert (await talk.run()).stop == "completed"
    sent = [str(request.messages).count("left out to save context") for request in talk.agents()]
    assert max(sent) >= 1
    first = next(
        number for number, request in enumerate(talk.provider.requests) if "left out" in str(request)
    )
    assert all(request.tools for request in talk.provider.requests[: first + 1])
    recorded = [message for message in talk.session.messages if isinstance(message, ToolResultMessage)]
    assert all(len(message.text) == 5_000 for message in recorded)


async def test_the_output_asked_for_leaves_the_window_room() -> None:
    talk = Talk(Model(3, chars=4_500))
    await talk.run()
    for request, end in zip(talk.agents(), [e for e in talk.of(MessageEnd) if e.usage], strict=True):
        assert (request.max_output_tokens or 0) + end.usage.input_tokens <= WINDOW
    assert talk.agents()[0].max_output_tokens == 2_000


async def test_a_reply_cut_before_its_first_word_is_a_context_that_is_too_long() -> None:
    cut = AssistantMessage((), "length", usage=Usage(8_000, 0), cost_usd=0.0)
    talk = Talk(Model(0))
    talk.provider._steps[:] = [cut]
    outcome = await talk.run()
    assert outcome.error is not None
    assert outcome.error.kind == "context_overflow"


async def test_a_recorded_summary_is_put_where_it_was_at_what_it_cost() -> None:
    recorded = RecordedSummary("As it was.", 2, {"readFiles": ["a"]}, Usage(100, 20), 0.5)
    waiting: list[RecordedSummary | None] = [None, None, None, recorded]
    talk = Talk(Model(6), window=None, recorded_summary=lambda: waiting.pop(0) if waiting else None)
    assert (await talk.run()).stop == "completed"
    assert talk.model.asked == 0
    ((text, first_kept, usage),) = talk.session.compactions
    assert (text, usage) == ("As it was.", Usage(100, 20))
    assert talk.session.order[int(first_kept, 16) - 1] == "assistant"
    (end,) = talk.of(CompactionEnd)
    assert (end.usage, end.cost_usd, end.model) == (Usage(100, 20), 0.5, "")
    assert [len(request.messages) for request in talk.agents()] == [1, 3, 5, 3, 5, 7, 9]
    assert talk.ledger.turns == 7
