"""The loop: what the model says, what is carried out, and when it ends."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Sequence
from typing import Any

import pytest

from pi_batch.engine.agent import Agent
from pi_batch.engine.agent_outcome import AgentOutcome
from pi_batch.engine.model_port import ModelPort
from pi_batch.engine.retry import Requester, RetryPolicy
from pi_batch.errors import ErrorKind, LogWriteError, ProviderError
from pi_batch.events import (
    AgentEnd,
    AgentSettled,
    AgentStart,
    BudgetWarning,
    Event,
    MessageEnd,
    MessageStart,
    ToolExecutionEnd,
    ToolExecutionStart,
    TurnEnd,
    TurnStart,
)
from pi_batch.messages import (
    AssistantMessage,
    StopReason,
    TextBlock,
    ToolCall,
    ToolDeclaration,
    ToolResultMessage,
    Usage,
    UserMessage,
)
from pi_batch.providers.fake import Scripted, Step, calls, says
from pi_batch.redact import Masker
from pi_batch.results import BudgetAmounts
from tests.clocks import FakeClock
from tests.engine.fakes import FakeTool, MemorySession, make_door

ECHO = FakeTool("echo", lambda arguments, _context: arguments.text or "same")
DECLARATIONS = (ToolDeclaration("echo", "Echo.", {"type": "object", "properties": {}}),)


class Talk:
    """An agent with a script and everything it left behind."""

    def __init__(
        self,
        *steps: Step,
        tools: Sequence[FakeTool] = (ECHO,),
        limit: BudgetAmounts | None = None,
        session: MemorySession | None = None,
        secrets: Sequence[str] = (),
        clock: FakeClock | None = None,
        is_endless: bool = False,
    ) -> None:
        self.clock = clock or FakeClock()
        self.provider = Scripted(steps, is_endless=is_endless)
        self.session = session or MemorySession()
        fixture = make_door(*tools, limit=limit, secrets=secrets, clock=self.clock)
        self.events: list[Event] = fixture.events
        self.ledger = fixture.door.ledger
        requester = Requester(
            port=ModelPort(self.provider, "fake", "m", max_output_tokens=2_000),
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
            declarations=DECLARATIONS,
        )
        self.agent.open()

    async def run(self, prompt: str = "go", attempt: int = 1) -> AgentOutcome:
        return await asyncio.wait_for(self.agent.run(prompt, attempt), 20)

    def results(self) -> list[ToolResultMessage]:
        return [m for m in self.session.messages if isinstance(m, ToolResultMessage)]

    def of(self, kind: type[Any]) -> list[Any]:
        return [event for event in self.events if isinstance(event, kind)]


def echo(call_id: str, text: str = "hi") -> ToolCall:
    return ToolCall(call_id, "echo", {"text": text})


def cut(*content: TextBlock | ToolCall, stop: StopReason = "length") -> AssistantMessage:
    return AssistantMessage(content, stop, usage=Usage(10, 10), cost_usd=0.0, raw_stop_reason=stop)


async def test_a_plain_answer_completes() -> None:
    talk = Talk(says("done"))
    assert await talk.run() == AgentOutcome("completed", "done")


async def test_a_call_is_carried_out_and_its_result_goes_back() -> None:
    talk = Talk(calls(echo("c1", "one")), says("done"))
    await talk.run()
    request = talk.provider.requests[1]
    assert [m.role for m in request.messages] == ["user", "assistant", "tool_result"]
    assert talk.results()[0].text == "one"


async def test_the_request_holds_prompt_system_and_tools() -> None:
    talk = Talk(says("done"))
    await talk.run("fix it")
    request = talk.provider.requests[0]
    assert (request.system, request.tools, request.max_output_tokens) == ("Be brief.", DECLARATIONS, 2_000)
    (message,) = request.messages
    assert isinstance(message, UserMessage)
    assert message.content == (TextBlock("fix it"),)


async def test_everything_is_on_disk_before_the_next_request() -> None:
    talk = Talk(calls(echo("c1"), echo("c2", "b")), says("done"))
    await talk.run()
    assert talk.session.order == [
        "system",
        "model fake/m",
        "attempt",
        "user",
        "request_start",
        "assistant",
        "tool_result",
        "tool_result",
        "request_start",
        "assistant",
    ]


async def test_a_reply_that_cannot_be_recorded_is_not_acted_on() -> None:
    talk = Talk(calls(echo("c1")), says("done"), session=MemorySession(fails_after=5))
    with pytest.raises(LogWriteError):
        await talk.run()
    assert not talk.of(ToolExecutionStart)


async def test_a_call_cut_by_the_output_limit_is_not_carried_out_and_the_run_goes_on() -> None:
    talk = Talk(cut(ToolCall("c1", "echo", None, '{"text": "x'), echo("c2")), says("done"))
    outcome = await talk.run()
    assert [r.error_kind for r in talk.results()] == ["not_run", "not_run"]
    assert "cut off" in talk.results()[0].text
    assert outcome.stop == "completed"


async def test_cut_calls_do_not_go_on_for_ever() -> None:
    talk = Talk(cut(echo("c1")), is_endless=True)
    outcome = await talk.run()
    assert outcome.error is not None
    assert (outcome.stop, outcome.error.kind) == ("model_error", "length")
    assert len(talk.provider.requests) == 3


async def test_a_cut_answer_is_no_success() -> None:
    outcome = await Talk(cut(TextBlock("half an ans"))).run()
    assert outcome.error is not None
    assert (outcome.stop, outcome.error.kind, outcome.is_service_fault) == ("model_error", "length", False)


async def test_a_filtered_reply_is_no_success_and_its_calls_are_not_run() -> None:
    talk = Talk(cut(TextBlock("no"), echo("c1"), stop="content_filter"))
    outcome = await talk.run()
    assert outcome.error is not None
    assert outcome.error.kind == "content_filter"
    assert talk.results()[0].error_kind == "not_run"


async def test_a_refusal_is_told_from_a_filter() -> None:
    refusal = AssistantMessage(
        (TextBlock("no"),), "content_filter", usage=Usage(1, 1), raw_stop_reason="refusal"
    )
    outcome = await Talk(refusal).run()
    assert outcome.error is not None
    assert outcome.error.kind == "refusal"


async def test_a_paused_reply_goes_back_as_it_is() -> None:
    paused = AssistantMessage((TextBlock("so far"),), "stop", usage=Usage(1, 1), raw_stop_reason="pause_turn")
    talk = Talk(paused, says("done"))
    assert (await talk.run()).answer == "done"
    assert talk.provider.requests[1].messages[-1] == talk.session.messages[2]


async def test_a_reply_of_unknown_end_is_an_error_that_names_it() -> None:
    outcome = await Talk(cut(TextBlock("x"), stop="error")).run()
    assert outcome.error is not None
    assert "'error'" in outcome.error.message


async def test_an_empty_final_reply_has_no_answer() -> None:
    talk = Talk(calls(echo("c1")), says(""), says(""), says(""))
    outcome = await talk.run()
    assert (outcome.stop, outcome.answer) == ("completed", "")


async def test_good_calls_beside_a_broken_one_are_run() -> None:
    talk = Talk(calls(ToolCall("c1", "echo", None, '{"text'), echo("c2", "sibling")), says("done"))
    await talk.run()
    first, second = talk.results()
    assert first.error_kind == "malformed_tool_call"
    assert second.text == "sibling"


async def test_turns_three_is_exactly_three_replies_and_the_last_ones_calls_are_not_run() -> None:
    talk = Talk(*[calls(echo(f"c{n}", str(n))) for n in range(9)], limit=BudgetAmounts(turns=3))
    outcome = await talk.run()
    assert outcome.stop == "max_turns"
    assert len(talk.provider.requests) == 3
    assert [r.error_kind for r in talk.results()] == [None, None, "not_run"]


async def test_an_answer_in_the_last_turn_completes() -> None:
    talk = Talk(calls(echo("c1")), says("done"), limit=BudgetAmounts(turns=2))
    assert (await talk.run()).stop == "completed"


async def test_the_last_turn_is_said_once() -> None:
    talk = Talk(*[calls(echo(f"c{n}", str(n))) for n in range(9)], limit=BudgetAmounts(turns=3))
    await talk.run()
    (said,) = talk.of(BudgetWarning)
    assert said.dimension == "turns"
    last = talk.provider.requests[2].messages[-1]
    assert isinstance(last, UserMessage)
    assert "last turn" in last.content[0].text  # type: ignore[union-attr]


async def test_a_spent_money_limit_leaves_the_last_calls_undone() -> None:
    script = [calls(echo(f"c{n}", str(n)), cost_usd=0.4) for n in range(9)]
    talk = Talk(*script, limit=BudgetAmounts(cost_usd=1.0))
    outcome = await talk.run()
    assert outcome.stop == "max_cost"
    assert len(talk.provider.requests) == 3
    assert talk.results()[-1].error_kind == "not_run"


async def test_a_call_beyond_the_limit_is_refused_and_ends_the_agent() -> None:
    script = [calls(echo("a0", "0"), echo("a1", "1")), calls(echo("b0", "2"), echo("b1", "3")), says("never")]
    talk = Talk(*script, limit=BudgetAmounts(tool_calls=3))
    assert (await talk.run()).stop == "max_tool_calls"
    assert [r.error_kind for r in talk.results()] == [None, None, None, "not_run"]
    assert talk.ledger.used.tool_calls == 3
    assert [said.dimension for said in talk.of(BudgetWarning)] == ["tool_calls"]


async def test_an_answer_after_the_last_call_completes() -> None:
    talk = Talk(calls(echo("c1")), says("done"), limit=BudgetAmounts(tool_calls=1))
    assert (await talk.run()).stop == "completed"


async def test_no_tokens_left_ends_the_agent() -> None:
    talk = Talk(*[calls(echo(f"c{n}", str(n))) for n in range(9)], limit=BudgetAmounts(tokens=1_100))
    assert (await talk.run()).stop == "max_tokens"
    assert talk.ledger.used.tokens is not None
    assert talk.ledger.used.tokens <= 1_100


async def test_no_time_left_ends_the_agent_after_the_tool() -> None:
    clock = FakeClock()
    slow = FakeTool("echo", lambda _a, _c: clock.advance(100))
    talk = Talk(calls(echo("c1")), says("never"), tools=[slow], limit=BudgetAmounts(wall_s=60), clock=clock)
    assert (await talk.run()).stop == "max_wall_time"
    assert len(talk.provider.requests) == 1


async def test_the_time_between_attempts_does_not_count() -> None:
    clock = FakeClock()
    talk = Talk(says("one"), says("two"), limit=BudgetAmounts(wall_s=60), clock=clock)
    await talk.run()
    clock.advance(1_000)
    assert (await talk.run("again", 2)).stop == "completed"


async def test_going_in_circles_is_warned_of_then_stopped() -> None:
    talk = Talk(*[calls(echo(f"c{n}")) for n in range(9)])
    outcome = await talk.run()
    assert outcome.stop == "repeated_calls"
    assert len(talk.provider.requests) == 5
    assert "same result" in talk.results()[2].text
    assert "same result" not in talk.results()[3].text


async def test_the_conversation_goes_on_over_attempts() -> None:
    talk = Talk(says("first"), says("second"))
    await talk.run("go", 1)
    await talk.run("tests: exit code 1", 2)
    assert [m.role for m in talk.provider.requests[1].messages] == ["user", "assistant", "user"]
    assert [event.attempt for event in talk.of(AgentStart)] == [1, 2]
    assert [event.turn for event in talk.of(TurnStart)] == [1, 2]


@pytest.mark.parametrize("kind", ["auth", "network", "replay_diverged", "context_overflow"])
async def test_a_failed_service_is_told_from_a_failing_model(kind: ErrorKind) -> None:
    outcome = await Talk(ProviderError("it broke", kind=kind)).run()
    assert outcome.error is not None
    assert (outcome.stop, outcome.error.kind, outcome.is_service_fault) == ("model_error", kind, True)


async def test_the_first_reply_has_to_fit_or_none_is_asked_for() -> None:
    talk = Talk(says("never"), limit=BudgetAmounts(tokens=100))
    outcome = await talk.run()
    assert outcome.stop == "max_tokens"
    assert talk.provider.requests == []
    assert not talk.of(TurnStart)


async def test_secrets_enter_neither_history_nor_stream() -> None:
    secret = "hunter2-hunter2"
    talk = Talk(
        calls(echo("c1", f"use {secret}"), text=f"with {secret}"), says(f"used {secret}"), secrets=[secret]
    )
    await talk.run(f"the key is {secret}")
    assert secret not in repr(talk.events)
    assert secret not in repr(talk.session.messages)
    assert secret not in repr(talk.provider.requests)


async def test_a_cancelled_agent_ends_in_the_stream() -> None:
    wait = FakeTool("echo", lambda _a, _c: asyncio.sleep(60))
    talk = Talk(calls(echo("c1")), tools=[wait])
    task = asyncio.create_task(talk.agent.run("go", 1))
    await asyncio.sleep(0.01)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    (end,) = talk.of(AgentEnd)
    assert end.stop == "cancelled"
    assert_paired(talk.events)


SCRIPTS: list[tuple[Step, ...]] = [
    (says("done"),),
    (calls(echo("c1"), ToolCall("c2", "nope", {})), says("done")),
    (cut(echo("c1")), cut(TextBlock("x"))),
    (ProviderError("x", kind="server_error", is_retryable=True), says("done")),
    (ProviderError("x", kind="auth"),),
    (calls(echo("c1")), ProviderError("x", kind="network")),
    tuple(calls(echo(f"c{n}")) for n in range(6)),
]


@pytest.mark.parametrize("script", SCRIPTS)
async def test_every_start_has_one_end(script: tuple[Step, ...]) -> None:
    talk = Talk(*script, limit=BudgetAmounts(turns=4))
    await talk.run()
    assert_paired(talk.events)


def assert_paired(events: Sequence[Event]) -> None:
    for start, end in (
        (AgentStart, AgentEnd),
        (AgentStart, AgentSettled),
        (TurnStart, TurnEnd),
        (MessageStart, MessageEnd),
        (ToolExecutionStart, ToolExecutionEnd),
    ):
        starts = [e for e in events if isinstance(e, start)]
        ends = [e for e in events if isinstance(e, end)]
        assert len(starts) == len(ends), (start.__name__, len(starts), len(ends))


async def test_a_script_that_uses_the_calls_up_ends_the_agent_however_it_took_it() -> None:
    async def script(_arguments: Any, context: Any) -> str:
        outputs = [await context.call_tool("echo", {"text": str(number)}) for number in range(3)]
        return " ".join(str(output.error_kind) for output in outputs)

    scripts = FakeTool("scripts", script)
    talk = Talk(
        calls(ToolCall("c1", "scripts", {})),
        says("never"),
        tools=(ECHO, scripts),
        limit=BudgetAmounts(tool_calls=3),
    )
    assert (await talk.run()).stop == "max_tool_calls"
    assert [result.text for result in talk.results()] == ["None None not_run"]


async def test_inner_calls_are_no_repeats() -> None:
    async def script(_arguments: Any, context: Any) -> str:
        for _ in range(9):
            await context.call_tool("echo", {"text": "same"})
        return "done"

    talk = Talk(calls(ToolCall("c1", "scripts", {})), says("done"), tools=(ECHO, FakeTool("scripts", script)))
    assert (await talk.run()).stop == "completed"
    assert [result.text for result in talk.results()] == ["done"]
