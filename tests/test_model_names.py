"""Names of models: recordings, virtual ones, and labels without a level."""

from __future__ import annotations

import pytest

from pi_batch.model_names import THINKING_LEVELS, ModelName, is_recording, is_virtual
from pi_batch.providers.models import LEVELS


def test_none_is_another_word_for_off() -> None:
    assert ModelName.parse("openai/gpt-5:none").thinking == "off"
    assert ModelName.parse("openai/gpt-5:none").model == "gpt-5"


@pytest.mark.parametrize("level", THINKING_LEVELS)
def test_the_label_leaves_the_level_out(level: str) -> None:
    name = ModelName.parse(f"openai/gpt-5:{level}")
    assert (name.label, name.thinking) == ("openai/gpt-5", level)


def test_the_levels_are_those_that_the_wires_know() -> None:
    assert THINKING_LEVELS == LEVELS


@pytest.mark.parametrize("name", ["router/x:high", "replay/x:high"])
def test_a_virtual_model_and_a_recording_have_no_level(name: str) -> None:
    assert ModelName.parse(name).thinking is None


def test_what_stands_before_the_slash_tells_recordings_and_virtual_models() -> None:
    assert is_recording("replay/a.jsonl")
    assert not is_recording("replayer/a")
    assert is_virtual("router/x")
    assert not is_virtual("openrouter/x")
