"""Levels are clamped to what a model takes: to the next weaker one, and never off unless that was said."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from pi_batch.providers.catalog import SERVICES
from pi_batch.providers.models import LEVELS, Level
from pi_batch.providers.thinking_levels import clamped, levels_of

CHAT = SERVICES["openai-chat"]


@pytest.mark.parametrize(
    ("service", "model", "level", "taken"),
    [
        ("openai-chat", "gpt-4.1", "high", None),
        ("openai-chat", "gpt-5", "off", "minimal"),
        ("openai-chat", "gpt-5", "max", "high"),
        ("openai-chat", "gpt-5.1", "off", "off"),
        ("openai-chat", "gpt-5.1", "minimal", "low"),
        ("openai-chat", "gpt-5-pro", "low", "high"),
        ("openai-chat", "some-other", "high", None),
        ("anthropic", "claude-sonnet-5", "minimal", "low"),
        ("anthropic", "claude-sonnet-5", "off", "off"),
        ("anthropic", "claude-sonnet-5-5", "off", "low"),
        ("anthropic", "claude-opus-4-6", "xhigh", "high"),
        ("anthropic", "claude-sonnet-4-5", "xhigh", "xhigh"),
        ("anthropic", "claude-3-haiku", "low", None),
        ("google", "gemini-2.5-flash", "off", "off"),
        ("google", "gemini-2.5-pro", "off", "minimal"),
        ("google", "gemini-3-pro", "off", "low"),
        ("google", "gemini-3-pro", "medium", "low"),
        ("google", "gemini-4-neon", "max", "xhigh"),
        ("google", "gemini-2.0-flash", "high", None),
        ("openrouter", "x/y", "max", "xhigh"),
        ("deepseek", "deepseek-chat", "low", "high"),
        ("deepseek", "deepseek-chat", "off", "off"),
        ("groq", "x", "high", None),
        ("ollama", "qwen3:8b", "off", "off"),
    ],
)
def test_a_level_becomes_one_that_the_model_takes(
    service: str, model: str, level: Level, taken: Level | None
) -> None:
    assert clamped(level, levels_of(SERVICES[service], model)) == taken


def test_a_model_of_unknown_family_on_another_wire_gets_what_was_said() -> None:
    assert levels_of(replace(SERVICES["anthropic"], name="house"), "house-model") is None
    assert clamped("xhigh", None) == "xhigh"


@given(st.sampled_from(LEVELS), st.sets(st.sampled_from(LEVELS)))
def test_what_is_taken_is_offered_and_no_thought_is_never_made_of_some(
    level: Level, offered: set[Level]
) -> None:
    levels = tuple(one for one in LEVELS if one in offered)
    taken = clamped(level, levels)
    assert taken is None or taken in levels
    assert taken != "off" or level == "off"
    assert (taken is None) == (not offered or (offered == {"off"} and level != "off"))
