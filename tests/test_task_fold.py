"""What one task spent, called and was refused."""

from __future__ import annotations

from typing import Any

import pytest

from pi_batch.events import AgentStart, CompactionEnd, MessageEnd, TurnEnd
from pi_batch.fold import fold
from pi_batch.messages import Usage
from pi_batch.results import BudgetAmounts, EffectiveValue, PermissionDenial, RunResult, SandboxReport
from pi_batch.task_fold import NOT_CARRIED_OUT, seconds_between
from tests.streams import Stream


def only(stream: Stream) -> RunResult:
    [result] = fold(stream.records).results
    return result


def answered(model: str, **fields: Any) -> MessageEnd:
    values: dict[str, Any] = {"stop_reason": "tool_use", "usage": Usage(1, 2, 3, 4, 1), "cost_usd": 0.5}
    return MessageEnd("00000001", "assistant", model, **(values | fields))


def test_usage_sums_replies_and_compaction() -> None:
    stream = Stream("a").start("a").add("a", answered("x/y"), answered("x/y"))
    stream.add("a", CompactionEnd(900, 100, Usage(input_tokens=10), 0.25)).end("a")
    result = only(stream)
    assert result.usage == Usage(12, 4, 6, 8, 2)
    assert result.cache_read_share == round(6 / 26, 4)
    assert (result.total_cost_usd, result.num_turns) == (1.25, 2)


def test_other_roles_neither_spend_nor_count_as_turns() -> None:
    stream = Stream("a").start("a").add("a", MessageEnd("1", "user"), MessageEnd("2", "tool_result")).end("a")
    result = only(stream)
    assert (result.num_turns, result.usage, result.total_cost_usd) == (0, Usage(), 0.0)
    assert result.cache_read_share is None


def test_one_answer_without_a_price_makes_the_cost_unknown_for_the_task_and_the_run() -> None:
    stream = Stream("a", "b").start("a").add("a", answered("x/y", cost_usd=None), answered("x/y")).end("a")
    batch = fold(stream.start("b").agent("b").end("b").finish().records)
    assert [result.total_cost_usd for result in batch.results] == [None, 0.25]
    assert batch.totals.total_cost_usd is None


def test_a_task_that_asked_nothing_cost_nothing() -> None:
    assert only(Stream("a").start("a").end("a", skip_reason="precheck passes")).total_cost_usd == 0.0


def test_a_request_that_failed_before_it_spent_anything_leaves_the_cost_known() -> None:
    failed = answered("x/y", stop_reason="error", usage=None, cost_usd=None)
    result = only(Stream("a").start("a").add("a", failed, answered("x/z")).end("a"))
    assert (result.total_cost_usd, result.num_turns, result.models_used) == (0.5, 1, ("x/z",))


def test_a_request_that_failed_after_it_spent_counts_as_spent() -> None:
    failed = answered("x/y", stop_reason="aborted", cost_usd=None)
    result = only(Stream("a").start("a").add("a", failed).end("a"))
    assert (result.total_cost_usd, result.usage.output_tokens, result.num_turns) == (None, 2, 0)


def test_a_failed_compaction_that_spent_nothing_leaves_the_cost_known() -> None:
    stream = Stream("a").start("a").add("a", CompactionEnd(9, 9, None, None, "network")).end("a")
    assert only(stream).total_cost_usd == 0.0


def test_models_are_listed_in_order_of_their_first_answer() -> None:
    stream = Stream("a").start("a").add("a", answered("x/b"), answered("x/a"), answered("x/b")).end("a")
    assert only(stream).models_used == ("x/b", "x/a")


def test_tool_calls_count_what_was_carried_out_errors_included() -> None:
    stream = Stream("a").start("a").call("a", "read").call("a", "bash", error_kind="failed")
    stream.call("a", "bash", error_kind="timeout").end("a")
    assert only(stream).tool_calls == {"bash": 2, "read": 1}


@pytest.mark.parametrize("kind", sorted(NOT_CARRIED_OUT))
def test_a_call_that_was_only_answered_is_not_counted(kind: Any) -> None:
    assert only(Stream("a").start("a").call("a", "bash", error_kind=kind).end("a")).tool_calls == {}


def test_inner_calls_are_counted_apart_from_tool_calls() -> None:
    stream = Stream("a").start("a").call("a", "codemode").call("a", "read", parent="call_1")
    stream.call("a", "read", parent="call_1", error_kind="denied").call("a", "grep", parent="call_1").end("a")
    result = only(stream)
    assert result.tool_calls == {"codemode": 1}
    assert (result.codemode.scripts, result.codemode.calls) == (1, 2)


