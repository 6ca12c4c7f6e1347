"""One row per planned result, named so that no two are alike."""

from __future__ import annotations

from msgspec.structs import replace

from pi_batch.fold import fold
from pi_batch.reports.rows import rows
from tests.reports.batches import one_of_everything
from tests.streams import Stream, planned


def names(*plan: object) -> list[str]:
    return [row.name for row in rows(fold(Stream(*plan).finish().records))]  # type: ignore[arg-type]


def test_model_and_repeat_are_shown_only_where_the_plan_has_several() -> None:
    several = planned("k1", task_id="fix", model="a/b", repeat=3, shows_model=True, shows_repeat=True)
    assert names(several) == ["fix [a/b] #3"]
    assert names(planned("k2", task_id="fix", model="a/b", repeat=3)) == ["fix"]


def test_equal_names_in_one_suite_get_their_keys_and_in_two_suites_do_not() -> None:
    first, second = planned("k1", task_id="fix", suite="s"), planned("k2", task_id="fix", suite="s")
    assert names(first, second) == ["fix (k1)", "fix (k2)"]
    assert names(first, replace(second, suite="other")) == ["fix", "fix"]


def test_a_planned_key_without_a_result_says_why() -> None:
    stream = Stream("a")
    assert [row.reason for row in rows(fold(stream.records))] == ["not run: the run has not ended"]
    complete = fold(Stream("a").finish().records)
    assert [(row.word, row.reason) for row in rows(complete)] == [
        ("not run", "not run: the run ended without it")
    ]
    [interrupted] = rows(fold(stream.finish(130).records))
    assert (interrupted.outcome, interrupted.reason) == ("missing", "not run: the run was interrupted")


def test_a_result_that_no_plan_named_has_a_row() -> None:
    stream = Stream().start("stray").agent("stray").end("stray").finish()
    [row] = rows(fold(stream.records))
    assert (row.name, row.suite, row.word) == ("stray", "stray", "unverified")


def test_a_blank_reason_gives_way_to_the_outcome() -> None:
    batch = one_of_everything()
    blank = replace(batch, results=(replace(batch.results[0], reason=" \n"),))
    assert rows(blank)[0].reason == "passed"
