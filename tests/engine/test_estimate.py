"""Estimates are a little high, and give way to a service's own count."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from pi_batch.engine.estimate import (
    IMAGE_TOKENS,
    HistoryEstimate,
    declarations_tokens,
    estimate_reply_tokens,
    message_tokens,
    text_tokens,
)
from pi_batch.messages import (
    AssistantMessage,
    ImageBlock,
    Message,
    SystemMessage,
    TextBlock,
    ThinkingBlock,
    ToolCall,
    ToolDeclaration,
    Usage,
    UserMessage,
    user_text,
)

SAMPLES = json.loads((Path(__file__).parent / "token_samples.json").read_text(encoding="utf-8"))["samples"]


@pytest.mark.parametrize("sample", SAMPLES, ids=lambda sample: str(sample["name"]))
def test_each_kind_of_text_is_near_what_real_tokenizers_count(sample: dict[str, Any]) -> None:
    counted = [sample[name] for name in ("cl100k", "o200k", "claude")]
    assert 0.75 * max(counted) <= text_tokens(sample["text"]) <= 1.5 * max(counted)


def test_over_all_kinds_the_estimate_is_a_little_high() -> None:
    estimated = sum(text_tokens(sample["text"]) for sample in SAMPLES)
    for name in ("cl100k", "o200k", "claude"):
        assert estimated >= sum(sample[name] for sample in SAMPLES)
    assert estimated <= 1.15 * sum(sample["cl100k"] for sample in SAMPLES)


def test_half_a_character_is_estimated_too() -> None:
    assert text_tokens("\ud800" * 10) > 0
    assert text_tokens("") == 1


def test_english_runs_at_a_few_characters_a_token() -> None:
    assert 200 <= text_tokens("word " * 200) <= 300


def test_other_scripts_run_near_one_token_a_character() -> None:
    assert text_tokens("日本語の文章" * 100) >= 600


def test_an_image_counts_as_what_services_charge_at_most() -> None:
    assert message_tokens(UserMessage((ImageBlock("AAAA" * 100_000, "image/png"),))) < IMAGE_TOKENS + 10


def test_a_reply_counts_its_thinking_and_its_calls() -> None:
    reply = AssistantMessage(
        (ThinkingBlock("x" * 350), TextBlock("y" * 350), ToolCall("1", "bash", {"command": "z" * 350})),
        "stop",
    )
    assert estimate_reply_tokens(reply) >= 300


def test_a_system_message_counts_its_declarations() -> None:
    tool = ToolDeclaration("bash", "d" * 350, {"type": "object"})
    assert message_tokens(SystemMessage("s" * 350, (tool,))) >= 100 + declarations_tokens([tool])


def test_the_services_count_replaces_the_estimate() -> None:
    estimate = HistoryEstimate(fixed_tokens=1_000)
    history: list[Message] = [user_text("a" * 3_500)]
    assert estimate.input_tokens(history) > 2_000
    reply = AssistantMessage((TextBlock("ok"),), "stop", usage=Usage(300, 10, 200, 0))
    history.append(reply)
    estimate.learn(reply, history)
    assert estimate.input_tokens(history) == 510
    history.append(user_text("b" * 35))
    assert 510 < estimate.input_tokens(history) < 540


def test_a_reply_without_usage_teaches_nothing() -> None:
    estimate = HistoryEstimate(fixed_tokens=7)
    reply = AssistantMessage((TextBlock("ok"),), "stop")
    estimate.learn(reply, [reply])
    assert estimate.input_tokens([reply]) > 7
