"""Log and ledger brought to where a session is."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from pi_batch.budget import Ledger
from pi_batch.engine.legs import TaskLeft, read_earlier
from pi_batch.engine.model_port import ModelPort
from pi_batch.engine.restoring import OpenRequest, RecordedConversation
from pi_batch.engine.taking_up import catch_up, keep_machine, kept_machine, numbered_outputs, outcome_left
from pi_batch.events import AgentEnd, Event, MessageEnd
from pi_batch.messages import Message, TextBlock, Usage, UserMessage
from pi_batch.providers.fake import Scripted, says
from pi_batch.results import BudgetAmounts
from tests.clocks import FakeClock
from tests.engine.test_agent_restored import PROMPT, conversation
from tests.streams import Stream

LEFT = read_earlier(Stream("a").start("a").records).tasks["a"]
REQUEST = OpenRequest(100, 50, 0.5)


class Desk:
    """A ledger in a suite, and what was told."""

    def __init__(self, *, is_priced: bool = True) -> None:
        self.suite = Ledger(BudgetAmounts(), FakeClock(), is_suite=True)
        self.ledger = Ledger(BudgetAmounts(), FakeClock(), self.suite)
        self.told: list[Any] = []
        cost = 0.25 if is_priced else None
        self.port = ModelPort(Scripted(()), "fake", "m", cost_usd=lambda _model, _usage: cost)

    def catch_up(self, left: TaskLeft, said: RecordedConversation) -> None:
        def emit(event: Event) -> None:
            self.told.append(event)

        catch_up(left, said, self.ledger, emit, self.port)


def recorded(*messages: tuple[str, Message]) -> RecordedConversation:
    return conversation(PROMPT, recorded=messages)


def test_messages_that_the_log_does_not_know_are_told_and_counted() -> None:
    desk = Desk()
    reply = replace(says("x"), usage=Usage(10, 5), cost_usd=0.125)
    desk.catch_up(replace(LEFT, entry_ids=frozenset({"01"})), recorded(("01", PROMPT), ("02", reply)))
    (event,) = desk.told
    assert (event.entry_id, event.role, event.model, event.usage) == (
        "02",
        "assistant",
        "fake/scripted",
        Usage(10, 5),
    )
    assert (desk.ledger.turns, desk.ledger.used.tokens, desk.ledger.cost_usd) == (1, 15, 0.125)
    assert (desk.suite.turns, desk.suite.used.tokens) == (1, 15)


def test_messages_that_the_log_knows_are_not_told_again() -> None:
    desk = Desk()
    said = recorded(("01", PROMPT), ("02", says("x")))
    desk.catch_up(replace(LEFT, entry_ids=frozenset({"01", "02"}), reply_ids=frozenset({"02"})), said)
    assert desk.told == []
    assert desk.ledger.turns == 0


def test_user_messages_cost_nothing() -> None:
    desk = Desk()
    desk.catch_up(LEFT, recorded(("01", UserMessage((TextBlock("go"),)))))
    assert desk.told == [MessageEnd("01", "user", message=UserMessage((TextBlock("go"),)))]
    assert desk.ledger.used == BudgetAmounts(0, 0, 0.0, 0.0, 0)


def test_a_request_without_a_reply_counts_as_it_was_reserved() -> None:
    desk = Desk()
    desk.catch_up(LEFT, conversation(PROMPT, unanswered=(REQUEST,)))
    assert desk.told == [MessageEnd("", "assistant", "", "aborted", Usage(100, 50), 0.5)]
    assert (desk.ledger.used.tokens, desk.ledger.cost_usd, desk.ledger.turns) == (150, 0.5, 0)


def test_one_whose_price_nobody_knows_makes_the_cost_unknown() -> None:
    desk = Desk(is_priced=False)
    desk.catch_up(LEFT, conversation(PROMPT, unanswered=(REQUEST,)))
    assert desk.ledger.cost_usd is None


@pytest.mark.parametrize(("known", "counted"), [(0, 2), (1, 1), (2, 0), (3, 0)])
def test_requests_that_the_log_knows_to_have_failed_were_counted(known: int, counted: int) -> None:
    desk = Desk()
    said = conversation(PROMPT, unanswered=(REQUEST, REQUEST))
    desk.catch_up(replace(LEFT, lost_replies=known), said)
    assert len(desk.told) == counted


def test_a_reply_that_the_log_knows_and_the_torn_session_lacks_was_counted() -> None:
    desk = Desk()
    left = replace(LEFT, entry_ids=frozenset({"02"}), reply_ids=frozenset({"02"}))
    desk.catch_up(left, conversation(PROMPT, unanswered=(REQUEST,)))
    assert desk.told == []


def test_the_agents_own_end_is_taken_up_for_the_attempt_that_is_to_be_judged() -> None:
    left = replace(LEFT, agent=AgentEnd(2, "max_turns", "half"))
    outcome = outcome_left(left, conversation(PROMPT, attempt=2))
    assert outcome is not None
    assert (outcome.stop, outcome.answer) == ("max_turns", "half")
    assert outcome_left(left, conversation(PROMPT, attempt=1)) is None
    assert outcome_left(LEFT, conversation(PROMPT)) is None


def test_files_in_outputs_are_numbered_on(tmp_path: Path) -> None:
    for name in ("c1-1.txt", "c1-2.txt", "call_x-7.json", "note.txt", "c2-3"):
        (tmp_path / name).touch()
    assert numbered_outputs(tmp_path) == {"c1": 2, "call_x": 7, "c2": 3}
    assert numbered_outputs(tmp_path / "nowhere") == {}


def test_what_decides_how_checks_run_is_kept_over_legs(tmp_path: Path) -> None:
    assert kept_machine(tmp_path) is None
    keep_machine(tmp_path, {})
    assert kept_machine(tmp_path) is None
    keep_machine(tmp_path, {"`pytest` on PATH": "/bin/pytest abc"})
    assert kept_machine(tmp_path) == {"`pytest` on PATH": "/bin/pytest abc"}
    (tmp_path / "machine.json").write_text("[]")
    assert kept_machine(tmp_path) is None
