"""Model names to what answers them."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest

from pi_batch.errors import ProviderError, UsageError
from pi_batch.model_names import ModelName
from pi_batch.results import PlannedResult
from pi_batch.spec import BudgetSpec, PlannedTask, TaskSpec
from pi_batch.wiring.models import ModelPool, find_service, providers_with_keys
from pi_batch.wiring.settings import Settings
from pi_batch.wiring.surroundings import Surroundings
from tests.cases.turns import say, write_session


@pytest.mark.parametrize(
    ("text", "provider", "model", "thinking"),
    [
        ("anthropic/claude-sonnet-5", "anthropic", "claude-sonnet-5", None),
        ("anthropic/claude-sonnet-5:high", "anthropic", "claude-sonnet-5", "high"),
        ("ollama/qwen3:8b", "ollama", "qwen3:8b", None),
        ("ollama/qwen3:8b:off", "ollama", "qwen3:8b", "off"),
        ("openrouter/meta/llama:free", "openrouter", "meta/llama:free", None),
        ("openai/gpt:HIGH", "openai", "gpt:HIGH", None),
        ("openai/:high", "openai", ":high", None),
        ("replay/session.jsonl", "replay", "session.jsonl", None),
        ("replay//abs/a b.jsonl", "replay", "/abs/a b.jsonl", None),
        ("replay/dir/x:high", "replay", "dir/x:high", None),
    ],
)
def test_only_a_known_thinking_level_is_taken_off(
    text: str, provider: str, model: str, thinking: str | None
) -> None:
    parsed = ModelName.parse(text)
    assert (parsed.provider, parsed.model, parsed.thinking) == (provider, model, thinking)


@pytest.mark.parametrize("text", ["", "gpt", "/gpt", "openai/", "/"])
def test_a_name_has_a_provider_and_a_model(text: str) -> None:
    with pytest.raises(UsageError, match="need provider/model"):
        ModelName.parse(text)


def pool(tmp_path: Path, environ: Mapping[str, str] | None = None, *, has_limit: bool = False) -> ModelPool:
    """A pool in a directory with these variables."""
    around = Surroundings(tmp_path, environ or {})
    return ModelPool(around, Settings(around), has_cost_limit=has_limit)


def task(model: str, cost_usd: float | None = None) -> PlannedTask:
    """A planned task of this model."""
    spec = TaskSpec(id="t", prompt="p", budget=BudgetSpec(cost_usd=cost_usd))
    return PlannedTask(PlannedResult("t", "t", "", "t.yaml", "0" * 64, model), spec, "/w", model)


def ignore(_warning: str) -> None:
    """No warning matters."""


def test_all_unknown_providers_are_told_at_once_with_the_nearest(tmp_path: Path) -> None:
    with pytest.raises(UsageError) as caught:
        pool(tmp_path).check(
            [task("opanai/x"), task(f"replay/{tmp_path}"), task("nobody/x"), task("opanai/x")]
        )
    first, second = str(caught.value).split("\n")
    assert first.startswith("provider 'opanai': unknown, did you mean 'openai'? (known: ")
    assert second.startswith("provider 'nobody': unknown")


def test_prices_that_cannot_be_read_are_told_once_and_only_where_they_matter(tmp_path: Path) -> None:
    broken = pool(tmp_path, {"PI_BATCH_PRICES": "absent.json"})
    with pytest.raises(UsageError) as caught:
        broken.check([task("openai/a"), task("openai/b")])
    assert str(caught.value).count("absent.json") == 1
    broken.check([task(f"replay/{tmp_path}")])


def test_a_recording_is_found_from_where_the_program_was_started(tmp_path: Path) -> None:
    write_session(tmp_path / "s.jsonl", [say("hi")])
    for name in ("replay/s.jsonl", f"replay/{tmp_path}/s.jsonl"):
        opened = pool(tmp_path).open(task(name), ignore)
        assert opened.port.provider_name == "replay"
    with pytest.raises(UsageError, match="absent"):
        pool(tmp_path).open(task("replay/absent.jsonl"), ignore)


def test_a_service_without_its_key_names_the_variable(tmp_path: Path) -> None:
    with pytest.raises(ProviderError, match="ANTHROPIC_API_KEY") as caught:
        pool(tmp_path).open(task("anthropic/claude-sonnet-4-5"), ignore)
    assert caught.value.kind == "auth"


async def test_a_service_is_connected_to_once(tmp_path: Path) -> None:
    opened = pool(tmp_path, {"OPENAI_API_KEY": "sk-x"})
    first = opened.open(task("openai/gpt-5:low"), ignore).port
    second = opened.open(task("openai/gpt-4o"), ignore).port
    assert first.provider is second.provider
    assert (first.model, first.thinking, second.thinking) == ("gpt-5", "low", None)
    await opened.close()


async def test_services_at_one_endpoint_share_its_limit_and_others_have_their_own(tmp_path: Path) -> None:
    opened = pool(tmp_path, {"OPENAI_API_KEY": "sk-x", "GROQ_API_KEY": "x"})
    names = ("openai/a", "openai-chat/b", "groq/c")
    first, second, other = (opened.open(task(name), ignore).port.limiter for name in names)
    assert first is second
    assert first is not other
    await opened.close()


@pytest.mark.parametrize("has_limit", [True, False])
async def test_a_money_limit_refuses_a_model_without_a_price(tmp_path: Path, has_limit: bool) -> None:
    """BerriAI/litellm#36561: an unknown price is not free."""
    models = pool(tmp_path, {"OPENAI_API_KEY": "sk-x"}, has_limit=has_limit)
    with pytest.raises(ProviderError, match="no-price-model: no price is known") as caught:
        models.open(task("openai/no-price-model", cost_usd=None if has_limit else 1.0), ignore)
    assert caught.value.kind == "price_unknown"
    await models.close()


