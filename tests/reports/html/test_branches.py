"""The tree on a page: branches, what the model no longer sees, what each turn cost."""

from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from pi_batch.reports.html.branches import chains, sections
from pi_batch.reports.html.values import Fold, Section
from pi_batch.session import parse_session
from tests.session.files import HEADER, NO_USAGE, ZERO_COST, call, entry, lines, reply, result, user


def usage(cost: float, cached: int = 0) -> dict[str, Any]:
    return {**NO_USAGE, "input": 10, "output": 5, "cacheRead": cached, "cost": {**ZERO_COST, "total": cost}}


def made(*entries: dict[str, Any]) -> tuple[Section, ...]:
    return sections(parse_session(lines(HEADER, *entries)))


FORK = (
    user("a", None, "go"),
    reply("b", "a", call("c1"), usage=usage(0.5, 30)),
    result("c", "b", "c1", "left"),
    reply("d", "c", "the end of the left", usage=usage(0.25)),
    result("e", "b", "c1", "right"),
    reply("f", "e", "the end of the right", usage=usage(0.25)),
)


def test_the_active_branch_is_first_and_others_say_where_they_leave() -> None:
    active, other = made(*FORK)
    assert [item.id for item in active.items] == ["a", "b", "f"]
    assert [item.id for item in other.items] == ["c", "d"]
    assert (other.from_id, other.first_id, other.title) == ("b", "c", "the end of the left")
    assert active.items[1].forks == ("c",)


def test_a_result_is_folded_into_the_call_that_it_answers() -> None:
    active, _ = made(*FORK)
    fold = active.items[1].parts[0]
    assert isinstance(fold, Fold)
    assert fold.id == "e"


def test_costs_run_up_along_each_branch() -> None:
    active, other = made(*FORK)
    assert [(row.id, row.cost, row.total, row.share) for row in active.costs] == [
        ("b", "$0.5000", "$0.5000", "75%"),
        ("f", "$0.2500", "$0.7500", "0%"),
    ]
    assert [(row.id, row.total) for row in other.costs] == [("d", "$0.7500")]
    assert active.items[1].cost == "40 in (75% cached) · 5 out · $0.5000 · sum $0.5000"


def test_what_a_compaction_left_out_is_marked() -> None:
    (active,) = made(
        user("a", None, "one"),
        user("b", "a", "two"),
        entry("k", "b", "compaction", summary="s", firstKeptEntryId="b", tokensBefore=9),
        user("c", "k", "three"),
    )
    assert [(item.id, item.is_unseen) for item in active.items] == [
        ("a", True),
        ("b", False),
        ("k", False),
        ("c", False),
    ]


def test_a_branch_that_leaves_at_a_hidden_entry_is_linked_from_what_shows_it() -> None:
    request = entry("q", "a", customType="pi-batch", data={"kind": "request_start"})
    active, other = made(user("a", None, "go"), request, reply("x", "q", "first"), reply("y", "q", "second"))
    assert [item.id for item in active.items] == ["a", "y"]
    assert other.from_id == "a"
    assert active.items[0].forks == ("x",)


def test_a_request_without_a_reply_is_shown() -> None:
    request = entry("q", "a", customType="pi-batch", data={"kind": "request_start"})
    (active,) = made(user("a", None, "go"), request)
    fold = active.items[1].parts[0]
    assert isinstance(fold, Fold)
    assert fold.title == "pi-batch: request_start (no reply of it was recorded)"


def test_an_empty_session_has_an_empty_branch() -> None:
    assert [section.items for section in made()] == [()]


def test_a_thousand_forks_within_forks_are_no_depth() -> None:
    parents = ((number, number - 1 if number % 2 else number - 2) for number in range(1, 1_500))
    entries = [user(str(number), str(parent), "x") for number, parent in parents]
    assert len(made(user("0", None, "go"), *entries)) > 500


@given(st.lists(st.tuples(st.sampled_from("abcdef"), st.sampled_from("abcdefg")), max_size=12))
def test_every_entry_stands_in_one_chain_whatever_the_tree(pairs: list[tuple[str, str]]) -> None:
    session = parse_session(lines(HEADER, *(entry(own, parent) for own, parent in pairs)))
    ids = [item.id for chain in chains(session) for item in chain.entries]
    assert sorted(ids) == sorted({item.id for item in session.entries})
