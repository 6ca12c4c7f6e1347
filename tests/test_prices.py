"""Prices: known ones are right, unknown ones are unknown, and sums are by the rules of PROVIDERS."""

from __future__ import annotations

import json
import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pi_batch.errors import UsageError
from pi_batch.messages import Usage
from pi_batch.prices import (
    LOCAL_PROVIDERS,
    Price,
    PriceTable,
    Tier,
    cost_usd,
    most_usd,
    read_own_prices,
)

DATA = Path(__file__).parents[1] / "pi_batch" / "price_data"
TABLE = PriceTable()
M = 1_000_000


def known(provider: str, model: str) -> Price:
    price = TABLE.lookup(provider, model)
    assert price is not None
    return price


# --- sums ------------------------------------------------------------------------------------------


def test_each_kind_of_token_has_its_rate() -> None:
    price = Price(3, 15, cache_read=0.3, cache_write=3.75, cache_write_1h=6)
    assert cost_usd(Usage(M, 0), price) == 3
    assert cost_usd(Usage(0, M), price) == 15
    assert cost_usd(Usage(0, 0, M), price) == pytest.approx(0.3)
    assert cost_usd(Usage(0, 0, 0, M), price) == 3.75
    assert cost_usd(Usage(0, 0, 0, M), price, cache_write_1h_tokens=M) == 6


def test_reasoning_is_inside_the_output_and_not_paid_twice() -> None:
    assert cost_usd(Usage(0, M, 0, 0, M), Price(3, 15)) == 15


def test_a_missing_cache_rate_is_the_input_rate() -> None:
    assert cost_usd(Usage(0, 0, M, M), Price(3, 15)) == 6
    assert cost_usd(Usage(0, 0, 0, M), Price(3, 15, cache_write=4), cache_write_1h_tokens=M) == 4


def test_a_tier_is_chosen_by_the_whole_input_and_holds_for_all_of_it() -> None:
    price = Price(1, 10, cache_read=0.1, tiers=(Tier(200_000, input=2, output=20, cache_read=0.2),))
    assert cost_usd(Usage(200_000, 0), price) == pytest.approx(0.2)
    assert cost_usd(Usage(200_001, 0), price) == pytest.approx(0.400002)
    assert cost_usd(Usage(1, M, 200_000), price) == pytest.approx(20 + 0.04 + 2e-6)


def test_of_several_tiers_the_highest_reached_counts_and_keeps_what_it_does_not_change() -> None:
    price = Price(1, 10, tiers=(Tier(100, output=20), Tier(1000, input=5)))
    assert price.at(100) is price
    assert (price.at(101).input, price.at(101).output) == (1, 20)
    assert (price.at(1001).input, price.at(1001).output) == (5, 20)


def test_the_most_that_a_request_can_cost_covers_a_cache_write() -> None:
    price = Price(3, 15, cache_read=0.3, cache_write=3.75)
    assert most_usd(M, M, price) == 18.75


@given(
    st.integers(0, 400_000), st.integers(0, 400_000), st.integers(0, 400_000), st.integers(0, 100_000),
    st.sampled_from(["claude-haiku-5-5", "claude-sonnet-5", "claude-sonnet-4-5", "claude-opus-4-8"]),
)  # fmt: skip
def test_no_request_costs_more_than_was_reserved_for_its_size(
    fresh: int, read: int, written: int, output: int, model: str
) -> None:
    price = known("anthropic", model)
    usage = Usage(fresh, output, read, written)
    assert cost_usd(usage, price) <= most_usd(fresh + read + written, output, price) * (1 + 1e-9)


# --- the frozen table ------------------------------------------------------------------------------


def test_known_models_have_the_prices_of_the_frozen_date() -> None:
    gpt = known("openai", "gpt-4.1")
    assert (gpt.input, gpt.output, gpt.cache_read) == (2, 8, 0.5)
    claude = known("anthropic", "claude-opus-4-5")
    rates = (claude.input, claude.output, claude.cache_read, claude.cache_write, claude.cache_write_1h)
    assert rates == (5, 25, 0.5, 6.25, 10)
    assert gpt.source == "genai-prices 0.2.3 of 2026-11-30"


