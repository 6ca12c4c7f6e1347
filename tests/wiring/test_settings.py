"""Settings that are not about one run."""

from __future__ import annotations

from pathlib import Path

import pytest

from pi_batch.engine.retry import RetryPolicy
from pi_batch.errors import UsageError
from pi_batch.wiring.settings import Settings
from pi_batch.wiring.surroundings import Surroundings


def settings(tmp_path: Path, config: str = "", **environ: str) -> Settings:
    """Settings of a directory with this config file."""
    (tmp_path / ".pi-batch.toml").write_text(config, encoding="utf-8")
    return Settings(Surroundings(tmp_path, environ))


def test_without_a_word_nothing_is_set(tmp_path: Path) -> None:
    found = settings(tmp_path)
    assert (found.model, found.idle_timeout_s, found.max_output_tokens, found.output) == (None,) * 4
    assert found.retry == RetryPolicy()


def test_the_environment_outranks_the_file(tmp_path: Path) -> None:
    config = 'model = "openai/file"\nidle_timeout_s = 5\nmax_retries = 0\noutput = "runs"\n'
    found = settings(tmp_path, config, PI_BATCH_MODEL="openai/environment", PI_BATCH_RETRY_CAP_S="3")
    assert found.model == "openai/environment"
    assert found.idle_timeout_s == 5
    assert (found.retry.max_retries, found.retry.cap_s) == (0, 3)
    assert found.output == tmp_path / "runs"


def test_a_price_of_ones_own_stands_over_the_table(tmp_path: Path) -> None:
    (tmp_path / "prices.json").write_text('{"openai/mine": {"input": 2.0, "output": 8.0}}', encoding="utf-8")
    found = settings(tmp_path, PI_BATCH_PRICES="prices.json")
    price = found.prices().lookup("openai", "mine")
    assert price is not None
    assert (price.input, price.output) == (2.0, 8.0)


@pytest.mark.parametrize(
    ("config", "environ", "complaint"),
    [
        ("modle = 'x'\n", {}, "modle"),
        ("max_retries = -1\n", {}, "max_retries"),
        ("not toml", {}, ".pi-batch.toml"),
        ("", {"PI_BATCH_IDLE_TIMEOUT_S": "soon"}, "PI_BATCH_IDLE_TIMEOUT_S"),
        ("", {"PI_BATCH_MAX_OUTPUT_TOKENS": "0"}, "PI_BATCH_MAX_OUTPUT_TOKENS"),
    ],
)
def test_a_wrong_setting_is_named(
    tmp_path: Path, config: str, environ: dict[str, str], complaint: str
) -> None:
    with pytest.raises(UsageError, match=complaint):
        settings(tmp_path, config, **environ)


def test_a_price_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"absent\.json"):
        settings(tmp_path, PI_BATCH_PRICES="absent.json").prices()
