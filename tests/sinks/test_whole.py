"""The run as a whole in a line."""

from __future__ import annotations

from pi_batch.fold import fold
from pi_batch.results import BudgetAmounts, RunError
from pi_batch.sinks.running import Running
from pi_batch.sinks.whole import Whole
from tests.streams import Stream


def ended(whole: Whole) -> Whole:
    """After a task that passed and one that did not, $0.25 each."""
    stream = Stream("good", "bad").start("good", has_checks=True).agent("good").check("good").end("good")
    stream.start("bad").agent("bad").end("bad", error=RunError("network", "gone"))
    for result in fold(stream.records).results:
        whole = whole.ended(result)
    return whole


def running(cost_usd: float | None) -> Running:
    return Running("x", "m", BudgetAmounts(), 0.0, cost_usd=cost_usd)


def test_a_line_says_how_much_is_done_spent_and_left() -> None:
    whole = ended(Whole(40, 100.0, BudgetAmounts(cost_usd=5.0, wall_s=3600.0)))
    assert whole.line(165.0, [running(1.0)]) == "2/40 done, 1 not passed  $1.50 of $5.00  1:05  left 58:55"
    assert whole.so_far() == "2/40, $0.5000 of $5.00 so far"


def test_without_limits_nothing_is_left_of_them() -> None:
    assert Whole(2, 0.0, BudgetAmounts()).line(61.0, []) == "0/2 done  $0.00  1:01"


def test_one_unknown_price_makes_the_sum_unknown() -> None:
    assert "cost unknown" in Whole(2, 0.0, BudgetAmounts()).line(1.0, [running(None), running(1.0)])


def test_time_that_is_used_up_is_none_and_not_less() -> None:
    assert Whole(2, 0.0, BudgetAmounts(wall_s=10.0)).line(99.0, []).endswith("left 0:00")
