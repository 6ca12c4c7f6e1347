"""A level of thinking is asked for in each Gemini family's own way."""

from __future__ import annotations

from typing import Any

import pytest

from pi_batch.providers.google_thinking import thinking_config
from pi_batch.providers.models import LEVELS, ModelFacts, model_facts


def config(model: str, level: str | None, cap: int | None = 60_000) -> dict[str, Any]:
    return thinking_config(level, model_facts(model, ModelFacts(1)), cap)


@pytest.mark.parametrize(
    ("model", "level", "said"),
    [
        ("gemini-3.1-pro-preview", None, {}),
        ("gemini-3.1-pro-preview", "low", {"thinkingLevel": "LOW", "includeThoughts": True}),
        ("gemini-3.1-pro-preview", "minimal", {"thinkingLevel": "LOW", "includeThoughts": True}),
        ("gemini-3.1-pro-preview", "max", {"thinkingLevel": "HIGH", "includeThoughts": True}),
        ("gemini-3.1-pro-preview", "off", {"thinkingLevel": "LOW", "includeThoughts": False}),
        ("gemini-3-pro-preview", "medium", {"thinkingLevel": "LOW", "includeThoughts": True}),
        ("gemini-3-flash-preview", "minimal", {"thinkingLevel": "MINIMAL", "includeThoughts": True}),
        ("gemini-4-neon", "max", {"thinkingLevel": "XHIGH", "includeThoughts": True}),
        ("gemini-4-argon", "xhigh", {"thinkingLevel": "HIGH", "includeThoughts": True}),
        ("gemini-2.5-flash", "medium", {"thinkingBudget": 8_192, "includeThoughts": True}),
        ("gemini-2.5-flash", "max", {"thinkingBudget": 24_576, "includeThoughts": True}),
        ("gemini-2.5-flash", "off", {"thinkingBudget": 0}),
        ("gemini-2.5-flash-lite", "none", {"thinkingBudget": 0}),
        ("gemini-2.5-pro", "max", {"thinkingBudget": 32_768, "includeThoughts": True}),
        ("gemini-2.5-pro", "off", {"thinkingBudget": 128}),
        ("gemini-2.0-flash", "high", {}),
        ("gemma-3-27b-it", "high", {}),
        ("mystery", "high", {}),
    ],
)
def test_a_level_is_clamped_to_what_the_family_takes(
    model: str, level: str | None, said: dict[str, Any]
) -> None:
    assert config(model, level) == said


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize(
    "model", ["gemini-2.5-pro", "gemini-2.5-flash", "gemini-3-pro", "gemini-4-argon", "gemini-99"]
)
def test_budget_and_level_are_never_sent_together_and_pro_never_gets_none(model: str, level: str) -> None:
    said = config(model, level)
    assert len({"thinkingBudget", "thinkingLevel"} & said.keys()) == 1
    assert model != "gemini-2.5-pro" or said["thinkingBudget"] >= 128


def test_a_budget_leaves_room_for_the_answer() -> None:
    assert config("gemini-2.5-flash", "high", 4_096)["thinkingBudget"] == 3_072
    assert config("gemini-2.5-pro", "high", 500)["thinkingBudget"] == 128
    assert config("gemini-2.5-pro", "high", None)["thinkingBudget"] == 16_384
