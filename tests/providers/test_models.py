"""Families of models: the most output, levels of thinking, and where a prefix ends."""

from __future__ import annotations

import pytest

from pi_batch.providers.models import (
    FAMILIES,
    LEVELS,
    ModelFacts,
    effort,
    is_known_family,
    model_facts,
    takes_completion_tokens,
)

UNKNOWN = ModelFacts(1)


@pytest.mark.parametrize(
    ("model", "family"),
    [
        ("gpt-4.1", "gpt-4.1"),
        ("gpt-4.1-mini-2025-04-14", "gpt-4.1"),
        ("gpt-4o-mini", "gpt-4o"),
        ("gpt-4-0613", "gpt-4"),
        ("gpt-5-mini", "gpt-5"),
        ("gpt-5.1", "gpt-5.1"),
        ("gpt-5-chat-latest", "gpt-5-chat"),
        ("gpt-6-astra", "gpt-6"),
        ("o3-mini", "o3"),
        ("openai/gpt-5.2-pro", "gpt-5.2-pro"),
        ("claude-opus-4-20250514", "claude-opus-4"),
        ("claude-sonnet-4-5-20250929", "claude-sonnet-4-5"),
        ("claude-opus-4-8", "claude-opus-4-8"),
        ("claude-sonnet-5", "claude-sonnet-5"),
        ("claude-sonnet-5-5-20260101", "claude-sonnet-5-5"),
        ("claude-3-5-haiku-latest", "claude-3-5"),
        ("anthropic/claude-fable-5-2", "claude-fable"),
        ("claude-zephyr-9", "claude"),
        ("GPT-4.1", "gpt-4.1"),
    ],
)
def test_the_longest_family_of_a_model_counts(model: str, family: str) -> None:
    assert model_facts(model, UNKNOWN) is FAMILIES[family]
    assert is_known_family(model)


@pytest.mark.parametrize("model", ["qwen3:8b", "gpt-7", "gpt-45", "o30", "gpt-oss-120b", "", "claudette"])
def test_what_only_looks_like_a_family_is_unknown(model: str) -> None:
    assert model_facts(model, UNKNOWN) is UNKNOWN
    assert not is_known_family(model)


@pytest.mark.parametrize(
    "model", ["o1", "o3-mini", "o4-mini", "gpt-5", "gpt-5.6-sol", "gpt-6-astra", "gpt-10", "openai/o3"]
)
def test_new_openai_models_take_completion_tokens(model: str) -> None:
    assert takes_completion_tokens(model)


@pytest.mark.parametrize(
    "model", ["gpt-4.1", "gpt-4o", "gpt-3.5-turbo", "gpt-oss-120b", "deepseek-chat", "qwen3", "o"]
)
def test_other_models_take_max_tokens(model: str) -> None:
    assert not takes_completion_tokens(model)


@pytest.mark.parametrize(
    ("level", "efforts", "word"),
    [
        ("low", ("low", "medium", "high"), "low"),
        ("minimal", ("low", "medium", "high"), "low"),
        ("off", ("low", "medium", "high"), "low"),
        ("max", ("low", "medium", "high"), "high"),
        ("xhigh", ("low", "high", "max"), "high"),
        ("off", ("none", "low"), "none"),
        ("none", ("none", "low"), "none"),
        ("off", ("minimal", "low"), "minimal"),
        ("minimal", ("none", "low"), "low"),
        ("high", ("high",), "high"),
        ("low", ("high",), "high"),
        ("low", (), None),
    ],
)
def test_a_level_is_clamped_to_what_the_family_takes(
    level: str, efforts: tuple[str, ...], word: str | None
) -> None:
    assert effort(level, efforts) == word


def test_an_unknown_level_is_named_with_those_that_are_known() -> None:
    with pytest.raises(ValueError, match="thinking level 'huge': unknown; known are off, minimal"):
        effort("huge", ("low",))


@pytest.mark.parametrize("family", FAMILIES)
def test_every_family_is_told_levels_in_its_own_words(family: str) -> None:
    facts = FAMILIES[family]
    assert facts.max_output_tokens >= 4_096
    if facts.thinking in ("effort", "adaptive", "level"):
        assert {effort(level, facts.efforts) for level in LEVELS} <= {*facts.efforts}
    else:
        assert facts.efforts == ()