def test_claude_writes_cost_a_quarter_more_and_double_for_an_hour() -> None:
    for model in ("claude-opus-5", "claude-sonnet-5", "claude-fable-5-2"):
        price = known("anthropic", model)
        assert price.cache_write == pytest.approx(1.25 * price.input)
        assert price.cache_write_1h == pytest.approx(2 * price.input)


def test_tiers_are_in_the_table() -> None:
    assert known("anthropic", "claude-haiku-5-5").tiers[0].input_tokens_above == 100_000
    assert known("xai", "grok-4.5").at(200_000).input == 4


def test_a_price_that_depends_on_the_hour_is_the_dearest() -> None:
    assert known("deepseek", "deepseek-flash").input == 0.3


@pytest.mark.parametrize(
    ("provider", "model", "same"),
    [
        ("anthropic", "claude-sonnet-4-5-20250929", "claude-sonnet-4-5"),
        ("anthropic", "claude-opus-4-20250514", "claude-opus-4"),
        ("anthropic", "claude-sonnet-5@20260801", "claude-sonnet-5"),
        ("anthropic", "claude-sonnet-5-latest", "claude-sonnet-5"),
        ("openai", "gpt-5.6-sol-2026-10-01", "gpt-5.6-sol"),
        ("openai-chat", "gpt-4.1", "gpt-4.1"),
        ("openrouter", "anthropic/claude-haiku-5.5-20261001", "anthropic/claude-haiku-5.5"),
        ("openai", "GPT-4.1", "gpt-4.1"),
        ("together", "Meta-Models/Muse-Glimmer-30b", "meta-models/muse-glimmer-30b"),
    ],
)
def test_dates_and_letter_case_change_no_price(provider: str, model: str, same: str) -> None:
    assert TABLE.lookup(provider, model) == known(provider.removesuffix("-chat"), same)


def test_a_dated_name_with_a_price_of_its_own_keeps_it() -> None:
    assert known("openai", "gpt-4o-2024-05-13").input == 5
    assert known("openai", "gpt-4o-2024-11-20").input == 2.5


@pytest.mark.parametrize(
    ("provider", "model"),
    [
        ("openai", "no-price-model"),
        ("openai", "gpt-4.1-turbo"),
        ("openai", "gpt-4.10"),
        ("openai", "gpt-5.6-sol-pro"),
        ("openai", "text-embedding-3-large"),
        ("openai", "whisper-1"),
        ("anthropic", "claude-opus-9"),
        ("anthropic", "claude-opus-4-8-fast"),
        ("anthropic", "my-claude-sonnet-5"),
        ("anthropic", ""),
        ("cerebras", "qwen-3-coder-480b"),
        ("openrouter", "openai/gpt-4.1:nitro"),
        ("nobody", "gpt-4.1"),
        ("../prices", "gpt-4.1"),
        ("", "gpt-4.1"),
    ],
)
def test_what_is_not_in_the_table_is_unknown_and_not_free(provider: str, model: str) -> None:
    assert TABLE.lookup(provider, model) is None
    assert TABLE.cost_usd(provider, model, model, Usage(1, 1)) is None


def test_fine_tunes_have_the_price_of_their_base() -> None:
    assert known("openai", "ft:gpt-4o-2024-08-06:org::id").input == 3.75
    assert known("openai", "ft:gpt-4o-mini-2024-07-18:org::id").input == 0.3
    assert TABLE.lookup("openai", "ft:unheard-of:org") is None


def test_models_that_are_said_to_be_free_are_a_known_zero() -> None:
    price = known("openrouter", "openai/gpt-oss-20b:free")
    assert (price.input, price.output) == (0, 0)


@pytest.mark.parametrize("provider", sorted(LOCAL_PROVIDERS))
def test_models_on_this_machine_are_a_known_zero(provider: str) -> None:
    assert cost_usd(Usage(M, M, M, M), known(provider, "whatever:8b")) == 0


def test_a_provider_of_ones_own_can_be_free_too() -> None:
    assert PriceTable(free_providers=["gate"]).lookup("gate", "m") == Price(0, 0, source="this machine")
    assert TABLE.lookup("gate", "m") is None


