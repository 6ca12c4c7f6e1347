"""The loopback service refuses what the Responses API refuses, and takes what it takes."""

from __future__ import annotations

import base64
from collections.abc import Callable
from copy import deepcopy
from typing import Any

import pytest

from tests.servers.refusal import Refusal
from tests.servers.responses_rules import check_responses, encrypted_of, reasoning_id
from tests.servers.test_chat_rules import drop, put

Body = dict[str, Any]
PNG = base64.b64encode(b"\x89PNG\r\n\x1a\n" + b"\0" * 9).decode()
IMAGE = {"type": "input_image", "detail": "auto", "image_url": f"data:image/png;base64,{PNG}"}
THOUGHT = {
    "type": "reasoning",
    "id": reasoning_id("hm"),
    "summary": [],
    "encrypted_content": encrypted_of("hm"),
}

GOOD: Body = {
    "model": "gpt-5.2",
    "stream": True,
    "store": False,
    "include": ["reasoning.encrypted_content"],
    "max_output_tokens": 4096,
    "reasoning": {"effort": "low"},
    "instructions": "be good",
    "text": {"format": {"type": "json_schema", "name": "answer", "schema": {"type": "object"}}},
    "tools": [
        {"type": "function", "name": "read", "parameters": {"type": "object"}, "strict": False},
    ],
    "input": [
        {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "hi"}, IMAGE]},
        THOUGHT,
        {"type": "message", "role": "assistant", "content": "reading", "phase": "commentary"},
        {"type": "function_call", "call_id": "a", "name": "read", "arguments": "{}"},
        {"type": "function_call", "id": "fc_2", "call_id": "b", "name": "read", "arguments": "{}"},
        {"type": "function_call_output", "call_id": "b", "output": [{"type": "input_text", "text": "x"}]},
        {"type": "function_call_output", "call_id": "a", "output": "y"},
        {"role": "user", "content": "hurry"},
    ],
}  # fmt: skip
IN = "input"


def insert(index: int, item: Any) -> Callable[[Body], None]:
    return lambda body: body[IN].insert(index, item)


REFUSED: dict[str, tuple[Callable[[Body], None], str]] = {
    "a name of Chat Completions": (put("messages", value=[]), "Unknown parameter: 'messages'"),
    "its cap": (put("max_completion_tokens", value=100), "Unknown parameter"),
    "its effort": (put("reasoning_effort", value="low"), "Unknown parameter"),
    "its format": (put("response_format", value={}), "Unknown parameter"),
    "usage asked for": (put("stream_options", value={"include_usage": True}), "Unknown parameter"),
    "no model": (drop("model"), "model"),
    "stored": (put("store", value=True), "keeps nothing"),
    "an earlier response": (put("previous_response_id", value="resp_1"), "not found"),
    "cap too small": (put("max_output_tokens", value=15), "below minimum"),
    "long cache key": (put("prompt_cache_key", value="k" * 65), "too long"),
    "temperature": (put("temperature", value=0.5), "Unsupported parameter: 'temperature'"),
    "unknown effort": (put("reasoning", "effort", value="huge"), "reasoning.effort"),
    "reasoning of a plain model": (put("model", value="gpt-4.1"), "reasoning.effort"),
    "format without name": (drop("text", "format", "name"), "text.format.name"),
    "format without schema": (drop("text", "format", "schema"), "text.format.schema"),
    "empty tools": (put("tools", value=[]), "too short"),
    "nested tool": (put("tools", 0, "function", value={}), "Unknown parameter"),
    "strict without being closed": (put("tools", 0, "strict", value=True), "additionalProperties"),
    "tool choice without tools": (
        lambda b: (b.pop("tools"), b.update(tool_choice="auto"))[1],
        "only allowed when 'tools'",
    ),
    "two tools of a name": (lambda b: b["tools"].append(b["tools"][0]), "duplicate"),
    "no items": (put(IN, value=[]), "need a string or items"),
    "unknown item": (put(IN, 0, "type", value="thought"), "Invalid value"),
    "unknown field of an item": (put(IN, 0, "name", value="x"), "Unknown parameter"),
    "tool as a role": (put(IN, 0, "role", value="tool"), "role"),
    "blank text": (put(IN, 0, "content", 0, "text", value=" "), "must not be blank"),
    "blank message": (put(IN, 7, "content", value="\n"), "must not be blank"),
    "text of the wrong side": (put(IN, 0, "content", 0, "type", value="output_text"), "Invalid value"),
    "image that is none": (put(IN, 0, "content", 1, "image_url", value="x"), "need a data URL"),
    "phase of a user": (put(IN, 7, "phase", value="commentary"), "only assistant messages"),
    "unknown phase": (put(IN, 2, "phase", value="overture"), "phase"),
    "arguments as an object": (put(IN, 3, "arguments", value={}), "need a string"),
    "odd tool name": (put(IN, 3, "name", value="a b"), "pattern"),
    "long call id": (put(IN, 3, "call_id", value="c" * 65), "64 characters"),
    "empty call id": (put(IN, 3, "call_id", value=""), "64 characters"),
    "id of another kind": (put(IN, 3, "id", value="call_1"), "begins fc_"),
    "long id": (put(IN, 4, "id", value="fc_" + "x" * 62), "string too long"),
    "call without output": (lambda b: b[IN].pop(6), "No tool output found"),
    "output without call": (lambda b: b[IN].pop(3), "No tool call found"),
    "output before its call": (lambda b: b[IN].insert(3, b[IN].pop(6)), "No tool call found"),
    "two outputs": (lambda b: b[IN].insert(6, b[IN][5]), "No tool call found"),
    "one call twice": (insert(3, GOOD[IN][3]), "Duplicate call_id"),
    "reasoning without summary": (drop(IN, 1, "summary"), "summary"),
    "reasoning without content": (drop(IN, 1, "encrypted_content"), "Items are not persisted"),
    "reasoning half received": (put(IN, 1, "encrypted_content", value="enc_cut"), "could not be verified"),
    "reasoning parted from its item": (
        insert(2, {"role": "user", "content": "x"}),
        "required following item",
    ),
    "reasoning at the end": (lambda b: b[IN].append({**THOUGHT}), "Duplicate item"),
    "id without its reasoning": (lambda b: b[IN].pop(1), "without its required 'reasoning' item"),
    "no object as an item": (put(IN, 0, value="hi"), "Invalid value"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_the_service_refuses_is_refused(name: str) -> None:
    spoil, words = REFUSED[name]
    body = deepcopy(GOOD)
    spoil(body)
    with pytest.raises(Refusal) as caught:
        check_responses(body)
    assert words in caught.value.message


def test_a_good_request_is_taken() -> None:
    check_responses(GOOD)
    check_responses({"model": "gpt-4.1", "store": False, "input": "hi"})
    check_responses(
        {"model": "gpt-5.2", "store": False, "input": "hi", "reasoning": {"effort": "none"}, "top_p": 1}
    )


def test_encrypted_content_is_not_to_be_had_of_a_plain_model() -> None:
    plain = {"model": "gpt-4.1", "store": False, "input": "hi", "include": ["reasoning.encrypted_content"]}
    with pytest.raises(Refusal, match="not supported with this model"):
        check_responses(plain)
