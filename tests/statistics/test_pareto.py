"""The frontier of cost and rate."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from pi_batch.statistics.pareto import Offer, frontier

offers = st.lists(
    st.builds(
        Offer, st.uuids().map(str), st.integers(0, 5).map(float), st.integers(0, 5).map(lambda n: n / 5)
    ),
    max_size=8,
)


def names(*found: Offer) -> list[str]:
    return [one.name for one in frontier(found)]


def test_what_is_dearer_and_no_better_is_left_out() -> None:
    assert names(Offer("dear", 3, 0.5), Offer("cheap", 1, 0.5), Offer("best", 9, 0.9)) == ["cheap", "best"]


def test_of_two_at_the_same_price_the_better_stays() -> None:
    assert names(Offer("a", 1, 0.4), Offer("b", 1, 0.6)) == ["b"]


def test_twins_stand_side_by_side() -> None:
    assert names(Offer("b", 1, 0.5), Offer("a", 1, 0.5), Offer("c", 2, 0.5)) == ["a", "b"]


def test_one_or_none() -> None:
    assert names() == []
    assert names(Offer("only", 0, 0)) == ["only"]


@given(offers)
def test_nobody_on_the_frontier_is_beaten_and_everybody_else_is(found: list[Offer]) -> None:
    best = frontier(found)

    def is_beaten(one: Offer) -> bool:
        return any(
            other.cost <= one.cost
            and other.rate >= one.rate
            and (other.cost, other.rate) != (one.cost, one.rate)
            for other in found
        )

    assert {one.name for one in best} == {one.name for one in found if not is_beaten(one)}