def test_windows_are_told_where_they_are_known() -> None:
    assert TABLE.context_window("anthropic", "claude-sonnet-4-5-20250929") == 200_000
    assert TABLE.context_window("openai-chat", "gpt-4.1") == 1_000_000
    assert TABLE.context_window("openai", "no-price-model") is None
    assert TABLE.context_window("ollama", "qwen3:8b") is None


def test_a_persons_own_file_may_tell_a_models_window(tmp_path: Path) -> None:
    path = tmp_path / "prices.json"
    path.write_text(
        '{"m": {"input": 1, "output": 2, "context_window": 8192}, "n": {"input": 1, "output": 2}}'
    )
    table = PriceTable(read_own_prices(path))
    own = table.own("house", "m")
    assert own is not None
    assert own.context_window == 8192
    assert table.own("house", "unknown") is None
    assert table.own("house", "n") == Price(1, 2, source=str(path))
    path.write_text('{"m": {"input": 1, "output": 2, "context_window": "8k"}}')
    with pytest.raises(UsageError, match=r"m\.context_window: got '8k', need a number of tokens >= 1"):
        read_own_prices(path)


def test_a_reply_is_priced_by_the_model_that_answered() -> None:
    usage = Usage(M, 0)
    assert TABLE.cost_usd("openai", "gpt-4.1", "gpt-4.1-mini", usage) == 0.4
    assert TABLE.cost_usd("openai", "gpt-4.1", "gpt-4.1-2025-04-14", usage) == 2
    assert TABLE.cost_usd("openai", "gpt-4.1", "a name nobody knows", usage) == 2


@pytest.mark.parametrize("path", sorted(DATA.glob("*.json")), ids=lambda path: path.stem)
def test_every_line_of_the_table_is_a_sensible_price(path: Path) -> None:
    table = json.loads(path.read_text(encoding="utf-8"))
    assert table["provider"] == path.stem
    names: set[str] = set()
    for line in table["models"]:
        assert line["names"]
        for name in line["names"]:
            assert name == name.lower()
            names.add(name)
        price = known(path.stem, line["names"][0].rstrip("*"))
        assert 0 <= price.input <= 200
        assert 0 <= price.output <= 700
        assert price.cache_read is None or price.cache_read <= 1.1 * price.input
        assert [tier.input_tokens_above for tier in price.tiers] == sorted(
            tier.input_tokens_above for tier in price.tiers
        )
    assert len(names) >= len(table["models"])


def test_only_the_provider_that_is_asked_for_is_read() -> None:
    table = PriceTable()
    table.lookup("anthropic", "claude-opus-5")
    assert set(table._frozen) == {"anthropic"}


# --- a person's own prices -------------------------------------------------------------------------


def own(tmp_path: Path, text: str, name: str = "prices.json") -> PriceTable:
    path = tmp_path / name
    path.write_text(text, encoding="utf-8")
    return PriceTable(read_own_prices(path))


def test_own_prices_extend_and_override_the_table(tmp_path: Path) -> None:
    table = own(
        tmp_path, '{"openai/gpt-4.1": {"input": 1, "output": 4}, "mine": {"input": 0.5, "output": 1}}'
    )
    price = table.lookup("openai", "gpt-4.1")
    assert price is not None
    assert (price.input, price.output) == (1, 4)
    assert price.source == str(tmp_path / "prices.json")
    assert table.lookup("openai-chat", "gpt-4.1") == known("openai", "gpt-4.1")
    assert table.lookup("openai", "gpt-4.1-mini") == known("openai", "gpt-4.1-mini")
    for provider in ("openai", "gate", "ollama"):
        found = table.lookup(provider, "mine")
        assert found is not None
        assert found.input == 0.5


def test_the_providers_own_key_wins_over_the_bare_model(tmp_path: Path) -> None:
    table = own(tmp_path, '{"m": {"input": 1, "output": 1}, "gate/m": {"input": 2, "output": 2}}')
    assert [getattr(table.lookup(name, "m"), "input", None) for name in ("gate", "other")] == [2, 1]


def test_own_prices_hold_for_dated_names(tmp_path: Path) -> None:
    table = own(
        tmp_path, '{"gate/m": {"input": 1, "output": 1}, "gate/m-20260101": {"input": 2, "output": 2}}'
    )
    assert getattr(table.lookup("gate", "m-20260202"), "input", None) == 1
    assert getattr(table.lookup("gate", "m-20260101"), "input", None) == 2


