"""An agent that goes on with what an earlier process left."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from pi_batch.engine.repeats import warning
from pi_batch.engine.restoring import LOST_CALL, LOST_RESULT, RecordedConversation
from pi_batch.events import AgentStart, MessageEnd, ToolExecutionEnd, ToolExecutionStart, TurnStart
from pi_batch.messages import AssistantMessage, Message, TextBlock, ToolResultMessage, UserMessage
from pi_batch.providers.fake import calls, says
from pi_batch.results import BudgetAmounts
from tests.engine.test_agent import DECLARATIONS, Talk, cut, echo

PROMPT = UserMessage((TextBlock("go"),))


def conversation(*history: Message, **fields: Any) -> RecordedConversation:
    values: dict[str, Any] = {
        "recorded": (),
        "system": "Be brief.",
        "declarations": DECLARATIONS,
        "model": "fake/m",
        "attempt": 1,
        "unanswered": (),
    }
    ids = tuple(f"{index:08x}" for index in range(len(history)))
    return RecordedConversation(history=history, entry_ids=ids, **{**values, **fields})


def result(call_id: str, text: str = "same", *more: str) -> ToolResultMessage:
    return ToolResultMessage(call_id, "echo", (TextBlock(text), *map(TextBlock, more)))


def sent(talk: Talk, request: int = 0) -> list[str]:
    """What a request held, message by message: its role and text."""
    return [f"{message.role}: {_text(message)}" for message in talk.provider.requests[request].messages]


def _text(message: Message) -> str:
    blocks: Sequence[Any] = () if isinstance(message.content, str) else message.content
    return " ".join(block.text for block in blocks if isinstance(block, TextBlock))


async def test_it_goes_on_from_the_last_whole_message() -> None:
    talk = Talk(says("done"))
    talk.agent.restore(conversation(PROMPT, calls(echo("c1")), result("c1")), "")
    outcome = await talk.agent.run(None, 1)
    assert (outcome.stop, outcome.answer) == ("completed", "done")
    assert sent(talk) == ["user: go", "assistant: ", "tool_result: same"]
    assert [event.turn for event in talk.of(TurnStart)] == [2]
    assert talk.of(AgentStart) == [AgentStart(1)]


async def test_a_call_without_a_result_is_not_run_again() -> None:
    talk = Talk(says("done"))
    talk.agent.restore(conversation(PROMPT, calls(echo("c1"), echo("c2")), result("c1")), "")
    await talk.agent.run(None, 1)
    (lost,) = talk.results()
    assert (lost.tool_call_id, lost.is_error, lost.error_kind, lost.text) == ("c2", True, "failed", LOST_CALL)
    assert [event.tool_call_id for event in talk.of(ToolExecutionStart)] == ["c2"]
    assert [event.error_kind for event in talk.of(ToolExecutionEnd)] == ["failed"]
    assert talk.ledger.tool_calls == 1, "it may have run: it counts"


async def test_a_call_that_is_known_to_have_ended_is_told_apart_and_counted_once() -> None:
    talk = Talk(says("done"))
    talk.agent.restore(conversation(PROMPT, calls(echo("c1"))), "", ended_calls={"c1"})
    await talk.agent.run(None, 1)
    assert [one.text for one in talk.results()] == [LOST_RESULT]
    assert talk.of(ToolExecutionEnd) == []
    assert talk.ledger.tool_calls == 0


async def test_a_final_reply_that_was_recorded_is_not_asked_for_again() -> None:
    talk = Talk()
    talk.agent.restore(conversation(PROMPT, says("done")), "")
    outcome = await talk.agent.run(None, 1)
    assert (outcome.stop, outcome.answer) == ("completed", "done")
    assert talk.provider.requests == []


async def test_a_cut_reply_that_was_recorded_is_answered_as_such() -> None:
    talk = Talk(says("done"))
    talk.agent.restore(conversation(PROMPT, cut(echo("c1"))), "")
    await talk.agent.run(None, 1)
    assert [one.error_kind for one in talk.results()] == ["not_run"]
    assert "cut off" in talk.results()[0].text


async def test_cut_replies_in_a_row_are_counted_on() -> None:
    talk = Talk(cut(echo("c3")))
    history = (PROMPT, cut(echo("c1")), result("c1"), cut(echo("c2")), result("c2"))
    talk.agent.restore(conversation(*history), "")
    outcome = await talk.agent.run(None, 1)
    assert outcome.stop == "model_error"
    assert outcome.error is not None
    assert outcome.error.kind == "length"


async def test_the_note_is_said_once_before_the_next_request() -> None:
    talk = Talk(calls(echo("c2")), says("done"))
    talk.agent.restore(conversation(PROMPT, calls(echo("c1")), result("c1")), "[it goes on]")
    await talk.agent.run(None, 1)
    assert sent(talk)[-1] == "user: [it goes on]"
    assert sum(line == "user: [it goes on]" for line in sent(talk, 1)) == 1


async def test_a_note_that_was_said_last_is_not_said_again() -> None:
    talk = Talk(says("done"))
    note = UserMessage((TextBlock("[it goes on]"),))
    talk.agent.restore(conversation(PROMPT, calls(echo("c1")), result("c1"), note), "[it goes on]")
    await talk.agent.run(None, 1)
    assert sent(talk).count("user: [it goes on]") == 1


async def test_a_new_prompt_comes_after_what_was_said_and_its_calls_are_closed_first() -> None:
    talk = Talk(says("done"))
    talk.agent.restore(conversation(PROMPT, calls(echo("c1"))), "[it goes on]")
    await talk.agent.run("more", 1)
    assert sent(talk) == [
        "user: go",
        "assistant: ",
        f"tool_result: {LOST_CALL}",
        "user: [it goes on]",
        "user: more",
    ]


async def test_a_new_prompt_after_a_final_reply_is_worked_on() -> None:
    talk = Talk(says("second"))
    talk.agent.restore(conversation(PROMPT, says("first")), "")
    outcome = await talk.agent.run("more", 2)
    assert outcome.answer == "second"
    assert talk.session.order[-4:] == ["attempt", "user", "request_start", "assistant"]


async def test_going_round_in_circles_is_noticed_over_legs() -> None:
    history: list[Message] = [PROMPT]
    for number in range(1, 5):
        notes = (warning("echo"),) if number == 3 else ()
        history += [calls(echo(f"c{number}", "x")), result(f"c{number}", "x", *notes)]
    talk = Talk(calls(echo("c5", "x")), is_endless=True)
    talk.agent.restore(conversation(*history), "")
    outcome = await talk.agent.run(None, 1)
    assert outcome.stop == "repeated_calls"
    assert len(talk.provider.requests) == 1


async def test_the_model_is_not_warned_twice_of_a_limit() -> None:
    talk = Talk(says("done"), limit=BudgetAmounts(turns=1))
    talk.agent.restore(conversation(PROMPT), "", warned={"turns"})
    await talk.agent.run(None, 1)
    assert sent(talk) == ["user: go"]


async def test_a_spent_budget_ends_it_without_a_request() -> None:
    talk = Talk(says("done"), limit=BudgetAmounts(turns=2))
    talk.ledger.turns = 2
    talk.agent.restore(conversation(PROMPT, calls(echo("c1"), text="half"), result("c1")), "")
    outcome = await talk.agent.run(None, 1)
    assert (outcome.stop, outcome.answer) == ("max_turns", "half")
    assert talk.provider.requests == []


async def test_the_last_reply_is_an_answer_also_when_an_earlier_process_got_it() -> None:
    talk = Talk(cut(echo("c2"), stop="content_filter"))
    talk.agent.restore(conversation(PROMPT, calls(echo("c1"), text="so far"), result("c1")), "")
    outcome = await talk.agent.run(None, 1)
    assert (outcome.stop, outcome.answer) == ("model_error", "so far")


def test_what_is_recorded_as_it_is_is_not_recorded_again() -> None:
    talk = Talk()
    before = list(talk.session.order)
    talk.agent.open(conversation(PROMPT))
    assert talk.session.order == before
    talk.agent.open(conversation(PROMPT, system="Other."))
    assert talk.session.order == [*before, "system"]
    talk.agent.open(conversation(PROMPT, declarations=()))
    assert talk.session.order == [*before, "system", "system"]
    talk.agent.open(conversation(PROMPT, model="other/m"))
    assert talk.session.order[-1] == "model fake/m"


async def test_every_message_that_is_added_is_told() -> None:
    talk = Talk(says("done"))
    talk.agent.restore(conversation(PROMPT, calls(echo("c1"))), "[note]")
    await talk.agent.run(None, 1)
    told = [event.role for event in talk.of(MessageEnd)]
    assert told == ["tool_result", "user", "assistant"]
    assert isinstance(talk.session.messages[-1], AssistantMessage)
