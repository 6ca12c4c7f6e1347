"""Who says how many tokens a model takes in."""

from __future__ import annotations

from pathlib import Path

import pytest

from pi_batch.wiring.models import find_service
from pi_batch.wiring.settings import Settings
from pi_batch.wiring.surroundings import Surroundings
from pi_batch.wiring.windows import context_window

SETTING = {"PI_BATCH_CONTEXT_WINDOW": "1000"}
PRICES = {"PI_BATCH_PRICES": "prices.json"}
CONFIG = "[providers.anthropic]\ncontext_window = 3000\n"


@pytest.mark.parametrize(
    ("environ", "config", "window", "source"),
    [
        (SETTING | PRICES, CONFIG, 1_000, "PI_BATCH_CONTEXT_WINDOW or config"),
        (PRICES, CONFIG, 2_000, "the price file"),
        ({}, CONFIG, 3_000, "the config file's [providers.anthropic]"),
        ({}, "", 200_000, "the price table"),
        ({}, "context_window = 4000\n", 4_000, "PI_BATCH_CONTEXT_WINDOW or config"),
    ],
)
def test_the_nearest_word_counts(
    tmp_path: Path, environ: dict[str, str], config: str, window: int, source: str
) -> None:
    (tmp_path / ".pi-batch.toml").write_text(config)
    entry = '{"claude-sonnet-4-5": {"input": 1, "output": 1, "context_window": 2000}}'
    (tmp_path / "prices.json").write_text(entry)
    settings = Settings(Surroundings(tmp_path, environ))
    service = find_service("anthropic", settings)
    found = context_window("anthropic", "claude-sonnet-4-5", service, settings, settings.prices())
    assert found == (window, source)


def test_where_the_table_is_silent_the_family_is_asked(tmp_path: Path) -> None:
    settings = Settings(Surroundings(tmp_path, {}))
    service = find_service("google", settings)
    found = context_window("google", "gemini-2.5-pro", service, settings, settings.prices())
    assert found == (1_048_576, "the model's family")


def test_a_window_that_nobody_knows_says_what_to_do(tmp_path: Path) -> None:
    settings = Settings(Surroundings(tmp_path, {}))
    found = context_window("vllm", "my-model", find_service("vllm", settings), settings, settings.prices())
    assert found[0] is None
    assert "set context_window" in found[1]