async def test_without_a_limit_a_model_without_a_price_is_fine(tmp_path: Path) -> None:
    models = pool(tmp_path, {"OPENAI_API_KEY": "sk-x"})
    assert models.open(task("openai/no-price-model"), ignore).port.model == "no-price-model"
    await models.close()


def test_a_service_of_ones_own_is_known_from_the_config_file(tmp_path: Path) -> None:
    (tmp_path / ".pi-batch.toml").write_text(
        '[providers.lab]\nbase_url = "http://127.0.0.1:9/v1"\n', encoding="utf-8"
    )
    settings = Settings(Surroundings(tmp_path, {}))
    assert find_service("lab", settings).name == "lab"
    with pytest.raises(UsageError, match="lab"):
        find_service("labb", settings)


def test_services_with_keys_are_those_whose_variable_is_set(tmp_path: Path) -> None:
    assert providers_with_keys(Surroundings(tmp_path, {})) == ()
    assert "groq" in providers_with_keys(Surroundings(tmp_path, {"GROQ_API_KEY": "x"}))


async def test_another_model_sums_up_where_one_is_set(tmp_path: Path) -> None:
    environ = {
        "OPENAI_API_KEY": "k-12345678",
        "PI_BATCH_COMPACTION_MODEL": "openai/gpt-4.1-mini",
        "PI_BATCH_COMPACTION_RESERVE_TOKENS": "5000",
        "PI_BATCH_CONTEXT_WINDOW": "32000",
    }
    models = pool(tmp_path, environ)
    port = models.open(task("openai/gpt-4.1"), ignore).port
    assert port.summarizer is not None
    assert (port.summarizer.label, port.summarizer.context_window) == ("openai/gpt-4.1-mini", 1_000_000)
    assert (port.context_window, port.reserve) == (32_000, 5_000)
    assert models.open(task("openai/gpt-4.1-mini"), ignore).port.summarizer is None
    await models.close()


async def test_a_model_for_summaries_is_looked_at_before_anything_runs(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="opneai"):
        pool(tmp_path, {"PI_BATCH_COMPACTION_MODEL": "opneai/gpt-4.1-mini"}).check([task("openai/gpt-4.1")])
    environ = {"OPENAI_API_KEY": "k-12345678", "PI_BATCH_COMPACTION_MODEL": "openai/no-price-model"}
    limited = pool(tmp_path, environ, has_limit=True)
    with pytest.raises(ProviderError, match="no-price-model: no price is known"):
        limited.open(task("openai/gpt-4.1"), ignore)
    await limited.close()


def test_a_recording_sums_nothing_up(tmp_path: Path) -> None:
    write_session(tmp_path / "s.jsonl", [say("done")])
    with pytest.raises(UsageError, match="compaction_model"):
        pool(tmp_path, {"PI_BATCH_COMPACTION_MODEL": "replay/s.jsonl"}).check([task("replay/s.jsonl")])
