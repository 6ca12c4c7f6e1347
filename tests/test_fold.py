"""A run's results out of its events, whole, cut short, doubled or unknown."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from pi_batch.event_log import decode_record, encode_record, is_live_only
from pi_batch.events import BatchStart, MessageUpdate, Record, TaskEnd, UnknownEvent, Warned
from pi_batch.fold import Fold, fold
from pi_batch.messages import Usage
from pi_batch.results import BatchResult, Totals
from tests.streams import LIVE_ONLY, STARTED_AT, Stream, planned, streams


def three_tasks() -> Stream:
    """One passes, one fails, one is skipped."""
    stream = Stream("a", "b", "c")
    stream.start("a", has_checks=True).agent("a").check("a").end("a")
    stream.start("b", has_checks=True).agent("b").check("b", passed=False).end("b")
    stream.start("c").end("c", skip_reason="precheck passes")
    return stream.finish()


def outcomes(batch: BatchResult) -> dict[str, str]:
    return {result.key: result.outcome for result in batch.results}


def test_a_whole_run_has_one_result_per_planned_key_in_the_plans_order() -> None:
    batch = fold(three_tasks().records)
    assert outcomes(batch) == {"a": "passed", "b": "failed", "c": "skipped"}
    assert [item.key for item in batch.planned] == [result.key for result in batch.results]
    assert (batch.status, batch.exit_code, batch.run_id, batch.duration_s) == ("complete", 1, "run-1", 60.0)


def test_totals_count_outcomes_and_sum_what_was_spent() -> None:
    assert fold(three_tasks().records).totals == Totals(
        planned=3,
        passed=1,
        failed=1,
        skipped=1,
        scored=2,
        num_turns=2,
        usage=Usage(input_tokens=200, output_tokens=40),
        total_cost_usd=0.5,
    )


def test_the_results_of_parallel_tasks_stay_in_the_plans_order() -> None:
    stream = Stream("a", "b").start("b").start("a").agent("b").agent("a").end("b").end("a").finish()
    assert list(outcomes(fold(stream.records))) == ["a", "b"]


def test_identity_comes_from_the_plan() -> None:
    plan = planned("k", inputs={"n": 1}, repeat=2, tags=("x",), suite="nightly", spec="s.yaml", title="T")
    batch = fold(Stream(plan).start("k").agent("k").end("k").finish().records)
    [result] = batch.results
    assert (result.inputs, result.repeat, result.tags) == ({"n": 1}, 2, ("x",))
    assert (result.suite, result.spec, result.title, result.model) == ("nightly", "s.yaml", "T", plan.model)


def test_a_run_without_an_end_is_running_and_what_has_not_begun_is_missing() -> None:
    batch = fold(Stream("a", "b", "c").start("a").agent("a").end("a").records)
    assert (batch.status, batch.totals.missing, batch.exit_code) == ("running", 2, 3)
    assert outcomes(batch) == {"a": "passed"}


def test_a_complete_run_with_a_missing_result_exits_3() -> None:
    batch = fold(Stream("a", "b").start("a").agent("a").end("a").finish().records)
    assert (batch.totals.missing, batch.exit_code) == (1, 3)


def test_an_empty_shard_exits_0() -> None:
    batch = fold(Stream().finish().records)
    assert (batch.exit_code, batch.totals, batch.results) == (0, Totals(), ())


def test_no_record_at_all_is_a_running_batch_of_nothing() -> None:
    batch = fold([])
    assert (batch.status, batch.run_id, batch.results, batch.duration_s) == ("running", "", (), 0.0)


def test_a_task_that_the_log_leaves_open_is_an_error_with_all_that_was_seen() -> None:
    stream = Stream("a").start("a", has_checks=True).agent("a").check("a")
    [result] = fold(stream.records).results
    assert (result.outcome, result.verified) == ("error", False)
    assert result.error is not None
    assert (result.error.kind, result.reason) == ("internal", "the log ends before the task did")
    assert (result.num_turns, result.answer, len(result.verification)) == (1, "done", 1)
    assert result.duration_s == 10.0


@pytest.mark.parametrize("code", [130, 143])
def test_an_interrupted_run_has_the_signals_exit_code_and_cancelled_tasks(code: int) -> None:
    batch = fold(Stream("a", "b").start("a").agent("a").finish(code).records)
    [result] = batch.results
    assert (batch.exit_code, batch.status, batch.totals.missing) == (code, "interrupted", 1)
    assert result.error is not None
    assert result.error.kind == "cancelled"


def test_a_result_made_before_the_interruption_is_made_again_after_it() -> None:
    stream = Stream("a").start("a").agent("a")
    state = Fold()
    for record in stream.records:
        state.feed(record)
    assert state.result().results[0].reason == "the log ends before the task did"
    state.feed(stream.finish(130).records[-1])
    assert state.result() == fold(stream.records)


def test_only_the_last_attempt_decides() -> None:
    stream = Stream("a").start("a", has_checks=True)
    stream.agent("a", attempt=1).check("a", passed=False, attempt=1)
    stream.agent("a", attempt=2).check("a", attempt=2).end("a").finish()
    [result] = fold(stream.records).results
    assert (result.outcome, result.verified, result.attempts) == ("passed", True, 2)
    assert [check.passed for check in result.verification] == [False, True]


def test_a_green_first_attempt_does_not_carry_a_second_one_that_was_never_judged() -> None:
    stream = Stream("a").start("a", has_checks=True)
    stream.agent("a", attempt=1).check("a", attempt=1).agent("a", attempt=2).end("a").finish()
    [result] = fold(stream.records).results
    assert (result.outcome, result.attempts) == ("error", 1)


def test_an_attempt_whose_checks_did_not_all_end_decides_nothing() -> None:
    stream = Stream("a").start("a", has_checks=True).agent("a").check("a", "one").check("a", "two")
    unfinished = [*stream.records[:-1], *replace_seq(stream.end("a").records[-1:], len(stream.records) - 2)]
    [result] = fold(unfinished).results
    assert (result.outcome, result.attempts, len(result.verification)) == ("error", 1, 1)


def replace_seq(records: list[Record], last: int) -> list[Record]:
    return [replace(record, seq=last + number) for number, record in enumerate(records, start=1)]


def test_two_checks_of_one_name_are_two_checks() -> None:
    stream = Stream("a").start("a", has_checks=True).agent("a")
    stream.check("a", "sh", passed=False).check("a", "sh", passed=True).end("a").finish()
    [result] = fold(stream.records).results
    assert (result.outcome, len(result.verification)) == ("failed", 2)


def test_setup_and_precheck_are_no_checks() -> None:
    stream = Stream("a").start("a").check("a").agent("a").end("a").finish()
    as_setup = [
        replace(record, event=replace(record.event, phase="setup"))
        if record.event.type.startswith("verification")
        else record
        for record in stream.records
    ]
    [result] = fold(as_setup).results
    assert (result.outcome, result.verified, result.verification) == ("passed", False, ())


def test_a_resumed_task_goes_on_with_what_it_had_spent() -> None:
    stream = Stream("a").start("a", has_checks=True).agent("a").check("a", passed=False).finish(143)
    stream.add(None, BatchStart("run-1", STARTED_AT, "0.1.0", (planned("a"),)))
    stream.start("a", has_checks=True).check("a", passed=True).end("a").finish()
    batch = fold(stream.records)
    [result] = batch.results
    assert (batch.status, batch.exit_code) == ("complete", 0)
    assert (result.outcome, result.num_turns, result.attempts) == ("passed", 1, 1)
    assert [check.passed for check in result.verification] == [True]
    assert result.total_cost_usd == 0.25


def test_a_task_that_starts_again_after_its_end_is_open_until_it_ends_again() -> None:
    stream = Stream("a").start("a").agent("a").end("a").start("a")
    assert outcomes(fold(stream.records)) == {"a": "error"}


def test_a_doubled_record_changes_nothing() -> None:
    records = three_tasks().records
    doubled = [record for record in records for _ in range(2)]
    assert fold(doubled) == fold(records)
    assert fold(records + records) == fold(records)


def test_unknown_and_live_only_events_change_nothing() -> None:
    records = three_tasks().records
    noise = [
        Record(None, "9999-01-01T00:00:00Z", "a", MessageUpdate("text", "x")),
        Record(None, "9999-01-01T00:00:00Z", "new", UnknownEvent("tea_break", {"minutes": 5})),
    ]
    mixed = [item for record in records for item in (record, *noise)]
    assert fold(mixed) == fold(records)


def test_a_key_that_no_plan_named_keeps_its_result() -> None:
    stream = Stream("a").start("a").agent("a").end("a").start("stray").agent("stray").end("stray").finish()
    batch = fold(stream.records)
    assert outcomes(batch) == {"a": "passed", "stray": "passed"}
    assert batch.totals.planned == 2
    assert batch.totals.missing == 0


def test_a_record_without_a_key_that_needs_one_is_passed_over() -> None:
    stray = Record(99, STARTED_AT, None, three_tasks().records[1].event)
    assert fold([*three_tasks().records, stray]) == fold(three_tasks().records)


def test_an_end_without_a_start_is_how_a_starved_task_looks() -> None:
    stream = Stream("a", "b").start("a").agent("a").end("a")
    stream.end("b", skip_reason="budget.cost_usd of the suite is used up", is_starved=True).finish()
    batch = fold(stream.records)
    assert (outcomes(batch)["b"], batch.exit_code) == ("skipped", 1)
    assert batch.results[1].started_at is None
    assert batch.results[1].attempts == 0


def test_an_error_outranks_a_failure() -> None:
    stream = Stream("a", "b").start("a", has_checks=True).agent("a").check("a", passed=False).end("a")
    assert fold(stream.start("b").end("b").finish().records).exit_code == 3


def test_warnings_go_to_their_task_or_to_the_run() -> None:
    stream = Stream("a").add(None, Warned("no sandbox")).start("a").add("a", Warned("recording differs"))
    batch = fold(stream.agent("a").end("a").finish().records)
    assert batch.warnings == ("no sandbox",)
    assert batch.results[0].warnings == ("recording differs",)


def test_one_task_can_be_asked_for_while_it_runs() -> None:
    state = Fold()
    for record in Stream("a").start("a").reply("a").records:
        state.feed(record)
    result = state.task_result("a")
    assert result is not None
    assert (result.num_turns, result.budget.limit.turns, result.total_cost_usd) == (1, 50, 0.25)
    assert state.task_result("b") is None


# --- properties -----------------------------------------------------------------------------------


@given(streams())
def test_folding_step_by_step_gives_what_folding_at_once_gives(records: list[Record]) -> None:
    state = Fold()
    for record in records:
        state.feed(record)
        state.result()
    assert state.result() == fold(records)


@given(streams())
def test_a_replayed_log_folds_to_what_the_live_stream_folded_to(records: list[Record]) -> None:
    lines = [encode_record(record, live=False) for record in records if not is_live_only(record.event)]
    assert fold(decode_record(line) for line in lines) == fold(records)


@given(streams())
def test_live_only_records_are_not_needed(records: list[Record]) -> None:
    assert fold(record for record in records if not isinstance(record.event, LIVE_ONLY)) == fold(records)


@given(streams(), st.data())
def test_a_log_cut_anywhere_never_passes_an_unfinished_task(
    records: list[Record], data: st.DataObject
) -> None:
    cut = records[: data.draw(st.integers(0, len(records)))]
    batch = fold(cut)
    ended = {record.key for record in cut if isinstance(record.event, TaskEnd)}
    for result in batch.results:
        assert result.key in ended or result.outcome == "error"
    if len(cut) < len(records):
        assert batch.status == "running"


@given(streams())
def test_totals_agree_with_the_results_and_nothing_is_lost(records: list[Record]) -> None:
    batch = fold(records)
    totals = batch.totals
    assert totals.passed + totals.failed + totals.error + totals.skipped == len(batch.results)
    assert totals.planned == len(batch.planned) == len(batch.results) + totals.missing
    assert totals.unverified == sum(r.outcome == "passed" and not r.verified for r in batch.results)
    for result in batch.results:
        assert result.reason.strip()
        assert "\n" not in result.reason
        assert not result.verified or result.outcome == "passed"
        assert (result.outcome == "error") <= (result.error is not None)
