"""`pi-batch models list`: what is known of models, and who is behind virtual ones."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from pi_batch.prices import Price, PriceTable
from pi_batch.wiring.model_list import table
from tests.cli.calling import Desk, plain_environment

CONFIG = """
[models.climb]
policy = "escalate"
models = ["groq/llama-x", "ollama/qwen3:8b:high"]

[models.lost]
policy = "fallback"
models = ["router/gone"]

[models.odd]
policy = "fallback"
models = ["nobody/x"]
"""


@pytest.fixture
def desk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Desk:
    plain_environment(monkeypatch, list(os.environ))
    monkeypatch.chdir(tmp_path)
    return Desk(tmp_path, monkeypatch, capsys)


def test_models_of_services_with_a_key_are_listed_with_price_window_and_source(desk: Desk) -> None:
    desk.setenv("GROQ_API_KEY", "gsk-0123456789")
    desk.write("prices.json", '{"groq/own-model": {"input": 1.5, "output": 2, "context_window": 9000}}')
    desk.setenv("PI_BATCH_PRICES", "prices.json")
    rows = json.loads(desk.call("models", "list", "--json").out)
    assert {row["model"].partition("/")[0] for row in rows} == {"groq"}
    (own,) = [row for row in rows if row["model"] == "groq/own-model"]
    assert (own["input_usd"], own["output_usd"], own["context_window"]) == (1.5, 2, 9000)
    assert own["price_from"].endswith("prices.json")
    assert (own["key"], own["context_window_from"]) == ("set (GROQ_API_KEY)", "the price file")
    lines = desk.call("models", "list").out.split("\n")
    assert lines[0].split() == ["model", "input", "$/M", "output", "$/M", "window", "key"]
    assert any(line.split()[:4] == ["groq/own-model", "1.5", "2", "9,000"] for line in lines)
    assert "gsk-" not in "".join(lines)


def test_without_a_key_it_says_how_to_see_all(desk: Desk) -> None:
    assert "--all lists every model" in desk.call("models", "list").out
    everything = desk.call("models", "list", "--all").out
    assert "anthropic/claude-sonnet-4-5" in everything
    assert "missing (ANTHROPIC_API_KEY" in everything


def test_virtual_models_are_shown_with_who_is_behind_them_or_what_is_wrong(desk: Desk) -> None:
    desk.write(".pi-batch.toml", CONFIG)
    for words in (("models", "list"), ("models",)):
        shown = [line for line in desk.call(*words).out.split("\n") if line.startswith("router/")]
        climb, lost, odd = shown
        assert climb.startswith("router/climb  escalate: groq/llama-x (key: missing (GROQ_API_KEY)), ollama/")
        assert "no virtual model of that name" in lost
        assert "provider 'nobody': unknown" in odd
    (row,) = json.loads(desk.call("models", "router/climb", "--json").out)
    assert (row["policy"], row["from"], len(row["members"])) == ("escalate", ".pi-batch.toml", 2)


def test_a_virtual_model_of_nobody_is_one_line(desk: Desk) -> None:
    done = desk.call("models", "router/gone")
    assert done.code == 2
    assert done.lines == ["pi-batch: model 'router/gone': no virtual model of that name (known: none)"]


def test_list_before_a_model_is_the_same_as_the_model_alone(desk: Desk) -> None:
    assert desk.call("models", "list", "openai/gpt-5").out == desk.call("models", "openai/gpt-5").out
    assert "thinking_levels: ['minimal', 'low', 'medium', 'high']" in desk.call("models", "openai/gpt-5").out


def test_all_is_for_the_list_alone(desk: Desk) -> None:
    done = desk.call("models", "--all")
    assert (done.code, len(done.lines)) == (2, 1)


def test_an_unknown_price_or_window_is_a_question_mark() -> None:
    row = {"model": "a/b", "key": "set", "price_from": "unknown", "context_window_from": ""}
    values = {"input_usd": None, "output_usd": 0, "context_window": None}
    assert [*table([{**row, **values}])][1].split() == ["a/b", "?", "0", "?", "set"]


def test_a_person_own_prices_are_among_the_known_models_once() -> None:
    prices = PriceTable({"groq/new": Price(1, 2), "bare": Price(1, 2), "groq/gemma-7b-it": Price(1, 2)})
    known = prices.known("groq")
    assert "new" in known
    assert "bare" not in known
    assert known.count("gemma-7b-it") == 1
    assert list(known) == sorted(known)
    assert prices.known("openai-chat") == prices.known("openai")
    assert PriceTable().known("nobody") == ()
