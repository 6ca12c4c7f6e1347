"""Result keys: unique, steady, fit for a directory."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pi_batch.load.keys import MAX_SLUG_CHARS, input_parts, model_parts, model_slug, result_key


@pytest.mark.parametrize(
    ("model", "slug"),
    [
        ("anthropic/claude-sonnet-5", "anthropic-claude-sonnet-5"),
        ("openai/gpt-5:high", "openai-gpt-5-high"),
        ("ollama/qwen3:8b", "ollama-qwen3-8b"),
        ("openrouter/meta/llama--3", "openrouter-meta-llama-3"),
        ("replay/../x y.jsonl", "replay-..-x-y.jsonl"),
        ("x/\u00e9\u00e8", "x"),
    ],
)
def test_a_model_as_a_part_of_a_key(model: str, slug: str) -> None:
    assert model_slug(model) == slug


def test_a_long_model_ends_in_a_hash() -> None:
    first, second = model_slug("replay/" + "x" * 300), model_slug("replay/" + "x" * 301)
    assert first != second
    assert len(first) == len(second) == MAX_SLUG_CHARS


def test_models_that_look_alike_are_told_apart() -> None:
    parts = model_parts(["a/b-c", "a-b/c", "A/B-C", "d/e"])
    assert len({part.casefold() for part in parts.values()}) == 4
    assert parts["d/e"] == "d-e"
    assert re.fullmatch(r"a-b-c-[0-9a-f]{8}", parts["a/b-c"])


def test_inputs_are_told_apart_by_a_hash() -> None:
    first, second = input_parts([{"a": 1}, {"a": "1"}])
    assert first != second
    assert re.fullmatch(r"[0-9a-f]{8}", first)


def test_a_hash_does_not_hang_on_order_or_on_the_others() -> None:
    assert input_parts([{"a": 1, "b": 2}, {"a": 2}])[0] == input_parts([{"b": 2, "a": 1}])[0]


def test_a_key_has_only_the_parts_that_tell_apart() -> None:
    assert result_key("t", None, None, None) == "t"
    assert result_key("t", "m", None, 2) == "t--m--2"
    assert result_key("t", None, "0123abcd", None) == "t--0123abcd"


@given(st.text(min_size=1, max_size=300))
def test_a_slug_is_safe_for_every_model(model: str) -> None:
    slug = model_slug(model)
    assert re.fullmatch(r"[A-Za-z0-9._-]{1,60}", slug)
    assert "--" not in slug


@given(st.lists(st.text("ab/-:.\u00e9", min_size=1, max_size=12), unique=True, max_size=6))
def test_every_model_of_a_plan_has_a_part_of_its_own(models: list[str]) -> None:
    parts = model_parts(models)
    assert len({part.casefold() for part in parts.values()}) == len(models)


def test_the_longest_key_fits_a_directory() -> None:
    key = result_key("x" * 100, model_slug("y" * 900), input_parts([{"a": 1}])[0], 99999)
    assert len(key.encode()) <= 200
