"""The leaderboard's numbers, and their edges."""

from __future__ import annotations

from math import nan

import pytest

from pi_batch.statistics.standing import leaderboard
from pi_batch.statistics.trials import Entrant
from tests.statistics.making import entrant, single


def test_the_best_rate_comes_first_and_the_cheaper_of_two_equal_ones() -> None:
    board = leaderboard([single("dear", "++-", cost=9), single("bad", "---"), single("cheap", "+-+", cost=1)])
    assert [one.name for one in board.standings] == ["cheap", "dear", "bad"]
    assert [one.is_on_frontier for one in board.standings] == [True, False, False]


def test_both_denominators_are_there() -> None:
    (one,) = leaderboard([entrant("m", {"a": "++e", "b": "-mm", "c": "+", "d": "s", "e": "e"})]).standings
    assert one.tasks == 3
    assert one.rate == pytest.approx((1 + 0 + 1) / 3)
    assert one.rate_of_all == pytest.approx((2 / 3 + 0 + 1 + 0) / 4)
    assert one.counts == {"passed": 3, "failed": 1, "error": 2, "missing": 2, "skipped": 1}
    assert one.repeats == (1, 2)


def test_pass_at_k_and_pass_hat_k_say_over_how_many_tasks() -> None:
    (one,) = leaderboard([entrant("m", {"a": "++-", "b": "---", "c": "+"})]).standings
    assert [(each.k, each.tasks) for each in one.pass_at_k] == [(1, 3), (2, 2), (3, 2)]
    assert [each.value for each in one.pass_at_k] == pytest.approx([5 / 9, 0.5, 0.5])
    assert [each.value for each in one.pass_hat_k] == pytest.approx([5 / 9, (1 / 3) / 2, 0.0])


def test_many_repeats_show_the_first_ten_and_the_last() -> None:
    (one,) = leaderboard([entrant("m", {"a": "+" * 25})]).standings
    assert [each.k for each in one.pass_at_k] == [*range(1, 11), 25]


def test_every_two_models_are_compared_and_corrected_for_how_many() -> None:
    board = leaderboard([single("a", "+" * 12), single("b", "-" * 12), single("c", "+" * 11 + "-")])
    pairs = {(one.first, one.second): one for one in board.pairs}
    assert list(pairs) == [("a", "c"), ("a", "b"), ("c", "b")]
    far = pairs["a", "b"]
    assert (far.tasks, far.difference) == (12, -1.0)
    assert far.p == pytest.approx(2 / 2**12)
    assert far.p_holm == pytest.approx(3 * 2 / 2**12)
    assert pairs["a", "c"].p_holm == 1.0


def test_models_without_a_shared_task_are_not_compared() -> None:
    (pair,) = leaderboard([entrant("a", {"x": "+"}), entrant("b", {"y": "+"})]).pairs
    assert (pair.tasks, pair.difference, pair.p, pair.p_holm) == (0, None, None, None)


def test_the_grid_has_each_task_with_each_model() -> None:
    board = leaderboard([entrant("a", {"x": "++", "y": "-e"}), entrant("b", {"x": "--", "z": "m"})])
    cells = {
        row.task: [None if one is None else (one.passes, one.trials) for one in row.cells]
        for row in board.grid
    }
    assert [one.name for one in board.standings] == ["a", "b"]
    assert cells == {"x": [(2, 2), (0, 2)], "y": [(0, 1), None], "z": [None, (0, 0)]}


def test_what_makes_numbers_less_alike_than_they_look_is_said() -> None:
    a = entrant("a", {"x": "+", "y": "e"})
    b = entrant("b", {"x": "+"}, digest="other")
    assert leaderboard([a, b]).warnings == (
        "x: not the same task in all runs (2 digests), not compared",
        "1 of 3 trials are not scored (error or missing): a 1",
        "1 times a task of 2 was not in a model's run: b 1",
    )
    assert leaderboard([single("a", "+-")]).warnings == ()


def test_a_suite_says_what_it_can_see() -> None:
    alone = leaderboard([single("a", "+-" * 30)]).smallest_difference
    assert alone == pytest.approx(0.2557, abs=0.001)
    close = leaderboard([single("a", "+-" * 30), single("b", "+-" * 29 + "--")]).smallest_difference
    assert close == pytest.approx(0.1)
    assert leaderboard([single("a", "+-+")]).smallest_difference is None


@pytest.mark.parametrize("signs", ["", "e", "m", "s", "emsm"])
def test_without_a_scored_trial_there_is_a_line_and_no_rate(signs: str) -> None:
    board = leaderboard([single("none", signs), single("some", "+")])
    assert [one.name for one in board.standings] == ["some", "none"]
    one = board.standings[1]
    assert (one.rate, one.tasks, one.pass_at_k, one.is_on_frontier) == (None, 0, (), False)
    assert (one.interval.low, one.interval.high) == (0.0, 1.0)


def test_no_model_is_an_empty_board() -> None:
    board = leaderboard([])
    assert (board.standings, board.pairs, board.grid, board.smallest_difference) == ((), (), (), None)
    assert leaderboard([Entrant("m", "m", "r", ())]).standings[0].rate_of_all is None


@pytest.mark.parametrize("cost", [None, nan])
def test_a_model_of_unknown_cost_is_on_no_frontier(cost: float | None) -> None:
    board = leaderboard([single("unknown", "++", cost=cost), single("known", "+-", cost=5)])
    assert [one.is_on_frontier for one in board.standings] == [False, True]
    assert board.standings[0].cost_usd.unknown == 2
    assert board.standings[0].cost_usd.per_solved is None


def test_money_lost_on_errors_counts_for_what_is_solved_and_not_for_the_mean() -> None:
    (one,) = leaderboard([single("m", "+-em", cost=2)]).standings
    assert (one.cost_usd.mean, one.cost_usd.total, one.cost_usd.per_solved) == (2.0, 6.0, 6.0)


def test_all_passing_is_no_certainty() -> None:
    (one,) = leaderboard([entrant("m", {str(n): "+++" for n in range(30)})]).standings
    assert one.rate == 1.0
    assert one.interval.low == pytest.approx(0.886, abs=0.001)
