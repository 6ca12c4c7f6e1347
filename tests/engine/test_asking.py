"""An agent with several models: who is asked, what is recorded of it, and what it costs."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Mapping, Sequence
from typing import Any

import pytest

from pi_batch.engine.agent import Agent
from pi_batch.engine.agent_outcome import AgentOutcome
from pi_batch.engine.model_port import ModelPort
from pi_batch.engine.planning import PLAN, WORK, PlanRules
from pi_batch.engine.retry import Requester, RetryPolicy
from pi_batch.engine.router import Choose, Models, Router
from pi_batch.errors import ErrorKind, ProviderError
from pi_batch.events import (
    AgentEnd,
    AgentStart,
    Event,
    MessageEnd,
    MessageStart,
    ModelClassified,
    ModelSelected,
    RetryScheduled,
    TurnStart,
    Warned,
)
from pi_batch.messages import ToolCall, ToolResultMessage, UserMessage
from pi_batch.providers.fake import Scripted, Step, calls, says
from pi_batch.redact import Masker
from pi_batch.results import BudgetAmounts
from pi_batch.routes import ByAttempt, ByClass, ByFunction, ByPhase, InOrder, OneModel, Route
from tests.clocks import FakeClock
from tests.engine.fakes import AllowAll, FakeTool, MemorySession, make_door

LOOK = FakeTool("look", lambda _arguments, _context: "seen")
CHANGE = FakeTool("change", lambda _arguments, _context: "changed", is_read_only=False)


def refused(kind: ErrorKind, text: str = "no", *, is_retryable: bool = False) -> ProviderError:
    return ProviderError(text, kind=kind, is_retryable=is_retryable)


class Choir:
    """An agent, several models with a script each, and everything they left behind."""

    def __init__(
        self,
        route: Route,
        scripts: Mapping[str, Sequence[Step] | Scripted],
        *,
        limit: BudgetAmounts | None = None,
        price: dict[str, float] | None = None,
        functions: dict[str, Choose] | None = None,
        thinking: dict[str, str] | None = None,
        window: dict[str, int] | None = None,
        secrets: Sequence[str] = (),
        follow_ups: Sequence[str] = (),
        output_schema: Mapping[str, Any] | None = None,
    ) -> None:
        self.clock, self.session = FakeClock(), MemorySession()
        self.providers = {
            name: steps if isinstance(steps, Scripted) else Scripted(steps) for name, steps in scripts.items()
        }
        prices = price or {}

        def port(name: str) -> ModelPort:
            rate = prices.get(name, 0.0)
            return ModelPort(
                self.providers[name],
                "fake",
                name.removeprefix("fake/"),
                thinking=(thinking or {}).get(name),
                max_output_tokens=2_000,
                context_window=(window or {}).get(name),
                price_usd=lambda given, out: rate * (given + out),
                cost_usd=lambda _model, usage: rate * usage.total_tokens,
            )

        self.router = Router(Models(route, {name: port(name) for name in scripts}, functions or {}))
        tools = {"look": LOOK, "change": CHANGE}
        rules = PlanRules(AllowAll(), lambda: self.router.is_planning, tools, "codemode")
        fixture = make_door(LOOK, CHANGE, limit=limit, clock=self.clock, rules=rules, secrets=secrets)
        self.events: list[Event] = fixture.events
        self.ledger = fixture.door.ledger
        requester = Requester(
            port=self.router.port,
            ledger=self.ledger,
            emit=self.events.append,
            clock=self.clock,
            mask=Masker(secrets),
            random=random.Random(0),
            policy=RetryPolicy(base_s=0.001),
        )
        self.agent = Agent(
            door=fixture.door,
            requester=requester,
            session=self.session,
            system="Be brief.",
            declarations=(),
            router=self.router,
            follow_ups=follow_ups,
            output_schema=output_schema,
        )
        self.agent.open()

    async def run(self, prompt: str = "go", attempt: int = 1) -> AgentOutcome:
        return await asyncio.wait_for(self.agent.run(prompt, attempt), 20)

    def asked(self) -> dict[str, int]:
        return {name: len(provider.requests) for name, provider in self.providers.items()}

    def of(self, kind: type[Any]) -> list[Any]:
        return [event for event in self.events if isinstance(event, kind)]

    def said(self) -> list[str]:
        return [message.text for message in self.session.messages if isinstance(message, UserMessage)]


def in_order(*names: str) -> InOrder:
    return InOrder("router/r", tuple(map(OneModel, names)))


async def test_another_model_goes_on_in_the_middle_of_a_task_with_all_that_was_said() -> None:
    choir = Choir(
        in_order("fake/a", "fake/b"),
        {"fake/a": [calls(ToolCall("c1", "look", {})), refused("quota")], "fake/b": [says("done")]},
    )
    assert await choir.run() == AgentOutcome("completed", "done")
    (request,) = choir.providers["fake/b"].requests
    assert [message.role for message in request.messages] == ["user", "assistant", "tool_result"]
    assert request.model == "b"
    assert len(choir.of(TurnStart)) == 2, "a request that failed over is one turn"


async def test_a_fallback_is_recorded_in_the_session_before_the_next_request() -> None:
    choir = Choir(in_order("fake/a", "fake/b"), {"fake/a": [refused("quota")], "fake/b": [says("done")]})
    await choir.run()
    assert choir.session.order == [
        "system",
        "model",
        "model fake/a",
        "attempt",
        "user",
        "request_start",
        "model",
        "model fake/b",
        "request_start",
        "assistant",
    ]
    starts = [value for value in choir.session.customs if value["kind"] == "request_start"]
    assert [value["model"] for value in starts] == ["fake/a", "fake/b"]
    assert [value["failed"] for value in choir.session.customs if value["kind"] == "model"] == [
        [],
        ["fake/a"],
    ]


async def test_selection_and_dispatch_are_both_in_the_stream() -> None:
    choir = Choir(in_order("fake/a", "fake/b"), {"fake/a": [refused("quota")], "fake/b": [says("done")]})
    await choir.run()
    assert [(one.model, one.previous, one.error_kind) for one in choir.of(ModelSelected)] == [
        ("fake/a", "", None),
        ("fake/b", "fake/a", "quota"),
    ]
    starts = [event.model for event in choir.of(MessageStart) if event.role == "assistant"]
    assert starts == ["fake/a", "fake/b"]
    assert [event.model for event in choir.of(MessageEnd) if event.entry_id and event.model] == [
        "fake/scripted"
    ]


async def test_what_passes_is_tried_again_before_another_model_is_asked() -> None:
    busy = [refused("overloaded", is_retryable=True)] * 5
    choir = Choir(in_order("fake/a", "fake/b"), {"fake/a": busy, "fake/b": [says("done")]})
    assert (await choir.run()).answer == "done"
    assert choir.asked() == {"fake/a": 5, "fake/b": 1}
    assert len(choir.of(RetryScheduled)) == 4


@pytest.mark.parametrize("kind", ["auth", "invalid_request", "server_error"])
async def test_an_error_that_another_model_does_not_mend_ends_the_work(kind: ErrorKind) -> None:
    choir = Choir(in_order("fake/a", "fake/b"), {"fake/a": [refused(kind)], "fake/b": []})
    outcome = await choir.run()
    assert outcome.error is not None
    assert outcome.error.kind == kind
    assert choir.asked()["fake/b"] == 0


async def test_when_the_last_one_fails_its_error_is_the_one_that_is_told() -> None:
    scripts: dict[str, Sequence[Step]] = {
        "fake/a": [refused("quota", "a is spent")],
        "fake/b": [refused("model_not_found", "b is gone")],
    }
    outcome = await Choir(in_order("fake/a", "fake/b"), scripts).run()
    assert outcome.error is not None
    assert (outcome.error.kind, outcome.error.message) == ("model_not_found", "b is gone")


async def test_a_cancelled_task_asks_nobody_else() -> None:
    class Endless(Scripted):
        async def stream(self, request: Any) -> Any:
            self.requests.append(request)
            await asyncio.Event().wait()
            yield says("never")

    endless = Endless(())
    choir = Choir(in_order("fake/a", "fake/b"), {"fake/a": endless, "fake/b": [says("done")]})
    task = asyncio.create_task(choir.agent.run("go", 1))
    while not endless.requests:
        await asyncio.sleep(0)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert choir.asked()["fake/b"] == 0
    assert choir.of(AgentEnd)[0].stop == "cancelled"


async def test_a_reply_is_priced_by_who_gave_it_and_reserved_at_the_dearer_price() -> None:
    """The first reply fits the money at its own price, and not at the price of who may have to give it."""
    prices = {"fake/a": 1e-6, "fake/b": 1e-4}
    cheap = [says("done", cost_usd=None)]
    whole = Choir(in_order("fake/a"), {"fake/a": cheap}, price=prices, limit=BudgetAmounts(cost_usd=0.01))
    assert (await whole.run()).stop == "completed"
    tight = Choir(
        in_order("fake/a", "fake/b"),
        {"fake/a": cheap, "fake/b": []},
        price=prices,
        limit=BudgetAmounts(cost_usd=0.01),
    )
    assert (await tight.run()).stop == "max_cost"
    assert tight.asked() == {"fake/a": 0, "fake/b": 0}
    ample = Choir(
        in_order("fake/a", "fake/b"),
        {"fake/a": [refused("quota")], "fake/b": [says("done", cost_usd=None)]},
        price=prices,
        limit=BudgetAmounts(cost_usd=1.0),
    )
    await ample.run()
    assert ample.ledger.cost_usd == pytest.approx(20 * 1e-4)


async def test_a_prompt_too_long_for_one_window_goes_to_the_larger_one() -> None:
    choir = Choir(
        in_order("fake/a", "fake/b"),
        {"fake/a": [refused("context_overflow", "too long")], "fake/b": [says("done")]},
        window={"fake/a": 1_000, "fake/b": 100_000},
    )
    outcome = await choir.run("word " * 2_000)
    assert outcome.answer == "done"
    assert choir.of(ModelSelected)[-1].error_kind == "context_overflow"


async def test_each_attempt_after_a_failed_verification_asks_the_next_model_with_what_failed() -> None:
    route = ByAttempt("router/r", (OneModel("fake/a"), OneModel("fake/b")))
    choir = Choir(route, {"fake/a": [says("mine")], "fake/b": [says("better")]})
    await choir.run("fix it", 1)
    await choir.run("tests failed: boom", 2)
    assert choir.asked() == {"fake/a": 1, "fake/b": 1}
    (request,) = choir.providers["fake/b"].requests
    assert "boom" in str(request.messages[-1])
    assert [one.reason for one in choir.of(ModelSelected)] == [
        "router/r, escalate: 1 of 2",
        "router/r, escalate: 2 of 2",
    ]


async def test_one_model_plans_without_changing_anything_and_another_carries_it_out() -> None:
    route = ByPhase("router/r", OneModel("fake/plan"), OneModel("fake/work"))
    choir = Choir(
        route,
        {
            "fake/plan": [
                calls(ToolCall("c1", "look", {}), ToolCall("c2", "change", {})),
                says("First this, then that."),
            ],
            "fake/work": [calls(ToolCall("c3", "change", {})), says("done")],
        },
    )
    assert (await choir.run("fix it")).answer == "done"
    results = {one.tool_call_id: one for one in choir.session.messages if isinstance(one, ToolResultMessage)}
    assert [results[name].is_error for name in ("c1", "c2", "c3")] == [False, True, False]
    assert results["c2"].error_kind == "denied"
    assert choir.said() == ["fix it", PLAN, WORK]
    assert choir.asked() == {"fake/plan": 2, "fake/work": 2}


async def test_who_carries_out_is_told_the_schema_and_who_plans_is_not() -> None:
    schema = {"type": "object"}
    route = ByPhase("router/r", OneModel("fake/plan"), OneModel("fake/work"))
    choir = Choir(route, {"fake/plan": [says("so")], "fake/work": [says("{}")]}, output_schema=schema)
    await choir.run()
    told = {name: one.requests[0].output_schema for name, one in choir.providers.items()}
    assert told == {"fake/plan": None, "fake/work": schema}


async def test_with_more_to_say_no_answer_is_held_to_the_schema_of_the_last() -> None:
    steps = {"fake/a": [says("one"), says("{}")]}
    choir = Choir(in_order("fake/a"), steps, follow_ups=["and?"], output_schema={"type": "object"})
    await choir.run()
    assert [one.output_schema for one in choir.providers["fake/a"].requests] == [None, None]


SORT = ByClass("router/r", "fake/s", {"small": OneModel("fake/a"), "large": OneModel("fake/b")})


async def test_a_cheap_model_says_which_kind_it_is_and_that_is_no_turn() -> None:
    choir = Choir(SORT, {"fake/s": [says("2", cost_usd=0.25)], "fake/a": [], "fake/b": [says("done")]})
    assert (await choir.run("rewrite it all")).answer == "done"
    (request,) = choir.providers["fake/s"].requests
    assert "rewrite it all" in str(request.messages)
    assert not request.tools
    (classified,) = choir.of(ModelClassified)
    assert (classified.label, classified.cost_usd, classified.error) == ("large", 0.25, None)
    assert (choir.ledger.turns, choir.ledger.cost_usd) == (1, 0.25)
    assert choir.session.order[1:6] == ["request_start", "usage classify", "model", "model fake/b", "attempt"]


@pytest.mark.parametrize("answer", ["I cannot say", "1 or 2", "", "7"])
async def test_an_answer_that_is_no_kind_takes_the_first_and_says_so(answer: str) -> None:
    answers = [says(answer)] * 3
    choir = Choir(SORT, {"fake/s": answers, "fake/a": [says("done")], "fake/b": []})
    assert (await choir.run()).answer == "done"
    (warned,) = choir.of(Warned)
    assert "'small', the first, is taken" in warned.message


async def test_a_classifier_that_fails_is_no_reason_to_end_the_task() -> None:
    choir = Choir(SORT, {"fake/s": [refused("quota")], "fake/a": [says("done")], "fake/b": []})
    assert (await choir.run()).answer == "done"
    assert choir.of(ModelClassified)[0].error == "no"


async def test_no_money_for_the_classifier_ends_the_task_before_any_request() -> None:
    choir = Choir(
        SORT,
        {"fake/s": [says("1")], "fake/a": [], "fake/b": []},
        price={"fake/s": 1.0},
        limit=BudgetAmounts(cost_usd=0.5),
    )
    assert (await choir.run()).stop == "max_cost"
    assert choir.asked() == {"fake/s": 0, "fake/a": 0, "fake/b": 0}


async def test_a_class_behind_a_fallback_is_asked_for_only_when_it_is_come_to() -> None:
    route = InOrder("router/q", (OneModel("fake/first"), SORT))
    scripts: dict[str, Sequence[Step]] = {
        "fake/first": [says("done")],
        "fake/s": [says("large")],
        "fake/a": [],
        "fake/b": [says("late")],
    }
    quiet = Choir(route, scripts)
    assert (await quiet.run()).answer == "done"
    assert quiet.asked()["fake/s"] == 0
    failing = Choir(route, {**scripts, "fake/first": [refused("overloaded")]})
    assert (await failing.run()).answer == "late"
    assert failing.asked() == {"fake/first": 1, "fake/s": 1, "fake/a": 0, "fake/b": 1}


MINE = ByFunction("router/r", "m:f", {"fake/a": OneModel("fake/a"), "fake/b": OneModel("fake/b")})


async def test_a_function_decides_by_what_is_about_to_be_said() -> None:
    functions: dict[str, Choose] = {
        "m:f": lambda told: "fake/b" if "failed" in told.prompt or told.attempt > 2 else "fake/a"
    }
    choir = Choir(MINE, {"fake/a": [says("one")], "fake/b": [says("two")]}, functions=functions)
    assert (await choir.run("go", 1)).answer == "one"
    assert (await choir.run("it failed", 2)).answer == "two"


async def test_a_function_that_gives_nonsense_ends_the_work_with_one_line() -> None:
    functions: dict[str, Choose] = {"m:f": lambda _told: "gpt"}
    choir = Choir(MINE, {"fake/a": [], "fake/b": []}, functions=functions)
    outcome = await choir.run()
    assert outcome.error is not None
    assert "router/r: m:f gave 'gpt', need one of fake/a, fake/b" in outcome.error.message
    assert outcome.is_service_fault


async def test_a_function_that_raises_still_lets_the_stream_have_its_end() -> None:
    def broken(_told: object) -> object:
        raise ZeroDivisionError("by nought")

    choir = Choir(MINE, {"fake/a": [], "fake/b": []}, functions={"m:f": broken})
    with pytest.raises(ZeroDivisionError):
        await choir.run()
    assert [type(one) for one in choir.events if isinstance(one, AgentStart | AgentEnd)] == [
        AgentStart,
        AgentEnd,
    ]


async def test_the_level_of_each_model_is_sent_and_recorded() -> None:
    choir = Choir(
        in_order("fake/a", "fake/b"),
        {"fake/a": [refused("quota")], "fake/b": [says("done")]},
        thinking={"fake/a": "low", "fake/b": "high"},
    )
    await choir.run()
    assert choir.providers["fake/b"].requests[0].thinking == "high"
    levels = [entry for entry in choir.session.order if entry.startswith("thinking")]
    assert levels == ["thinking low", "thinking high"]


async def test_an_error_that_names_a_secret_is_masked_in_the_stream() -> None:
    choir = Choir(
        in_order("fake/a", "fake/b"),
        {"fake/a": [refused("quota", "key sk-geheim-0123456789 is spent")], "fake/b": [says("done")]},
        secrets=["sk-geheim-0123456789"],
    )
    await choir.run()
    assert "geheim" not in str(choir.of(ModelSelected))


async def test_follow_ups_are_said_when_the_agent_would_stop() -> None:
    choir = Choir(
        OneModel("fake/a"),
        {"fake/a": [says("one"), calls(ToolCall("c1", "look", {})), says("two"), says("three")]},
        follow_ups=["And the tests?", "Sum it up."],
    )
    assert (await choir.run("go")).answer == "three"
    assert choir.said() == ["go", "And the tests?", "Sum it up."]
    assert [value["left"] for value in choir.session.customs if value["kind"] == "follow_up"] == [2, 1]


async def test_a_limit_or_a_failing_model_gets_no_follow_up() -> None:
    limited = Choir(
        OneModel("fake/a"),
        {"fake/a": [calls(ToolCall("c1", "look", {}))]},
        follow_ups=["more"],
        limit=BudgetAmounts(turns=1),
    )
    assert (await limited.run()).stop == "max_turns"
    assert "more" not in limited.said()


async def test_follow_ups_come_after_the_plan_was_carried_out() -> None:
    route = ByPhase("router/r", OneModel("fake/plan"), OneModel("fake/work"))
    choir = Choir(
        route, {"fake/plan": [says("plan")], "fake/work": [says("did"), says("more")]}, follow_ups=["And?"]
    )
    assert (await choir.run()).answer == "more"
    assert choir.said() == ["go", PLAN, WORK, "And?"]