def test_toml_is_taken_with_every_rate_and_tiers(tmp_path: Path) -> None:
    text = (
        '["gate/m"]\ninput = 1\noutput = 2\ncache_read = 0.1\ncache_write = 1.25\ncache_write_1h = 2\n'
        "tiers = [{input_tokens_above = 300, input = 9}, {input_tokens_above = 100, output = 4}]\n"
    )
    price = own(tmp_path, text, "prices.toml").lookup("gate", "m")
    assert price is not None
    assert (price.cache_read, price.cache_write, price.cache_write_1h) == (0.1, 1.25, 2)
    assert [tier.input_tokens_above for tier in price.tiers] == [100, 300]
    assert (price.at(301).input, price.at(301).output) == (9, 4)


BAD = {
    "m: got 3, need input and output": '{"m": 3}',
    "m.output: missing": '{"m": {"input": 1}}',
    "m.inptu: unknown; known are input, output": '{"m": {"inptu": 1, "input": 1, "output": 1}}',
    "m.input: got -1, need USD per million": '{"m": {"input": -1, "output": 1}}',
    "m.input: got '1', need USD": '{"m": {"input": "1", "output": 1}}',
    "m.output: got True, need USD": '{"m": {"input": 1, "output": true}}',
    "m.output: got nan, need USD": '{"m": {"input": 1, "output": NaN}}',
    "m.tiers: got 3, need a list": '{"m": {"input": 1, "output": 1, "tiers": 3}}',
    "m.tiers[0]: need input_tokens_above": '{"m": {"input": 1, "output": 1, "tiers": [{"input": 2}]}}',
    "m.tiers[0].x: unknown": '{"m": {"input": 1, "output": 1, "tiers": [{"input_tokens_above": 1, "x": 2}]}}',
    "need a table of models, got list": "[]",
    "cannot read prices: Expecting": "{",
}


@pytest.mark.parametrize("message", BAD)
def test_mistakes_in_a_price_file_are_named(tmp_path: Path, message: str) -> None:
    with pytest.raises(UsageError) as caught:
        own(tmp_path, BAD[message])
    assert f"prices.json: {message}" in str(caught.value)


def test_every_mistake_is_told_at_once(tmp_path: Path) -> None:
    with pytest.raises(UsageError) as caught:
        own(tmp_path, '{"a": {"input": -1}, "b": 3}')
    assert len(str(caught.value).split("\n")) == 3


def test_a_price_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"none\.json: cannot read prices: No such file"):
        read_own_prices(tmp_path / "none.json")


def test_bad_toml_is_named_with_its_place(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"prices\.toml: cannot read prices: .*line 2"):
        own(tmp_path, "[m]\ninput = x\n", "prices.toml")


# --- the package the table comes from --------------------------------------------------------------


@pytest.mark.peer
def test_the_package_charges_the_same_for_every_name_in_the_table() -> None:
    """Where genai-prices is installed: its own sums on the frozen date, at noon and by night."""
    genai: Any = pytest.importorskip("genai_prices")
    scripts = str(Path(__file__).parents[1] / "scripts")
    sys.path.insert(0, scripts)
    from freeze_prices import PROVIDERS  # type: ignore[import-not-found]

    usage = Usage(3_000, 2_000, 50_000, 7_000)
    theirs = genai.Usage(
        input_tokens=60_000, output_tokens=2_000, cache_read_tokens=50_000, cache_write_tokens=7_000
    )
    compared = 0
    for path in sorted(DATA.glob("*.json")):
        table = json.loads(path.read_text(encoding="utf-8"))
        for line in table["models"]:
            name = line["names"][0].rstrip("*")
            sums = []
            for hour in (2, 8, 12, 20):
                at = datetime.fromisoformat(table["date"]).replace(hour=hour, tzinfo=UTC)
                try:
                    priced = genai.calc_price(
                        theirs, name, provider_id=PROVIDERS[path.stem], genai_request_timestamp=at
                    )
                except LookupError:
                    continue
                sums.append(float(priced.total_price))
            if sums:
                compared += 1
                assert cost_usd(usage, known(path.stem, name)) == pytest.approx(max(sums)), (path.stem, name)
    assert compared > 1_000
