"""The loopback service refuses what the Messages API refuses, and takes what it takes."""

from __future__ import annotations

import base64
from collections.abc import Callable
from copy import deepcopy
from typing import Any

import pytest

from tests.servers.messages_rules import check_messages, signature_of
from tests.servers.refusal import Refusal
from tests.servers.test_chat_rules import drop, put

Body = dict[str, Any]
MARK = {"type": "ephemeral"}
PNG = base64.b64encode(b"\x89PNG\r\n\x1a\n" + b"\0" * 9).decode()
IMAGE = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": PNG}}

GOOD: Body = {
    "model": "claude-sonnet-4-5",
    "max_tokens": 4096,
    "stream": True,
    "thinking": {"type": "enabled", "budget_tokens": 1024},
    "system": [{"type": "text", "text": "be good", "cache_control": MARK}],
    "tools": [{"name": "read", "description": "d", "input_schema": {"type": "object", "$defs": {}}}],
    "messages": [
        {"role": "user", "content": "hi"},
        {
            "role": "assistant",
            "content": [
                {"type": "thinking", "thinking": "hm", "signature": signature_of("hm")},
                {"type": "redacted_thinking", "data": "E"},
                {"type": "text", "text": "reading"},
                {"type": "tool_use", "id": "a", "name": "read", "input": {}},
                {"type": "tool_use", "id": "b", "name": "read", "input": {}},
            ],
        },
        {
            "role": "user",
            "content": [
                {
                    "type": "tool_result",
                    "tool_use_id": "b",
                    "content": [{"type": "text", "text": "x"}, IMAGE],
                },
                {"type": "tool_result", "tool_use_id": "a", "content": "y", "is_error": True},
                {"type": "text", "text": "hurry", "cache_control": MARK},
            ],
        },
    ],
}
MSG = "messages"
REPLY = (MSG, 1, "content")
LAST = (MSG, 2, "content")

REFUSED: dict[str, tuple[Callable[[Body], None], str]] = {
    "unknown field": (put("reasoning_effort", value="low"), "Extra inputs are not permitted"),
    "unknown field in a block": (put(*LAST, 2, "extra", value=1), "Extra inputs are not permitted"),
    "no cap": (drop("max_tokens"), "max_tokens"),
    "cap beyond the model": (put("max_tokens", value=200_000), "maximum allowed"),
    "no model": (drop("model"), "model"),
    "no messages": (put(MSG, value=[]), "at least one message"),
    "first is a reply": (lambda b: b[MSG].pop(0), "first message must use the"),
    "system as a role": (put(MSG, 0, "role", value="system"), "system is no role"),
    "blank system": (put("system", 0, "text", value=" "), "non-whitespace"),
    "blank system string": (put("system", value=" "), "non-whitespace"),
    "blank text": (put(*LAST, 2, "text", value="\n"), "non-whitespace"),
    "blank result": (put(*LAST, 1, "content", value=" "), "non-whitespace"),
    "blank text in a result": (put(*LAST, 0, "content", 0, "text", value=""), "non-whitespace"),
    "empty content": (put(MSG, 0, "content", value=[]), "non-empty content"),
    "empty string": (put(MSG, 0, "content", value=""), "non-empty content"),
    "tool id": (put(*REPLY, 3, "id", value="a|b"), "pattern"),
    "input as a string": (put(*REPLY, 3, "input", value="{}"), "valid dictionary"),
    "tool name": (put(*REPLY, 3, "name", value="a b"), "pattern"),
    "twin ids": (put(*REPLY, 3, "id", value="b"), "must be unique"),
    "missing result": (drop(*LAST, 1), "without `tool_result` blocks"),
    "no results at all": (lambda b: b[MSG].pop(), "without `tool_result` blocks"),
    "orphan": (put(*LAST, 1, "tool_use_id", value="c"), "unexpected `tool_use_id`"),
    "results after text": (lambda b: b[MSG][2]["content"].reverse(), "must come first"),
    "image in an error": (put(*LAST, 1, "content", value=[IMAGE]), "does not match any of"),
    "changed thought": (put(*REPLY, 0, "thinking", value="hmm"), "Invalid `signature`"),
    "no signature": (put(*REPLY, 0, "signature", value=""), "Invalid `signature`"),
    "marked thought": (put(*REPLY, 0, "cache_control", value=MARK), "Extra inputs"),
    "thought after text": (
        lambda b: b[MSG][1]["content"].insert(2, b[MSG][1]["content"].pop(0)),
        "Expected `thinking`|thinking must be at the head",
    ),
    "thoughtless open turn": (
        lambda b: b[MSG][1].update(content=b[MSG][1]["content"][2:]),
        "Expected `thinking`",
    ),
    "small budget": (put("thinking", "budget_tokens", value=1023), "greater than or equal to 1024"),
    "budget beyond the cap": (put("thinking", "budget_tokens", value=4096), "must be greater than"),
    "adaptive on an old model": (put("thinking", value={"type": "adaptive"}), "not supported by"),
    "effort on an old model": (put("output_config", value={"effort": "low"}), "output_config.effort"),
    "temperature with thinking": (put("temperature", value=0.5), "temperature"),
    "forced tool with thinking": (put("tool_choice", value={"type": "any"}), "forces tool use"),
    "no tools": (put("tools", value=[]), "at least 1 item"),
    "calls without tools": (drop("tools"), "must define tools"),
    "twin tools": (lambda b: b["tools"].append(b["tools"][0]), "must be unique"),
    "schema root": (put("tools", 0, "input_schema", value={}), "type object"),
    "alternatives at the root": (
        put("tools", 0, "input_schema", "anyOf", value=[]),
        "not supported at the top",
    ),
    "image type": (put(*LAST, 0, "content", 1, "source", "media_type", value="image/bmp"), "media type"),
    "image bytes": (
        put(*LAST, 0, "content", 1, "source", "media_type", value="image/jpeg"),
        "is no image/jpeg",
    ),
    "image base64": (put(*LAST, 0, "content", 1, "source", "data", value="!"), "base64"),
    "unknown mark": (put("system", 0, "cache_control", value={"type": "forever"}), "cache_control.type"),
    "5m before 1h": (
        put(*LAST, 2, "cache_control", value={"type": "ephemeral", "ttl": "1h"}),
        "must not come after",
    ),
}


