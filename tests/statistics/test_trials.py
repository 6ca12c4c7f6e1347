"""Results as trials: what is scored, what is missing, and what is the same task."""

from __future__ import annotations

import pytest

from pi_batch.errors import ErrorKind
from pi_batch.fold import fold
from pi_batch.results import BatchResult, RunError
from pi_batch.statistics.trials import (
    TaskKey,
    entrants_of,
    tally,
    tally_of_all,
    task_labels,
    with_names,
)
from tests.reports.batches import one_of_everything
from tests.statistics.making import entrant, single
from tests.streams import Stream, planned


def batch_of(stream: Stream) -> BatchResult:
    return fold(stream.finish().records)


def test_every_planned_result_is_a_trial_of_its_model() -> None:
    batch = one_of_everything()
    found = entrants_of(batch, "out")
    assert [one.model for one in found] == ["anthropic/claude-sonnet-5", "openai/gpt-6"]
    assert sum(len(one.trials) for one in found) == len(batch.planned)
    states = {trial.task.id: trial.state for trial in found[0].trials}
    assert states == {
        "green": "passed",
        "red": "failed",
        "twice": "passed",
        "prose": "passed",
        "limit": "failed",
        "cut": "failed",
        "setup": "error",
        "skipped": "skipped",
        "starved": "missing",
        "never": "missing",
    }


def test_a_trial_has_what_it_took() -> None:
    stream = Stream("a").start("a", has_checks=True).agent("a").check("a").end("a")
    (trial,) = entrants_of(batch_of(stream), "out")[0].trials
    assert (trial.cost_usd, trial.tokens, trial.turns) == (0.25, 120, 1)
    assert (trial.digest, trial.repeat, trial.is_scored, trial.has_run) == ("0" * 64, 1, True, True)


@pytest.mark.parametrize(
    "kind", ["auth", "rate_limit", "sandbox_unavailable", "setup", "verification", "internal"]
)
def test_what_broke_around_the_model_is_not_scored_and_stays_in_the_other_denominator(
    kind: ErrorKind,
) -> None:
    stream = Stream("a", "b").start("a").agent("a").end("a")
    stream.start("b").end("b", error=RunError(kind, "broken"))
    trials = entrants_of(batch_of(stream), "out")[0].trials
    assert (tally(trials).passes, tally(trials).trials) == (1, 1)
    assert (tally_of_all(trials).passes, tally_of_all(trials).trials) == (1, 2)
    assert [trial.has_run for trial in trials] == [True, True]


def test_a_run_that_ended_early_has_missing_trials() -> None:
    stream = Stream("a", "b", "c").start("a").agent("a").end("a").start("b")
    trials = entrants_of(fold(stream.records), "out")[0].trials
    assert [trial.state for trial in trials] == ["passed", "error", "missing"]
    assert tally_of_all(trials).trials == 3


def test_a_task_with_nothing_to_do_is_in_neither_denominator() -> None:
    trials = single("m", "+s").trials
    assert tally(trials).trials == tally_of_all(trials).trials == 1


def test_the_same_id_with_other_inputs_is_another_task() -> None:
    plan = [planned(f"k{n}", task_id="t", inputs={"n": n, "a": "ä"}) for n in (1, 2)]
    found = entrants_of(batch_of(Stream(*plan)), "out")[0].by_task()
    assert list(task_labels(found).values()) == ['t {"a": "ä", "n": 1}', 't {"a": "ä", "n": 2}']


def test_a_task_s_inputs_are_left_out_where_its_id_is_enough() -> None:
    keys = [TaskKey("t", '{"n": 1}'), TaskKey("u"), TaskKey("t", '{"n": 1}')]
    assert list(task_labels(keys).values()) == ["t", "u"]


def test_the_same_model_in_two_runs_is_named_with_its_run() -> None:
    one, two, other = single("m", "+"), single("m", "-"), single("n", "-")
    assert [each.name for each in with_names([one, other])] == ["m", "n"]
    assert [each.name for each in with_names([one, other, two])] == ["run:m", "n", "run:m #2"]


def test_repeats_of_a_task_stand_together() -> None:
    found = entrant("m", {"a": "+-", "b": "e"}).by_task()
    assert [(task.id, len(trials)) for task, trials in found.items()] == [("a", 2), ("b", 1)]


def test_a_run_without_tasks_has_no_entrant() -> None:
    assert entrants_of(batch_of(Stream()), "out") == ()
