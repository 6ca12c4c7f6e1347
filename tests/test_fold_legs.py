"""A run over several legs folds to one result, live and from its log alike."""

from __future__ import annotations

from pi_batch.event_log import decode_record, encode_record
from pi_batch.events import BatchEnd, BatchStart, TaskStart
from pi_batch.fold import Fold, fold
from pi_batch.results import BatchResult, BudgetAmounts
from tests.streams import STARTED_AT, Stream, planned

NO_LIMIT = BudgetAmounts()


def again(*keys: str, leg: int = 2) -> BatchStart:
    return BatchStart("run-1", STARTED_AT, "0.1.0", tuple(planned(key) for key in keys), leg=leg)


def start(*, is_rerun: bool = False) -> TaskStart:
    return TaskStart(STARTED_AT, NO_LIMIT, {}, has_checks=True, is_rerun=is_rerun)


def read_back(stream: Stream) -> BatchResult:
    lines = [encode_record(record, live=False) for record in stream.records]
    return fold(map(decode_record, lines))


def test_legs_are_counted_and_a_run_of_one_leg_has_one() -> None:
    stream = Stream("a").start("a").agent("a").end("a").finish()
    assert fold(stream.records).legs == 1
    stream.add(None, again("a"), BatchEnd("complete", 3.0))
    assert fold(stream.records).legs == 2
    assert read_back(stream) == fold(stream.records)


def test_durations_are_sums_of_the_legs_and_not_of_the_time_between() -> None:
    stream = Stream("a").start("a").end("a").finish()  # 60 s by its own word
    stream.add(None, *[again("a")], BatchEnd("complete", 5.0))
    assert fold(stream.records).duration_s == 65.0


def test_a_killed_leg_took_until_its_last_event() -> None:
    stream = Stream("a").start("a").reply("a")  # events a second apart: 1 to 7
    stream.add(None, again("a"), BatchEnd("complete", 5.0))
    assert fold(stream.records).duration_s == 6.0 + 5.0


def test_a_tasks_durations_are_sums_of_its_starts() -> None:
    stream = Stream("a").start("a").agent("a").end("a", duration_s=10.0, working_s=9.0)
    stream.add(None, again("a")).add("a", start()).agent("a").end("a", duration_s=4.0, working_s=3.0)
    (result,) = fold(stream.records).results
    assert (result.duration_s, result.working_s) == (14.0, 12.0)
    assert result.num_turns == 2


def test_a_task_that_went_on_keeps_its_verdict_from_the_last_leg() -> None:
    stream = Stream("a").start("a", has_checks=True).agent("a").check("a", passed=False)
    stream.add(None, again("a")).add("a", start()).check("a").end("a")
    (result,) = fold(stream.records).results
    assert (result.outcome, result.attempts, len(result.verification)) == ("passed", 1, 1)


def test_a_rerun_is_judged_anew_and_its_sums_go_on() -> None:
    stream = Stream("a").start("a", has_checks=True).agent("a", answer="old").check("a", passed=False)
    stream.call("a", "bash").end("a")
    stream.add(None, again("a")).add("a", start(is_rerun=True)).agent("a", answer="new").check("a").end("a")
    result = read_back(stream)
    assert result == fold(stream.records)
    (task,) = result.results
    assert (task.outcome, task.answer, task.attempts, len(task.verification)) == ("passed", "new", 1, 1)
    assert (task.num_turns, task.total_cost_usd, task.tool_calls) == (2, 0.5, {"bash": 1})
    assert task.duration_s == 20.0
    assert result.totals.num_turns == 2


def test_a_rerun_that_is_cut_is_no_pass_though_the_first_trial_was() -> None:
    stream = Stream("a").start("a", has_checks=True).agent("a").check("a").end("a").finish()
    assert fold(stream.records).results[0].outcome == "passed"
    stream.add(None, again("a")).add("a", start(is_rerun=True)).reply("a")
    assert fold(stream.records).results[0].outcome == "error"


def test_a_log_that_ends_early_is_running_or_interrupted_as_the_reader_knows() -> None:
    stream = Stream("a", "b").start("a").agent("a").end("a")
    assert fold(stream.records).status == "running"
    cut = fold(stream.records, is_over=True)
    assert (cut.status, cut.exit_code, cut.totals.missing) == ("interrupted", 3, 1)
    whole = stream.start("b").agent("b").end("b").finish()
    assert fold(whole.records, is_over=True).status == "complete"


def test_a_task_in_a_cut_log_was_interrupted() -> None:
    stream = Stream("a").start("a").reply("a")
    (result,) = fold(stream.records, is_over=True).results
    assert result.error is not None
    assert result.error.kind == "cancelled"


def test_what_a_later_leg_plans_counts_and_what_was_begun_stays() -> None:
    stream = Stream("a", "b", "c").start("a").agent("a").end("a")
    stream.add(None, again("b", "d"))
    result = fold(stream.records)
    assert [one.key for one in result.planned] == ["b", "d", "a"]
    assert (result.totals.planned, result.totals.missing) == (3, 2)


def test_a_fold_goes_on_where_it_was() -> None:
    stream = Stream("a").start("a").reply("a")
    state = Fold()
    for record in stream.records:
        state.feed(record)
    assert (state.legs, state.last_seq) == (1, len(stream.records))
