"""The loopback service refuses what Chat Completions services refuse, and takes what they take."""

from __future__ import annotations

import json
from collections.abc import Callable
from copy import deepcopy
from typing import Any

import pytest

from tests.servers.chat_rules import PROFILES, check_chat
from tests.servers.refusal import Refusal, read_json

Body = dict[str, Any]

GOOD: Body = {
    "model": "gpt-4.1",
    "stream": True,
    "stream_options": {"include_usage": True},
    "max_tokens": 100,
    "tools": [
        {
            "type": "function",
            "function": {
                "name": "read",
                "description": "d",
                "parameters": {"type": "object", "properties": {"l": {"type": "array", "items": {}}}},
            },
        }
    ],
    "messages": [
        {"role": "system", "content": "be good"},
        {"role": "user", "content": [{"type": "text", "text": "hi"}]},
        {
            "role": "assistant",
            "content": None,
            "tool_calls": [
                {"id": "a", "type": "function", "function": {"name": "read", "arguments": "{}"}},
                {"id": "b", "type": "function", "function": {"name": "read", "arguments": "{}"}},
            ],
        },
        {"role": "tool", "tool_call_id": "b", "content": "x"},
        {"role": "tool", "tool_call_id": "a", "content": "y"},
        {"role": "assistant", "content": "done"},
        {"role": "user", "content": "more"},
    ],
}


def put(*path: Any, value: Any) -> Callable[[Body], None]:
    def change(body: Body) -> None:
        place: Any = body
        for step in path[:-1]:
            place = place[step]
        place[path[-1]] = value

    return change


def drop(*path: Any) -> Callable[[Body], None]:
    def change(body: Body) -> None:
        place: Any = body
        for step in path[:-1]:
            place = place[step]
        del place[path[-1]]

    return change


MSG = "messages"
CALL = (MSG, 2, "tool_calls", 0)
FN = ("tools", 0, "function")

REFUSED: dict[str, tuple[Callable[[Body], None], str]] = {
    "unknown field": (put("enable_thinking", value=True), "Unknown parameter: 'enable_thinking'"),
    "reasoning in a reply": (put(MSG, 2, "reasoning_content", value="x"), "Unknown parameter"),
    "cache marks": (put(MSG, 1, "content", 0, "cache_control", value={}), "Unknown parameter"),
    "no model": (drop("model"), "model"),
    "no messages": (put(MSG, value=[]), "messages: need at least one"),
    "role": (put(MSG, 1, "role", value="human"), "role"),
    "no tools": (put("tools", value=[]), "too short"),
    "many tools": (put("tools", value=[GOOD["tools"][0]] * 129), "at most 128"),
    "twin tools": (put("tools", value=[GOOD["tools"][0]] * 2), "duplicate tool"),
    "flat tool": (put("tools", 0, value={"type": "function", "name": "read"}), "Unknown parameter"),
    "tool name": (put(*FN, "name", value="read file"), "pattern"),
    "schema root": (put(*FN, "parameters", value={"type": "string"}), "type object"),
    "array items": (put(*FN, "parameters", "properties", "l", value={"type": "array"}), "missing items"),
    "strict": (put(*FN, "strict", value=True), "strict"),
    "choice without tools": (lambda b: (b.pop("tools"), b.update(tool_choice="auto"))[1], "tool_choice"),
    "stream options without stream": (drop("stream"), "only with stream"),
    "both caps": (put("max_completion_tokens", value=5), "cannot both"),
    "cap of nothing": (put("max_tokens", value=0), "need a number"),
    "long cache key": (put("prompt_cache_key", value="x" * 65), "too long"),
    "effort": (put("reasoning_effort", value="low"), "reasoning_effort"),
    "json mode without the word": (put("response_format", value={"type": "json_object"}), "the word json"),
    "null content alone": (put(MSG, 5, "content", value=None), "got null"),
    "empty calls": (put(MSG, 5, "tool_calls", value=[]), "too short"),
    "long id": (put(*CALL, "id", value="x" * 41), ".id"),
    "empty id": (put(*CALL, "id", value=""), ".id"),
    "call name": (put(*CALL, "function", "name", value="a b"), "pattern"),
    "arguments as object": (put(*CALL, "function", "arguments", value={}), "need a string"),
    "image in a result": (
        put(MSG, 3, "content", value=[{"type": "image_url", "image_url": {"url": "x"}}]),
        "Invalid value",
    ),
    "blank text": (put(MSG, 1, "content", 0, "text", value=" "), "blank"),
    "blank string": (put(MSG, 6, "content", value=""), "blank"),
    "no parts": (put(MSG, 1, "content", value=[]), "need a string or parts"),
    "missing result": (drop(MSG, 3), "must be followed by tool messages"),
    "missing result at the end": (lambda b: b.update(messages=b[MSG][:4]), "without results"),
    "orphan": (
        put(MSG, 5, value={"role": "tool", "tool_call_id": "c", "content": "x"}),
        "no 'tool_calls' precede",
    ),
    "second result": (put(MSG, 5, value=GOOD[MSG][3]), "no 'tool_calls' precede"),
    "twin ids": (put(*CALL, "id", value="b"), "duplicate tool call ids"),
    "image bytes": (
        put(
            MSG,
            1,
            "content",
            value=[{"type": "image_url", "image_url": {"url": "data:image/png;base64,AAAA"}}],
        ),
        "is no image/png",
    ),
    "image url": (
        put(MSG, 1, "content", value=[{"type": "image_url", "image_url": {"url": "x"}}]),
        "data URL",
    ),
}


