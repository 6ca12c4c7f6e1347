"""From a virtual model's name to who is asked at which place of a task."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pi_batch.errors import UsageError
from pi_batch.routes import (
    ByClass,
    ByFunction,
    InOrder,
    OneModel,
    Place,
    attempts_of,
    candidates,
    complaint,
    functions_of,
    models_of,
    pick_key,
    resolve,
)
from pi_batch.spec import VirtualModel


def virtual(**fields: Any) -> VirtualModel:
    return msgspec.convert(fields, VirtualModel)


FALLBACK = virtual(policy="fallback", models=["a/1", "b/2"])
CLIMB = virtual(policy="escalate", models=["a/1", "router/two", "c/3"])
SPLIT = virtual(policy="phases", plan="a/1", work="b/2")
SORT = virtual(policy="classify", classifier="c/3", choices={"easy": "a/1", "hard": "router/two"})
OWN = virtual(policy="function", function="mine:choose", models=["a/1", "b/2"])
KNOWN = {"two": FALLBACK, "climb": CLIMB, "split": SPLIT, "sort": SORT, "own": OWN}


def names(model: str, place: Place | None = None, fallback: tuple[str, ...] = ()) -> list[str]:
    return [one.name for one in candidates(resolve(model, KNOWN, fallback), place or Place())]


def test_a_plain_model_is_a_route_of_itself() -> None:
    route = resolve("a/1:high", KNOWN)
    assert route == OneModel("a/1:high")
    assert candidates(route, Place())[0].steps == ()


def test_a_fallback_comes_after_the_model_and_after_all_behind_it() -> None:
    assert names("a/1", fallback=("b/2", "c/3")) == ["a/1", "b/2", "c/3"]
    assert names("router/two", fallback=("a/1", "c/3")) == ["a/1", "b/2", "c/3"]
    assert names("a/1", fallback=("router/two",)) == ["a/1", "b/2"]
    assert resolve("a/1", KNOWN, ("a/1",)) == OneModel("a/1")


def test_a_recording_is_played_without_a_fallback() -> None:
    assert resolve("replay/s.jsonl", KNOWN, ("a/1",)) == OneModel("replay/s.jsonl")


@pytest.mark.parametrize(
    ("attempt", "expected"), [(1, ["a/1"]), (2, ["a/1", "b/2"]), (3, ["c/3"]), (4, ["c/3"])]
)
def test_an_escalation_takes_one_step_an_attempt_and_stays_at_the_last(
    attempt: int, expected: list[str]
) -> None:
    assert names("router/climb", Place(attempt=attempt)) == expected


def test_one_plans_and_another_works_in_the_first_attempt_only() -> None:
    route = resolve("router/split", KNOWN)
    (planner,) = candidates(route, Place())
    assert (planner.name, planner.is_planning) == ("a/1", True)
    for place in (Place(phase="work"), Place(attempt=2)):
        (worker,) = candidates(route, place)
        assert (worker.name, worker.is_planning) == ("b/2", False)


def test_a_class_is_for_good_and_the_first_until_it_is_known() -> None:
    route = resolve("router/sort", KNOWN)
    assert isinstance(route, ByClass)
    first = candidates(route, Place())[0]
    assert (first.name, first.pending) == ("a/1", route)
    key = pick_key(route, Place(attempt=3))
    picked = candidates(route, Place(attempt=3, picks={key: "hard"}))
    assert [(one.name, one.pending) for one in picked] == [("a/1", None), ("b/2", None)]
    assert names("router/sort", Place(picks={key: "gone"})) == ["a/1"]


def test_a_function_is_called_at_each_attempt() -> None:
    route = resolve("router/own", KNOWN)
    assert isinstance(route, ByFunction)
    picks = {pick_key(route, Place()): "b/2"}
    assert candidates(route, Place(picks=picks))[0].pending is None
    assert candidates(route, Place(attempt=2, picks=picks))[0].pending == route


def test_the_steps_say_how_a_model_was_come_to() -> None:
    (second, third) = candidates(resolve("router/climb", KNOWN), Place(attempt=2))
    assert [str(step) for step in third.steps] == [
        "router/climb, escalate: 2 of 3",
        "router/two, fallback: 2 of 2",
    ]
    assert str(candidates(resolve("a/1", KNOWN, ("b/2",)), Place())[1].steps[0]) == "fallback: 2 of 2"
    assert second.name == "a/1"


def test_everything_that_may_be_asked_or_called_is_known_before() -> None:
    assert models_of(resolve("router/sort", KNOWN, ("d/4",))) == ("c/3", "a/1", "b/2", "d/4")
    assert functions_of(resolve("router/own", KNOWN)) == ("mine:choose",)
    assert attempts_of(resolve("router/climb", KNOWN)) == 3
    assert attempts_of(resolve("router/two", KNOWN)) == 1


def test_an_unknown_name_says_which_are_known_and_who_named_it() -> None:
    with pytest.raises(
        UsageError, match=r"router/clim': no virtual model of that name, did you mean 'climb'"
    ):
        resolve("router/clim", KNOWN)
    with pytest.raises(
        UsageError, match=r"'router/x', named by router/b: no virtual model .*\(known: router/b\)"
    ):
        resolve("router/b", {"b": virtual(policy="fallback", models=["router/x"])})
    with pytest.raises(UsageError, match=r"known: none"):
        resolve("router/x", {})


def test_a_level_behind_a_virtual_model_is_told_where_it_belongs() -> None:
    with pytest.raises(UsageError, match="a level stands behind its members' names, or in thinking:"):
        resolve("router/two:high", KNOWN)


@pytest.mark.parametrize("name", ["a", "b"])
def test_a_circle_is_shown_whole(name: str) -> None:
    known = {
        "a": virtual(policy="fallback", models=["x/1", "router/b"]),
        "b": virtual(policy="phases", plan="y/2", work="router/a"),
    }
    with pytest.raises(
        UsageError, match=rf"leads back to itself: router/{name} -> router/./?.* -> router/{name}"
    ):
        resolve(f"router/{name}", known)


def test_a_deep_or_wide_tree_is_refused_before_it_is_built_whole() -> None:
    deep = {f"n{i}": virtual(policy="fallback", models=[f"router/n{i + 1}"]) for i in range(50)}
    with pytest.raises(UsageError, match="leads"):
        resolve("router/n0", deep)
    wide = {f"n{i}": virtual(policy="fallback", models=[f"router/n{i + 1}"] * 3) for i in range(8)}
    wide["n8"] = virtual(policy="fallback", models=["a/1"])
    with pytest.raises(UsageError, match="leads to more than 100 models"):
        resolve("router/n0", wide)


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({"policy": "fallback"}, "policy fallback needs models; models is missing or empty"),
        ({"policy": "fallback", "models": []}, "policy fallback needs models; models is missing or empty"),
        ({"policy": "escalate", "models": ["a/1"], "plan": "a/1"}, "plan is not for policy escalate"),
        ({"policy": "phases", "plan": "a/1"}, "policy phases needs plan and work; work is missing or empty"),
        ({"policy": "classify", "classifier": "a/1"}, "choices is missing or empty"),
        ({"policy": "classify", "classifier": "router/x", "choices": {"e": "a/1"}}, "need a real model"),
        ({"policy": "classify", "classifier": "a/1", "choices": {" ": "a/1"}}, "need labels of one line"),
        ({"policy": "fallback", "models": ["gpt"]}, "need provider/model"),
        ({"policy": "fallback", "models": ["replay/s.jsonl"]}, "stand alone, never for another"),
        ({"policy": "function", "models": ["a/1"], "function": "os.system"}, "need module:name"),
    ],
)
def test_each_policy_needs_its_own_keys_and_no_others(fields: dict[str, Any], said: str) -> None:
    assert said in str(complaint("x", virtual(**fields), may_call=True))


@pytest.mark.parametrize("known", [*KNOWN.values()])
def test_what_is_whole_has_no_complaint(known: VirtualModel) -> None:
    assert complaint("x", known, may_call=True) is None


def test_a_function_is_named_in_the_configuration_only() -> None:
    assert "configuration file only" in str(complaint("x", OWN, may_call=False))


@pytest.mark.parametrize("name", ["", "a b", "-x", "a/b", "x" * 101])
def test_a_name_is_a_plain_word(name: str) -> None:
    assert "got the name" in str(complaint(name, FALLBACK, may_call=True))


TREES = st.recursive(
    st.sampled_from([OneModel("a/1"), OneModel("b/2"), OneModel("c/3")]),
    lambda below: st.lists(below, min_size=1, max_size=3).map(
        lambda parts: InOrder("router/x", tuple(parts))
    ),
    max_leaves=8,
)


@given(TREES, st.integers(1, 5))
def test_there_is_always_somebody_to_ask_and_each_model_once(tree: InOrder | OneModel, attempt: int) -> None:
    found = [one.name for one in candidates(tree, Place(attempt=attempt))]
    assert found
    assert len(found) == len(set(found))
    assert set(found) == set(models_of(tree))
