"""Reported usage becomes four disjoint numbers, and nothing reported stays nothing."""

from __future__ import annotations

from typing import Any

import pytest

from pi_batch.messages import Usage
from pi_batch.providers.usage import (
    chat_usage,
    gemini_usage,
    messages_usage,
    reported_cost_usd,
    responses_usage,
)


def test_cached_and_written_tokens_are_taken_out_of_the_prompt() -> None:
    reported = {
        "prompt_tokens": 1000,
        "completion_tokens": 50,
        "prompt_tokens_details": {"cached_tokens": 600, "cache_write_tokens": 100},
        "completion_tokens_details": {"reasoning_tokens": 20},
    }
    assert chat_usage(reported) == Usage(300, 50, 600, 100, 20)


def test_deepseeks_hits_and_misses_are_read() -> None:
    reported = {
        "prompt_tokens": 1000,
        "completion_tokens": 50,
        "prompt_cache_hit_tokens": 900,
        "prompt_cache_miss_tokens": 100,
    }
    assert chat_usage(reported) == Usage(100, 50, 900)


def test_kimis_cached_tokens_at_the_top_are_read() -> None:
    assert chat_usage({"prompt_tokens": 10, "completion_tokens": 1, "cached_tokens": 4}) == Usage(6, 1, 4)


def test_more_cached_than_prompted_is_never_negative() -> None:
    reported = {"prompt_tokens": 10, "completion_tokens": 1, "prompt_tokens_details": {"cached_tokens": 40}}
    assert chat_usage(reported) == Usage(0, 1, 40)


def test_reasoning_is_inside_the_output_unless_the_service_leaves_it_out() -> None:
    reported = {
        "prompt_tokens": 10,
        "completion_tokens": 5,
        "total_tokens": 45,
        "completion_tokens_details": {"reasoning_tokens": 30},
    }
    assert chat_usage(reported) == Usage(10, 5, 0, 0, 5)
    assert chat_usage(reported, reasoning_outside_output=True) == Usage(10, 35, 0, 0, 30)


def test_a_service_that_has_changed_its_mind_is_not_counted_twice() -> None:
    reported = {
        "prompt_tokens": 10,
        "completion_tokens": 35,
        "total_tokens": 45,
        "completion_tokens_details": {"reasoning_tokens": 30},
    }
    assert chat_usage(reported, reasoning_outside_output=True) == Usage(10, 35, 0, 0, 30)


@pytest.mark.parametrize(
    "reported",
    [{}, {"prompt_tokens": None}, {"prompt_tokens": "10"}, {"prompt_tokens": True}, {"total_tokens": 3}],
)
def test_nothing_reported_is_none_and_not_zero(reported: dict[str, Any]) -> None:
    assert chat_usage(reported) is None


@pytest.mark.parametrize("details", [None, [], "x", 3])
def test_details_of_another_shape_are_no_details(details: object) -> None:
    reported = {"prompt_tokens": 10.0, "completion_tokens": 1, "prompt_tokens_details": details}
    assert chat_usage(reported) == Usage(10, 1)


def test_the_bill_is_read_where_there_is_one() -> None:
    assert reported_cost_usd({"cost": 0.0123}) == 0.0123
    assert reported_cost_usd({"cost": 0}) == 0
    for cost in (None, "0.1", True, -1):
        assert reported_cost_usd({"cost": cost}) is None


def test_messages_input_has_no_cached_tokens_in_it() -> None:
    reported = {
        "input_tokens": 10,
        "output_tokens": 5,
        "cache_read_input_tokens": 900,
        "cache_creation_input_tokens": 90,
        "output_tokens_details": {"thinking_tokens": 3},
    }
    assert messages_usage(reported) == Usage(10, 5, 900, 90, 3)


def test_a_later_report_replaces_what_it_names_and_leaves_the_rest() -> None:
    start = messages_usage({"input_tokens": 10, "output_tokens": 1, "cache_read_input_tokens": 900})
    assert messages_usage({"output_tokens": 57}, start) == Usage(10, 57, 900)
    assert messages_usage({"input_tokens": None, "output_tokens": 57}, start) == Usage(10, 57, 900)


def test_a_report_of_nothing_keeps_what_was_known() -> None:
    assert messages_usage({}) is None
    assert messages_usage({}, Usage(1, 2)) == Usage(1, 2)


def test_cache_writes_are_the_sum_of_both_lifetimes_where_only_those_are_told() -> None:
    parts = {"ephemeral_5m_input_tokens": 7, "ephemeral_1h_input_tokens": 5}
    assert messages_usage({"input_tokens": 1, "cache_creation": parts}) == Usage(1, 0, 0, 12)


def test_responses_count_what_was_read_and_written_by_the_cache_inside_the_input() -> None:
    reported = {
        "input_tokens": 1000,
        "input_tokens_details": {"cached_tokens": 600, "cache_write_tokens": 100},
        "output_tokens": 50,
        "output_tokens_details": {"reasoning_tokens": 20},
    }
    assert responses_usage(reported) == Usage(300, 50, 600, 100, 20)
    assert responses_usage({"input_tokens": 5, "output_tokens": 1, "input_tokens_details": None}) == Usage(
        5, 1
    )
    assert responses_usage({"input_tokens": 5, "input_tokens_details": {"cached_tokens": 9}}) == Usage(
        0, 0, 9
    )
    assert responses_usage({"total_tokens": 5}) is None


def test_gemini_counts_thoughts_apart_from_the_answer_and_the_cache_inside_the_prompt() -> None:
    reported = {
        "promptTokenCount": 1000,
        "cachedContentTokenCount": 600,
        "toolUsePromptTokenCount": 10,
        "candidatesTokenCount": 50,
        "thoughtsTokenCount": 20,
    }
    assert gemini_usage(reported) == Usage(410, 70, 600, 0, 20)
    assert gemini_usage({"promptTokenCount": 5}) == Usage(5)
    assert gemini_usage({"thoughtsTokenCount": 5}) == Usage(0, 5, 0, 0, 5)
    assert gemini_usage({"totalTokenCount": 5}) is None
