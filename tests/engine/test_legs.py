"""What the log says of earlier legs, and what is done with it."""

from __future__ import annotations

from typing import Any

import pytest

from pi_batch.engine.legs import TaskLeft, choose, everything, read_earlier
from pi_batch.events import (
    AgentEnd,
    AgentStart,
    BatchEnd,
    BatchStart,
    BudgetWarning,
    Event,
    MessageEnd,
    TaskEnd,
    TaskStart,
    ToolExecutionEnd,
    ToolExecutionStart,
)
from pi_batch.messages import Usage
from pi_batch.results import BudgetAmounts, RunError
from pi_batch.spec import Plan, SuiteBudgetSpec
from tests.engine.tasks import planned as planned_task
from tests.streams import STARTED_AT, Stream, planned

NO_LIMIT = BudgetAmounts()


def again(*keys: str) -> BatchStart:
    return BatchStart("run-1", STARTED_AT, "0.1.0", tuple(planned(key) for key in keys), leg=2)


def start(*, is_rerun: bool = False) -> TaskStart:
    return TaskStart(STARTED_AT, NO_LIMIT, {}, False, is_rerun)


def lost() -> MessageEnd:
    return MessageEnd("", "assistant", "", "aborted", Usage(10, 20), 0.5)


def left_of(stream: Stream, key: str = "a") -> TaskLeft:
    return read_earlier(stream.records).tasks[key]


def with_error(kind: Any) -> Stream:
    return Stream("a").start("a").reply("a").end("a", error=RunError(kind, "x"))


def test_a_finished_task_stays_and_one_that_never_began_begins() -> None:
    stream = Stream("a", "b").start("a").agent("a").end("a")
    assert choose(["a", "b"], read_earlier(stream.records)) == {"b": "begin"}


def test_a_task_without_an_end_goes_on() -> None:
    stream = Stream("a").start("a").reply("a")
    assert choose(["a"], read_earlier(stream.records)) == {"a": "go_on"}


@pytest.mark.parametrize("kind", ["cancelled", "internal"])
def test_a_task_that_a_signal_or_a_full_disk_ended_goes_on(kind: str) -> None:
    assert choose(["a"], read_earlier(with_error(kind).records)) == {"a": "go_on"}


@pytest.mark.parametrize("kind", ["network", "auth", "setup", "workspace"])
def test_other_errors_stay_unless_they_are_asked_for(kind: str) -> None:
    earlier = read_earlier(with_error(kind).records)
    assert choose(["a"], earlier) == {}
    assert choose(["a"], earlier, rerun=["failed"]) == {}
    assert choose(["a"], earlier, rerun=["error"]) == {"a": "rerun"}


def test_rerun_names_outcomes_and_all_means_all() -> None:
    stream = Stream("a", "b", "c")
    stream.start("a", has_checks=True).agent("a").check("a", passed=False).end("a")
    stream.start("b").agent("b").end("b")
    stream.start("c").end("c", skip_reason="nothing to do")
    earlier = read_earlier(stream.records)
    assert choose("abc", earlier, rerun=["failed"]) == {"a": "rerun"}
    assert choose("abc", earlier, rerun=["all"]) == {"a": "rerun", "b": "rerun", "c": "rerun"}


def test_what_the_suites_budget_kept_from_beginning_begins_now() -> None:
    stream = Stream("a").add("a", start()).end("a", skip_reason="not started", is_starved=True)
    assert choose(["a"], read_earlier(stream.records)) == {"a": "begin"}


def test_reverify_takes_only_what_was_judged() -> None:
    stream = Stream("a", "b", "c", "d")
    stream.start("a", has_checks=True).agent("a").check("a").end("a")
    stream.start("b").end("b", skip_reason="nothing to do")
    stream.start("c", has_checks=True).agent("c")
    assert choose("abcd", read_earlier(stream.records), is_reverify=True) == {"a": "reverify"}


def test_spending_is_that_of_all_legs_since_the_last_fresh_start() -> None:
    stream = Stream("a").start("a").reply("a", cost_usd=0.25)
    stream.add(None, again("a")).add("a", start()).reply("a", cost_usd=0.5)
    assert left_of(stream).spent.cost_usd == 0.75
    assert left_of(stream).spent.turns == 2
    stream.add(None, again("a")).add("a", start(is_rerun=True)).reply("a", cost_usd=0.125)
    assert (left_of(stream).spent.turns, left_of(stream).spent.cost_usd) == (1, 0.125)


def test_the_suite_has_spent_what_all_trials_did() -> None:
    stream = Stream("a", "b").start("a").reply("a", cost_usd=0.25).start("b").reply("b", cost_usd=0.5)
    stream.add(None, again("a", "b")).add("a", start(is_rerun=True)).reply("a", cost_usd=0.125)
    spent = read_earlier(stream.records).spent
    assert (spent.turns, spent.cost_usd, spent.known_cost_usd) == (3, 0.875, 0.875)