def changed(change: Callable[[Body], Any], **fields: Any) -> Body:
    body = deepcopy(GOOD) | fields
    change(body)
    return body


@pytest.mark.parametrize("version", ["2023-06-01", "2026-10-21"])
def test_a_good_request_is_taken(version: str) -> None:
    check_messages(GOOD, version)


@pytest.mark.parametrize("name", REFUSED)
def test_a_bad_request_is_refused(name: str) -> None:
    change, message = REFUSED[name]
    with pytest.raises(Refusal) as caught:
        check_messages(changed(change), "2023-06-01")
    assert any(part in caught.value.message for part in message.split("|"))


def test_an_unknown_version_is_refused() -> None:
    with pytest.raises(Refusal, match="anthropic-version"):
        check_messages(GOOD, "")


def test_the_new_version_refuses_temperature() -> None:
    body = changed(drop("thinking"), temperature=0.5)
    check_messages(body, "2023-06-01")
    with pytest.raises(Refusal, match="temperature: Extra inputs"):
        check_messages(body, "2026-10-21")


def test_four_marks_are_taken_and_five_refused() -> None:
    body = deepcopy(GOOD)
    body["tools"][0]["cache_control"] = MARK
    body[MSG][2]["content"][0]["cache_control"] = MARK
    check_messages(body, "2023-06-01")
    body[MSG][2]["content"][1]["cache_control"] = MARK
    with pytest.raises(Refusal, match="Found 5"):
        check_messages(body, "2023-06-01")


def test_top_level_caching_takes_one_of_the_four() -> None:
    body = deepcopy(GOOD) | {"cache_control": MARK}
    body["tools"][0]["cache_control"] = MARK
    check_messages(body, "2023-06-01")
    body[MSG][2]["content"][0]["cache_control"] = MARK
    with pytest.raises(Refusal, match="Found 5"):
        check_messages(body, "2023-06-01")


@pytest.mark.parametrize("model", ["claude-fable-5-2", "claude-opus-5-5", "claude-sonnet-5-5"])
def test_some_models_cannot_be_told_not_to_think(model: str) -> None:
    with pytest.raises(Refusal, match="'disabled' is not supported"):
        check_messages(changed(put("thinking", value={"type": "disabled"}), model=model), "2023-06-01")


def test_new_models_think_adaptively_and_not_by_budget() -> None:
    fields = {"model": "claude-opus-4-8", "output_config": {"effort": "max"}}
    check_messages(changed(put("thinking", value={"type": "adaptive"}), **fields), "2023-06-01")
    with pytest.raises(Refusal, match="'enabled' is not supported"):
        check_messages(changed(lambda b: None, **fields), "2023-06-01")


def test_new_models_take_no_prefill() -> None:
    prefill = [*GOOD[MSG], {"role": "assistant", "content": "The answer is"}]
    body = changed(drop("thinking"), messages=prefill)
    check_messages(body, "2023-06-01")
    with pytest.raises(Refusal, match="prefill"):
        check_messages(body | {"model": "claude-sonnet-5"}, "2023-06-01")


def test_ids_are_unique_over_the_whole_history() -> None:
    again = [*GOOD[MSG], *deepcopy(GOOD[MSG][1:])]
    with pytest.raises(Refusal, match="must be unique"):
        check_messages(changed(drop("thinking"), messages=again), "2023-06-01")
