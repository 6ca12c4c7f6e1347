"""Numbers of benchmarks in words: what is not known is said, and nothing has a sign too many."""

from __future__ import annotations

import pytest

from pi_batch.reports.benchmark_words import (
    between,
    by_k,
    count,
    money,
    name_of,
    of,
    p_value,
    percent,
    points,
    time,
    with_unknown,
)
from pi_batch.statistics.amounts import spread
from pi_batch.statistics.rates import Interval, Tally
from pi_batch.statistics.standing import ByK


def test_what_is_not_known_is_said() -> None:
    for show in (percent, points, p_value, money, count, time):
        assert show(None) == "n/a"
    assert by_k(ByK(3, None, 0), 5) == "n/a"


def test_rates_and_intervals_are_percent() -> None:
    assert percent(2 / 3) == "66.7%"
    assert between(Interval(0.5123, 0.7976, "wilson")) == "51.2% to 79.8%"
    assert of(Tally(2, 3)) == "2/3"


@pytest.mark.parametrize(
    ("difference", "text"),
    [(0.033, "+3.3"), (-1 / 3, "-33.3"), (0.0, "0.0"), (-0.0001, "0.0"), (0.0004, "0.0")],
)
def test_differences_are_points_and_none_is_neither_plus_nor_minus(difference: float, text: str) -> None:
    assert points(difference) == text


def test_a_very_small_p_is_no_more_than_that() -> None:
    assert (p_value(0.03125), p_value(1e-9), p_value(1.0)) == ("0.0312", "< 0.0001", "1")


def test_amounts_have_their_units() -> None:
    assert (money(1.5), money(0.00512), money(0)) == ("$1.50", "$0.0051", "$0.00")
    assert (count(12345.4), count(3.25), count(3.0), count(0)) == ("12,345", "3.2", "3", "0")
    assert time(1234.56) == "1,234.6 s"


def test_unknown_amounts_are_counted_beside_the_mean() -> None:
    assert with_unknown("$1.00", spread([1.0, None, None], [], 1)) == "$1.00 (2 unknown)"
    assert with_unknown("$1.00", spread([1.0], [None], 1)) == "$1.00"


def test_k_tries_say_over_how_many_tasks_where_that_is_not_all() -> None:
    assert by_k(ByK(3, 0.5, 5), 5) == "50.0%"
    assert by_k(ByK(3, 0.5, 4), 5) == "50.0% (4 of 5 tasks)"


def test_a_name_is_one_short_line() -> None:
    assert "\n" not in name_of("a\nb")
    assert len(name_of("x" * 500)) <= 80