def changed(change: Callable[[Body], None], **fields: Any) -> Body:
    body = deepcopy(GOOD) | fields
    change(body)
    return body


def test_a_good_request_is_taken() -> None:
    check_chat(GOOD, PROFILES["openai"])


@pytest.mark.parametrize("name", REFUSED)
def test_a_bad_request_is_refused(name: str) -> None:
    change, message = REFUSED[name]
    with pytest.raises(Refusal) as caught:
        check_chat(changed(change), PROFILES["openai"])
    assert message in caught.value.message
    assert caught.value.status == 400


@pytest.mark.parametrize("field", ["max_tokens", "top_p", "stop", "logprobs", "presence_penalty"])
def test_reasoning_models_refuse_old_parameters(field: str) -> None:
    body = changed(drop("max_tokens"), model="o3") | {field: 1}
    with pytest.raises(Refusal) as caught:
        check_chat(body, PROFILES["openai"])
    assert caught.value.code == "unsupported_parameter"


def test_reasoning_models_take_their_own_parameters() -> None:
    fields = {
        "model": "gpt-5.2",
        "max_completion_tokens": 9,
        "reasoning_effort": "none",
        "temperature": 0.5,
        "top_p": 1,
    }
    check_chat(changed(drop("max_tokens")) | fields, PROFILES["openai"])


def test_only_openai_knows_a_developer() -> None:
    body = changed(put(MSG, 0, "role", value="developer"))
    check_chat(body, PROFILES["openai"])
    with pytest.raises(Refusal, match="unknown variant `developer`"):
        check_chat(body, PROFILES["deepseek"])


def test_deepseek_wants_its_thinking_back() -> None:
    with pytest.raises(Refusal, match="must be passed back"):
        check_chat(GOOD, PROFILES["deepseek"])
    check_chat(changed(put(MSG, 2, "reasoning_content", value="")), PROFILES["deepseek"])


@pytest.mark.parametrize("profile", ["vllm", "llamacpp", "ollama"])
def test_local_servers_refuse_arguments_that_do_not_parse(profile: str) -> None:
    with pytest.raises(Refusal, match="failed to parse as JSON"):
        check_chat(changed(put(*CALL, "function", "arguments", value="{")), PROFILES[profile])


def test_mistral_wants_ids_of_nine() -> None:
    with pytest.raises(Refusal, match=r"\.id"):
        check_chat(changed(drop("stream_options")), PROFILES["mistral"])


def test_old_proxies_take_an_empty_list_of_tools() -> None:
    check_chat(changed(put("tools", value=[])), PROFILES["litellm"])


@pytest.mark.parametrize(
    "raw",
    [b"\xff{}", b"{", b"[]", b'{"a": NaN}', b'{"a": "\\ud83d"}', b'{"a": "\\u0000"}', b'{"\\udc00": 1}'],
)
def test_a_body_that_is_no_good_json_is_refused(raw: bytes) -> None:
    with pytest.raises(Refusal):
        read_json(raw)
    assert read_json(json.dumps(GOOD).encode()) == GOOD