def test_an_unknown_price_stays_unknown_and_the_known_part_is_kept() -> None:
    stream = Stream("a", "b").start("a").reply("a", cost_usd=None).start("b").reply("b", cost_usd=0.5)
    spent = read_earlier(stream.records).spent
    assert (spent.cost_usd, spent.known_cost_usd) == (None, 0.5)


def test_calls_count_with_inner_ones_and_without_refused_ones() -> None:
    stream = Stream("a").start("a").call("a", "bash").call("a", "read", parent="x")
    stream.call("a", "bash", error_kind="denied")
    assert left_of(stream).spent.tool_calls == 2


def test_wall_time_is_the_agents_and_an_open_attempt_counts_to_the_last_event() -> None:
    stream = Stream("a").start("a")  # one second an event
    stream.add("a", AgentStart(1)).reply("a").add("a", AgentEnd(1, "completed", "x"))
    assert left_of(stream).wall_s == 5
    stream.add(None, BatchEnd("interrupted", 9.0, 143), again("a")).add("a", start(), AgentStart(2))
    stream.reply("a")
    assert left_of(stream).wall_s == 5 + 4


def test_time_between_legs_is_nobodys() -> None:
    stream = Stream("a").start("a").add("a", AgentStart(1)).reply("a")
    before_s = left_of(stream).wall_s
    stream.add(None, *[BatchEnd("interrupted", 9.0)] * 50, again("a"))
    assert left_of(stream).wall_s == before_s


def test_requests_that_came_to_nothing_are_counted_for_the_last_leg() -> None:
    stream = Stream("a").start("a").add("a", lost(), lost())
    assert left_of(stream).lost_replies == 2
    stream.start("a").add("a", lost())
    assert left_of(stream).lost_replies == 1


def test_messages_are_known_over_all_trials() -> None:
    stream = Stream("a").start("a").reply("a", turn=1)
    stream.add("a", start(is_rerun=True)).reply("a", turn=2)
    assert left_of(stream).entry_ids == {"00000001", "00000002"}
    assert left_of(stream).reply_ids == {"00000002"}
    assert left_of(stream.start("a").reply("a", turn=3)).reply_ids == {"00000003"}


def test_calls_that_came_to_their_end_are_those_of_the_last_reply() -> None:
    stream = Stream("a").start("a").reply("a", turn=1)
    stream.add("a", ToolExecutionEnd("c1", "bash", is_error=False))
    assert left_of(stream).ended_calls == {"c1"}
    stream.reply("a", turn=2).add("a", ToolExecutionStart("c1", "bash"))
    assert left_of(stream).ended_calls == frozenset()


@pytest.mark.parametrize(
    ("event", "is_known"),
    [
        (AgentEnd(1, "completed", "x"), True),
        (AgentEnd(1, "max_turns", "x"), True),
        (AgentEnd(1, "model_error", None, RunError("length", "cut")), True),
        (AgentEnd(1, "model_error", None, RunError("network", "gone")), False),
        (AgentEnd(1, "cancelled", None), False),
    ],
)
def test_an_agent_ended_by_itself_or_is_to_go_on(event: AgentEnd, is_known: bool) -> None:
    stream = Stream("a").start("a").add("a", AgentStart(1), event)
    assert (left_of(stream).agent is not None) == is_known
    assert left_of(stream.add("a", AgentStart(2))).agent is None


def test_what_the_model_was_warned_of_is_remembered() -> None:
    stream = Stream("a").start("a").add("a", BudgetWarning("turns", "last turn"))
    assert left_of(stream).warned == {"turns"}


def test_the_result_of_a_task_that_is_gone_on_with_keeps_its_start() -> None:
    left = left_of(Stream("a").start("a").reply("a"))
    assert (left.result.start_commit, left.is_open, left.is_starved) == ("c" * 40, True, False)


def test_a_run_that_begins_now_does_everything() -> None:
    plan = Plan((planned_task("a"), planned_task("b")), SuiteBudgetSpec())
    work = everything(plan)
    assert work.modes == {"a": "begin", "b": "begin"}
    assert (work.mode("a"), work.mode("nobody"), work.earlier.fold.legs) == ("begin", None, 0)
    assert work.earlier.spent.turns == 0


def test_other_events_of_the_log_change_nothing() -> None:
    events: list[Event] = [TaskEnd(1.0, 1.0, NO_LIMIT)]
    stream = Stream("a").start("a").add("a", *events)
    assert not left_of(stream).is_open
