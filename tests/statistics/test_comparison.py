"""One word for A and B: what decides it, and what is listed beside it."""

from __future__ import annotations

import pytest

from pi_batch.statistics.comparison import ORDER, Comparison, compare
from tests.statistics.making import entrant, single


def one_of(a: str, b: str, margin: float = 0.0) -> Comparison:
    return compare([(single("a", a), single("b", b))], margin=margin).comparisons[0]


def test_the_same_results_pass() -> None:
    found = one_of("++--", "++--")
    assert (found.word, found.difference, found.p, found.flips) == ("PASS", 0.0, 1.0, ())
    assert found.test == "mcnemar exact"


def test_worse_on_many_tasks_is_a_regression() -> None:
    found = one_of("+" * 20 + "-" * 10, "+" * 10 + "-" * 20)
    assert found.word == "REGRESSION"
    assert found.reason.startswith("worse by 33.3 points [")
    assert [found.rate_a, found.rate_b] == pytest.approx([2 / 3, 1 / 3])
    assert found.p == pytest.approx(2 / 2**10)


def test_better_passes_and_better_for_sure_passes_too() -> None:
    assert one_of("-+++", "++++").word == "PASS"
    assert one_of("-" * 30, "+" * 30).word == "PASS"


def test_a_few_flips_are_inconclusive_and_a_margin_can_settle_them() -> None:
    a, b = "+" * 40, "+" * 39 + "-"
    assert one_of(a, b).word == "INCONCLUSIVE"
    assert one_of(a, b).reason.endswith("points, on both sides of the 0.0 allowed")
    assert one_of(a, b, margin=0.08).word == "PASS"


def test_within_the_margin_what_is_worse_for_sure_is_no_regression() -> None:
    a, b = "+" * 60, "+" * 54 + "-" * 6
    assert one_of(a, b).word == "REGRESSION"
    assert one_of(a, b, margin=0.05).word == "INCONCLUSIVE"
    assert one_of(a, b, margin=0.2).word == "PASS"


def test_so_few_tasks_that_no_test_can_tell_are_never_a_regression() -> None:
    found = one_of("+++++", "-----")
    assert (found.word, found.p) == ("INCONCLUSIVE", 0.0625)
    assert found.reason == "worse by 100.0 points, which may be chance: p 0.0625"
    assert found.smallest_difference is None
    assert one_of("++++++", "------").word == "REGRESSION"


def test_repeats_are_tested_by_flipped_signs() -> None:
    a = entrant("a", {str(n): "+++" for n in range(8)})
    b = entrant("b", {str(n): "+--" for n in range(8)})
    found = compare([(a, b)]).comparisons[0]
    assert (found.test, found.p, found.word) == ("sign-flip exact", 2 / 2**8, "REGRESSION")
    assert found.difference == pytest.approx(-2 / 3)


def test_flipped_tasks_are_listed_the_worst_first() -> None:
    a = entrant("a", {"x": "++", "y": "+-", "z": "--", "w": "++"})
    b = entrant("b", {"x": "+-", "y": "+-", "z": "++", "w": "--"})
    flips = compare([(a, b)]).comparisons[0].flips
    assert [(flip.task, flip.a.passes, flip.b.passes, flip.is_better) for flip in flips] == [
        ("w", 2, 0, False),
        ("x", 2, 1, False),
        ("z", 0, 2, True),
    ]


def test_what_cannot_be_paired_is_listed_with_the_reason() -> None:
    a = entrant("a", {"x": "+", "gone": "+", "broke": "+", "skip": "s"})
    b = entrant("b", {"x": "+", "new": "+", "broke": "e", "skip": "s"})
    found = compare([(a, b)]).comparisons[0]
    assert found.word == "MISSING"
    assert [(one.task, one.reason) for one in found.unpaired] == [
        ("gone", "not in b"),
        ("broke", "no scored trial in b"),
        ("new", "not in a"),
    ]
    assert [one.is_new for one in found.unpaired] == [False, False, True]
    assert found.tasks == 1


def test_a_task_that_only_b_has_is_listed_and_decides_nothing() -> None:
    a, b = entrant("a", {"x": "+"}), entrant("b", {"x": "+", "new": "-", "newer": "e"})
    found = compare([(a, b)]).comparisons[0]
    assert (found.word, found.reason) == ("PASS", "not worse")
    assert [one.task for one in found.unpaired] == ["new", "newer"]


def test_a_task_that_has_changed_is_not_compared() -> None:
    a, b = entrant("a", {"x": "+"}), entrant("b", {"x": "-"}, digest="other")
    found = compare([(a, b)]).comparisons[0]
    assert (found.word, found.tasks, found.interval, found.p) == ("MISSING", 0, None, None)
    assert found.unpaired[0].reason == "the task has changed (another digest)"


def test_a_regression_is_said_though_something_is_missing() -> None:
    assert one_of("+" * 21, "-" * 20 + "m").word == "REGRESSION"
    assert one_of("+" * 21, "+" * 20 + "m").word == "MISSING"


def test_nothing_to_compare_is_missing_and_no_pass() -> None:
    for a, b in (("", ""), ("e", "+"), ("+", "m"), ("s", "s")):
        assert one_of(a, b).word == "MISSING"


def test_several_comparisons_are_corrected_and_the_worst_word_counts() -> None:
    a = single("a", "+" * 6 + "-" * 6)
    worse, same = single("worse", "-" * 12), single("same", "+" * 6 + "-" * 6)
    assert compare([(a, worse)]).word == "REGRESSION"
    both = compare([(a, worse), (a, same)])
    assert [one.p for one in both.comparisons] == [0.03125, 1.0]
    assert [one.p_holm for one in both.comparisons] == [0.0625, 1.0]
    assert [one.word for one in both.comparisons] == ["INCONCLUSIVE", "PASS"]
    assert both.word == "INCONCLUSIVE"
    assert compare([(a, same), (a, single("gone", ""))]).word == "MISSING"
    assert ORDER.index("REGRESSION") < ORDER.index("MISSING") < ORDER.index("INCONCLUSIVE")


def test_unequal_repeats_and_missing_trials_are_no_obstacle() -> None:
    a = entrant("a", {"x": "+++", "y": "+--"})
    b = entrant("b", {"x": "+em", "y": "--"})
    found = compare([(a, b)]).comparisons[0]
    assert (found.tasks, found.unpaired) == (2, ())
    assert found.difference == pytest.approx((0 - 1 / 3) / 2)


def test_what_the_paired_tasks_took_is_told_of_both() -> None:
    a = entrant("a", {"x": "+", "only": "+"}, cost=1)
    b = entrant("b", {"x": "+"}, cost=3)
    found = compare([(a, b)]).comparisons[0]
    assert (found.amounts_a.cost_usd.total, found.amounts_b.cost_usd.total) == (1.0, 3.0)


def test_the_same_comparison_comes_out_alike() -> None:
    a, b = entrant("a", {"x": "++-", "y": "+--"}), entrant("b", {"x": "+--", "y": "++-"})
    assert compare([(a, b)]) == compare([(a, b)])
    assert compare([(a, b)], seed=1).seed == 1


def test_comparing_the_other_way_round_mirrors_the_numbers() -> None:
    a, b = single("a", "+++-" * 5), single("b", "+--+" * 5)
    there, back = (compare([pair]).comparisons[0] for pair in ((a, b), (b, a)))
    assert (there.difference, there.p) == (-(back.difference or 0), back.p)
    assert len(there.flips) == len(back.flips) == 15
