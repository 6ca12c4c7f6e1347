"""Who comes next: fallbacks, steps, phases, picks, and the same again after a resume."""

from __future__ import annotations

from typing import Any

import pytest

from pi_batch.engine.model_port import ModelPort
from pi_batch.engine.router import FALLBACK_KINDS, Models, Router, Situation
from pi_batch.errors import ErrorKind, ProviderError, UsageError
from pi_batch.providers.fake import Scripted
from pi_batch.routes import ByAttempt, ByFunction, ByPhase, InOrder, OneModel, Route

PRICES = {"x/a": 1.0, "x/b": 3.0, "x/c": 2.0}


def port(name: str) -> ModelPort:
    return ModelPort(
        Scripted(()), "x", name.partition("/")[2], price_usd=lambda given, out: PRICES[name] * (given + out)
    )


def router(route: Route, **rest: Any) -> Router:
    return Router(Models(route, {name: port(name) for name in PRICES}, **rest))


def in_order(*names: str) -> InOrder:
    return InOrder("router/r", tuple(map(OneModel, names)))


def failed(kind: ErrorKind = "overloaded") -> ProviderError:
    return ProviderError("busy", kind=kind)


def test_one_model_has_nothing_to_decide() -> None:
    one = Router.of_one(port("x/a"))
    assert (one.is_virtual, one.is_chosen, one.port.label) == (False, True, "x/a")
    assert one.begin(1) is None
    assert one.select() is None
    assert not one.can_fall_back(failed())


def test_the_first_is_selected_once_and_said_why() -> None:
    first = router(in_order("x/a", "x/b"))
    assert not first.is_chosen
    selected = first.select()
    assert selected is not None
    assert (selected.model, selected.policy, selected.router, selected.previous) == (
        "x/a",
        "fallback",
        "router/r",
        "",
    )
    assert first.select() is None


KINDS: list[ErrorKind] = [
    *("auth", "permission", "invalid_request", "server_error", "network", "timeout", "stream_interrupted"),
    *("bad_response", "content_filter", "refusal", "length", "price_unknown", "cancelled", "internal"),
    "replay_diverged",
]


@pytest.mark.parametrize("kind", sorted(FALLBACK_KINDS))
def test_another_model_is_asked_on_overload_quota_unknown_model_and_small_windows(kind: ErrorKind) -> None:
    two = router(in_order("x/a", "x/b"))
    two.select()
    assert two.can_fall_back(failed(kind))
    two.give_up()
    selected = two.fall_back(failed(kind))
    assert (selected.model, selected.previous, selected.error_kind, selected.error) == (
        "x/b",
        "x/a",
        kind,
        "busy",
    )
    assert not two.can_fall_back(failed(kind))


@pytest.mark.parametrize("kind", KINDS)
def test_and_on_nothing_else(kind: ErrorKind) -> None:
    two = router(in_order("x/a", "x/b"))
    two.select()
    assert not two.can_fall_back(failed(kind))


def test_room_is_reserved_at_the_dearest_of_those_who_may_answer() -> None:
    three = router(in_order("x/a", "x/b", "x/c"))
    three.select()
    assert three.price_usd(1, 1) == 6.0
    three.give_up()
    three.fall_back(failed())
    assert three.price_usd(1, 1) == 6.0
    three.give_up()
    three.fall_back(failed())
    assert three.price_usd(1, 1) == 4.0


def test_a_model_that_was_not_to_be_had_is_not_tried_again_in_the_next_attempt() -> None:
    two = router(in_order("x/a", "x/b"))
    two.select()
    two.give_up()
    two.fall_back(failed())
    two.begin(2)
    assert two.select() is None
    assert two.port.label == "x/b"


def test_each_attempt_takes_the_next_step() -> None:
    climb = router(ByAttempt("router/r", (OneModel("x/a"), OneModel("x/b"))))
    labels = []
    for attempt in (1, 2, 3):
        climb.begin(attempt)
        climb.select()
        labels.append(climb.port.label)
    assert labels == ["x/a", "x/b", "x/b"]


def test_the_plan_comes_first_and_only_once() -> None:
    split = router(ByPhase("router/r", OneModel("x/a"), OneModel("x/b")))
    split.begin(1)
    split.select()
    assert (split.port.label, split.is_planning) == ("x/a", True)
    selected = split.begin_work()
    assert (selected.model, selected.policy, selected.reason) == ("x/b", "phases", "router/r, phases: work")
    assert not split.is_planning
    split.begin(2)
    assert split.select() is None


def test_a_function_is_told_the_situation_and_gives_one_of_the_models() -> None:
    told: list[Situation] = []

    def choose(situation: Situation) -> str:
        told.append(situation)
        return situation.models[-1]

    node = ByFunction("router/r", "m:f", {"x/a": OneModel("x/a"), "x/b": OneModel("x/b")})
    mine = router(node, functions={"m:f": choose}, task_id="t", tags=("slow",))
    assert mine.begin(1) is node
    mine.pick(node, mine.call(node, "fix it"))
    assert mine.pending() is None
    mine.select()
    assert mine.port.label == "x/b"
    assert told == [Situation("t", ("slow",), "fix it", 1, ("x/a", "x/b"))]
    assert mine.begin(2) is node


@pytest.mark.parametrize("said", ["x/z", None, 7, ["x/a"]])
def test_a_function_that_gives_something_else_is_an_error_line(said: object) -> None:
    node = ByFunction("router/r", "m:f", {"x/a": OneModel("x/a")})
    mine = router(node, functions={"m:f": lambda _situation: said})
    mine.begin(1)
    with pytest.raises(UsageError, match=r"router/r: m:f gave .*, need one of x/a"):
        mine.call(node, "go")


def test_what_is_recorded_brings_a_later_process_to_the_same_place() -> None:
    route = ByAttempt("router/r", (in_order("x/a", "x/b", "x/c"), OneModel("x/c")))
    before = router(route)
    before.begin(1)
    before.select()
    before.give_up()
    before.fall_back(failed())
    later = router(route)
    later.restore(before.record(), has_worked=False)
    assert later.port.label == "x/b"
    assert later.record() == before.record()
    assert later.select() is None
    later.begin(2)
    selected = later.select()
    assert selected is not None
    assert (selected.model, selected.previous) == ("x/c", "x/b")


def test_a_plan_that_was_left_behind_is_not_made_again() -> None:
    split = router(ByPhase("router/r", OneModel("x/a"), OneModel("x/b")))
    split.begin(1)
    split.select()
    later = router(ByPhase("router/r", OneModel("x/a"), OneModel("x/b")))
    later.restore(split.record(), has_worked=True)
    assert (later.port.label, later.is_planning) == ("x/b", False)


@pytest.mark.parametrize(
    "recorded",
    [
        {},
        {"model": "x/gone", "failed": "no list", "picks": [], "attempt": True, "phase": 3},
        {"model": None, "attempt": -1, "failed": [1, None]},
    ],
)
def test_a_record_that_fits_nothing_any_more_counts_for_nothing(recorded: dict[str, Any]) -> None:
    later = router(in_order("x/a", "x/b"))
    later.restore(recorded, has_worked=False)
    assert later.port.label == "x/a"


def test_where_all_have_failed_the_last_one_stays() -> None:
    two = router(in_order("x/a", "x/b"))
    two.restore({"failed": ["x/a", "x/b"]}, has_worked=False)
    assert two.port.label == "x/b"
    assert not two.can_fall_back(failed())