def test_denials_are_listed_with_long_inputs_cut() -> None:
    content = {"path": "tests/a.py", "content": "x" * 1_000_000, "edits": [{"new": "y" * 9000}], "n": 1}
    denial = PermissionDenial("write", "call_1", content, "write.deny: tests/**")
    [kept] = only(
        Stream("a").start("a").call("a", "write", error_kind="denied", denial=denial).end("a")
    ).permission_denials
    assert (kept.tool, kept.rule, kept.input["path"], kept.input["n"]) == (
        "write",
        denial.rule,
        "tests/a.py",
        1,
    )
    assert len(str(kept.input)) < 5000
    assert "(1000000 characters)" in kept.input["content"]


def test_a_running_task_shows_what_its_last_turn_had_used() -> None:
    used = BudgetAmounts(turns=3, tokens=900, cost_usd=0.1)
    stream = Stream("a").start("a", limit=BudgetAmounts(turns=5)).add("a", TurnEnd(3, used))
    budget = only(stream).budget
    assert (budget.used, budget.limit.turns) == (used, 5)
    assert only(stream.end("a", used=BudgetAmounts(turns=4))).budget.used == BudgetAmounts(turns=4)


def test_workspace_settings_and_patch_reach_the_result() -> None:
    stream = Stream("a").start("a").agent("a")
    result = only(stream.end("a", patch="tasks/a/changes.patch", structured_output={"n": 1}))
    assert (result.session, result.base_commit) == ("tasks/a/session.jsonl", "b" * 40)
    assert (result.start_commit, result.sandbox) == ("c" * 40, SandboxReport("none"))
    assert (result.patch, result.structured_output) == ("tasks/a/changes.patch", {"n": 1})
    assert (result.duration_s, result.working_s) == (10.0, 9.0)
    settings: dict[str, EffectiveValue] = {}
    assert result.settings == settings


def test_the_stop_is_that_of_the_last_attempt_and_none_while_it_runs() -> None:
    stream = Stream("a").start("a").agent("a", "max_turns")
    assert only(stream).stop == "max_turns"
    assert only(stream.add("a", AgentStart(2))).stop is None


def test_a_skipped_task_has_no_stop() -> None:
    assert only(Stream("a").start("a").end("a", skip_reason="precheck passes")).stop is None


def test_the_last_answer_stays_when_a_later_attempt_gives_none() -> None:
    stream = Stream("a").start("a").agent("a", answer="first")
    assert only(stream.agent("a", "max_turns", attempt=2, answer=None).end("a")).answer == "first"


@pytest.mark.parametrize(
    ("first", "last", "expected"),
    [
        ("2026-01-01T00:00:00.000Z", "2026-01-01T00:01:00.500Z", 60.5),
        ("2026-01-01T00:01:00.000Z", "2026-01-01T00:00:00.000Z", 0.0),
        ("", "2026-01-01T00:00:00.000Z", 0.0),
        ("yesterday", "today", 0.0),
        ("2026-01-01T00:00:00", "2026-01-01T00:00:09Z", 0.0),
    ],
)
def test_seconds_between_two_times_are_never_negative(first: str, last: str, expected: float) -> None:
    assert seconds_between(first, last) == expected


DENIED = PermissionDenial("bash", "c", {"command": "git push"}, "permissions.bash.deny: git push*")


@pytest.mark.parametrize(
    ("later", "outcome"),
    [
        ((), "failed"),
        ((("read", None),), "failed"),
        ((("bash", "failed"),), "failed"),
        ((("bash", None),), "passed"),
    ],
)
def test_without_checks_what_was_denied_and_not_done_otherwise_is_no_success(
    later: tuple[tuple[str, Any], ...], outcome: str
) -> None:
    stream = Stream("a").start("a").call("a", "bash", error_kind="denied", denial=DENIED)
    for tool, error_kind in later:
        stream.call("a", tool, error_kind=error_kind)
    result = only(stream.agent("a", answer="pushed").end("a"))
    assert result.outcome == outcome
    assert ("denied by permissions.bash.deny: git push*" in result.reason) == (outcome == "failed")


def test_a_denied_edit_is_made_up_for_by_a_write_and_checks_decide_all_the_same() -> None:
    denial = PermissionDenial("edit", "c", {"path": "tests/a"}, "permissions.write.deny: tests/**")
    stream = Stream("a").start("a").call("a", "edit", error_kind="denied", denial=denial).call("a", "write")
    assert only(stream.agent("a", answer="done").end("a")).outcome == "passed"
    checked = Stream("a").start("a", has_checks=True).call("a", "edit", error_kind="denied", denial=denial)
    assert only(checked.agent("a").check("a").end("a")).outcome == "passed"
