"""Who was asked, who answered, and what each cost: sums that add up, over fallbacks and reruns."""

from __future__ import annotations

from typing import Any

from pi_batch.events import CompactionEnd, MessageEnd, MessageStart, ModelClassified, ModelSelected
from pi_batch.fold import fold
from pi_batch.messages import Usage
from pi_batch.model_fold import ModelFold
from pi_batch.results import ModelSelection, ModelUsage, RunResult
from tests.streams import Stream

A, B = "x/a", "y/b"


def answered(model: str, **fields: Any) -> MessageEnd:
    values: dict[str, Any] = {"stop_reason": "stop", "usage": Usage(10, 5), "cost_usd": 0.5}
    return MessageEnd("00000001", "assistant", model, **(values | fields))


def lost(model: str, usage: Usage, cost_usd: float | None) -> MessageEnd:
    return MessageEnd("", "assistant", model, "error", usage, cost_usd)


def result(*events: Any) -> RunResult:
    (found,) = fold(Stream("t").start("t").add("t", *events).end("t").records).results
    return found


def test_each_model_has_its_own_sums_and_they_add_up() -> None:
    found = result(
        answered(A),
        lost(A, Usage(7), 0.25),
        answered(B, cost_usd=0.125),
        CompactionEnd(9, 1, Usage(3, 1), 0.0625, model="z/c"),
        ModelClassified("router/r", "easy", "z/c", Usage(2, 1), 0.0625),
    )
    assert found.model_usage == {
        A: ModelUsage(1, 0, Usage(17, 5), 0.75),
        B: ModelUsage(1, 0, Usage(10, 5), 0.125),
        "z/c": ModelUsage(2, 0, Usage(5, 2), 0.125),
    }
    assert sum(one.total_cost_usd or 0 for one in found.model_usage.values()) == found.total_cost_usd
    assert sum((one.usage for one in found.model_usage.values()), Usage()) == found.usage
    assert found.models_used == (A, B, "z/c")


def test_a_classification_is_no_turn() -> None:
    found = result(ModelClassified("router/r", "easy", A, Usage(2, 1), 0.25), answered(B))
    assert (found.num_turns, found.total_cost_usd) == (1, 0.75)


def test_a_classification_that_failed_and_cost_nothing_leaves_the_cost_known() -> None:
    found = result(ModelClassified("router/r", "easy", error="no"), answered(B))
    assert (found.total_cost_usd, found.models_used) == (0.5, (B,))


def test_an_unknown_price_is_unknown_for_its_model_and_for_the_task() -> None:
    found = result(answered(A, cost_usd=None), answered(B))
    assert found.total_cost_usd is None
    assert found.model_usage[A].total_cost_usd is None
    assert found.model_usage[B].total_cost_usd == 0.5


def test_a_kept_reply_is_marked() -> None:
    found = result(answered(A, cost_usd=0.0, is_cached=True), answered(A))
    assert found.model_usage[A] == ModelUsage(2, 1, Usage(20, 10), 0.5)


def test_a_request_without_a_word_of_who_answered_counts_for_who_was_asked() -> None:
    found = result(MessageStart("assistant", A), lost("", Usage(4), 0.25))
    assert found.model_usage == {A: ModelUsage(0, 0, Usage(4), 0.25)}
    assert found.models_used == ()


def test_selections_are_kept_in_order_with_where_they_were_made() -> None:
    found = result(
        ModelSelected(A, "fallback", "1 of 2", "router/r"),
        answered(A),
        ModelSelected(B, "fallback", "2 of 2", "router/r", A, "quota", "spent"),
        answered(B),
    )
    assert found.model_selections == (
        ModelSelection(0, A, "fallback", "1 of 2", "router/r", None),
        ModelSelection(1, B, "fallback", "2 of 2", "router/r", "quota"),
    )
    assert found.warnings == (f"{A} was not to be had (quota), {B} goes on: spent",)


def test_a_task_begun_anew_goes_on_with_its_sums() -> None:
    before = result(ModelSelected(A, "fallback", "1 of 2"), answered(A))
    again = ModelFold(before)
    again.feed(answered(A))
    assert again.by_model[A] == ModelUsage(2, 0, Usage(20, 10), 1.0)
    assert again.selections == []
