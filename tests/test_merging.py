"""Shards made one run again: strict, the newest attempt counts, and the order of the parts does not."""

from __future__ import annotations

import itertools

from msgspec.structs import replace

from pi_batch.events import Warned
from pi_batch.fold import fold
from pi_batch.merging import Attempts, merged, missing, refusals
from pi_batch.results import BatchResult
from tests.shards import manifest_of, part, ran
from tests.streams import Stream

FOUR = manifest_of(*"abcd")


def whole(*parts: Attempts) -> BatchResult:
    return fold(record for record, _ in merged(parts))


def outcomes(batch: BatchResult) -> dict[str, str]:
    return {result.key: result.outcome for result in batch.results}


def test_two_shards_are_one_run_in_the_plans_order() -> None:
    batch = whole(part("one", FOUR, 1), part("two", FOUR, 2, passed={"b": True, "d": False}))
    assert list(outcomes(batch).items()) == [
        ("a", "passed"),
        ("b", "passed"),
        ("c", "passed"),
        ("d", "failed"),
    ]
    assert (batch.status, batch.exit_code, batch.totals.missing, batch.legs) == ("complete", 1, 0, 1)
    assert batch.totals.num_turns == 4


def test_records_are_numbered_without_gaps_and_say_where_they_are_from() -> None:
    parts = (part("one", FOUR, 1), part("two", FOUR, 2))
    records = list(merged(parts))
    assert [record.seq for record, _ in records] == list(range(1, len(records) + 1))
    assert {record.key: source.name for record, source in records if source and record.key} == {
        "a": "one",
        "b": "two",
        "c": "one",
        "d": "two",
    }


def test_the_order_of_the_parts_does_not_matter() -> None:
    parts = (
        part("1", FOUR, 1),
        part("2", FOUR, 2),
        part("2b", FOUR, 2, day=2, passed={"b": False, "d": True}),
    )
    made = [[record for record, _ in merged(order)] for order in itertools.permutations(parts)]
    assert all(one == made[0] for one in made)


def test_merging_a_merged_run_with_its_parts_changes_nothing() -> None:
    parts = [part("1", FOUR, 1), part("2", FOUR, 2)]
    first = [record for record, _ in merged(parts)]
    again = Attempts.of("m", FOUR, [1, 2], first)
    assert list(refusals([again, *parts])) == []
    for order in itertools.permutations([again, *parts]):
        assert [record for record, _ in merged(order)] == first


def test_of_a_shard_that_was_run_again_the_newest_attempt_counts_whatever_came_of_it() -> None:
    old = part("old", FOUR, 1, day=1)
    new = part("new", FOUR, 1, day=2, passed={"a": False, "c": True})
    batch = whole(new, old, part("two", FOUR, 2))
    assert outcomes(batch)["a"] == "failed"


def test_what_the_newest_attempt_did_not_come_to_is_taken_from_the_one_before() -> None:
    old = part("old", FOUR, 1, day=1)
    new = part("new", FOUR, 1, day=2, passed={"a": False}, status=143)
    assert outcomes(whole(old, new)) == {"a": "failed", "c": "passed"}


def test_an_attempt_that_a_signal_ended_gives_way_to_one_with_a_result() -> None:
    old = part("old", FOUR, 1, day=1, passed={"a": False, "c": True})
    new = part("new", FOUR, 1, day=2, passed={"a": None}, status=143)
    assert outcomes(whole(old, new)) == {"a": "failed", "c": "passed"}
    batch = whole(new)
    assert outcomes(batch) == {"a": "error"}


def test_an_attempt_that_was_killed_is_an_error_and_the_run_is_interrupted() -> None:
    records = ran(FOUR, 1)[:8]
    batch = whole(Attempts.of("one", FOUR, [1], records))
    assert (batch.status, outcomes(batch)["a"]) == ("interrupted", "error")


def test_what_is_missing_is_named_by_shard_and_stays_in_the_denominator() -> None:
    one = part("one", FOUR, 1, passed={"a": True})
    assert missing([one]) == (
        "shard 1/2 is missing: not run: c",
        "shard 2/2 is missing: no run directory was given: b, d",
    )
    batch = whole(one)
    assert (batch.totals.planned, batch.totals.passed, batch.totals.missing, batch.exit_code) == (4, 1, 3, 3)
    assert batch.warnings == missing([one])


def test_a_long_list_of_what_is_missing_is_cut() -> None:
    many = manifest_of(*(f"t{number}" for number in range(20)))
    (line,) = missing([part("one", many, 1)])
    assert line.endswith("t1, t3, t5, t7, t9 and 5 more")


def test_an_empty_shard_is_merged_like_any_other() -> None:
    few = manifest_of("a", shards=3)
    batch = whole(*(part(str(shard), few, shard) for shard in (1, 2, 3)))
    assert (outcomes(batch), batch.exit_code) == ({"a": "passed"}, 0)
    assert whole(part("2", few, 2)).exit_code == 3


def test_a_part_of_another_plan_is_refused_and_the_difference_named() -> None:
    changed = replace(FOUR, tasks=(*FOUR.tasks[:3], replace(FOUR.tasks[3], digest="other")))
    parts = [part("one", FOUR, 1), part("two", changed, 2), part("three", manifest_of(*"abcd", shards=3), 3)]
    assert list(refusals(parts)) == [
        "two: is not of the same plan as one: it has another digest of d: its spec, model or tools are not "
        "the same",
        "three: is not of the same plan as one: it is in 3 shards, not in 2",
    ]


def test_what_a_shard_was_not_given_is_foreign_and_refused() -> None:
    stray = Attempts.of("stray", FOUR, [1], [*ran(FOUR, 1), *Stream("b").start("b").end("b").records])
    assert list(refusals([stray, part("two", FOUR, 2)])) == ["stray: holds what shard 1 was not given: b"]


def test_warnings_of_the_parts_that_count_are_kept_once_each() -> None:
    def warned(name: str, shard: int, text: str, day: int = 1) -> Attempts:
        records = ran(FOUR, shard, day=day)
        warning = replace(records[0], event=Warned(text))
        return Attempts.of(name, FOUR, [shard], [records[0], warning, *records[1:]])

    batch = whole(warned("1", 1, "no sandbox"), warned("2", 2, "no sandbox"), warned("0", 1, "stale", day=1))
    assert "no sandbox" in batch.warnings
    assert batch.warnings.count("no sandbox") == 1


def test_the_run_took_as_long_as_its_longest_part() -> None:
    assert whole(part("one", FOUR, 1), part("two", FOUR, 2)).duration_s == 60.0
