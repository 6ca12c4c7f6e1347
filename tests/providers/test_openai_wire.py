"""What goes to Chat Completions services: every rule of the wire, and the habits of each service."""

from __future__ import annotations

import json
from typing import Any

import pytest
from msgspec.structs import replace

from pi_batch.messages import (
    Message,
    TextBlock,
    ThinkingBlock,
    ToolCall,
    ToolDeclaration,
    UserMessage,
    user_text,
)
from pi_batch.protocols import ModelRequest
from pi_batch.providers import compat
from pi_batch.providers.compat import Compat
from pi_batch.providers.encoded import EncodedHistory
from pi_batch.providers.openai_wire import ChatRules, chat_body, chat_tools
from tests.providers.asking import READ, request
from tests.providers.histories import IMAGE, PNG, call, reply, result
from tests.servers.chat_rules import PROFILES, check_chat


def body(
    wanted: ModelRequest, habits: Compat = compat.OPENAI, provider: str = "openai-chat"
) -> dict[str, Any]:
    history = EncodedHistory(ChatRules(habits, provider, wanted.model))
    units = history.encode(wanted.messages)
    sent: dict[str, Any] = json.loads(
        chat_body(wanted, habits, units, history.tools(wanted.tools, chat_tools))
    )
    return sent


def messages(*history: Message, habits: Compat = compat.OPENAI, **changes: Any) -> list[dict[str, Any]]:
    sent: list[dict[str, Any]] = body(request(*history, system="", **changes), habits)["messages"]
    return sent


def test_a_request_names_model_stream_usage_cap_tools_and_messages() -> None:
    assert body(request()) == {
        "model": "gpt-4.1",
        "stream": True,
        "stream_options": {"include_usage": True},
        "prompt_cache_key": "s1",
        "max_tokens": 2000,
        "tools": [
            {
                "type": "function",
                "function": {"name": "read", "description": "Read a file", "parameters": READ.parameters},
            }
        ],
        "messages": [{"role": "system", "content": "Be good."}, {"role": "user", "content": "hi"}],
    }


def test_without_tools_there_is_no_tools_field() -> None:
    assert "tools" not in body(request(tools=()))


def test_old_proxies_get_an_empty_list_where_the_history_holds_calls() -> None:
    habits = Compat(tools_for_history=True)
    history = (user_text("x"), reply(call()), result())
    assert body(request(*history, tools=()), habits)["tools"] == []
    assert "tools" not in body(request(tools=()), habits)
    assert len(body(request(*history), habits)["tools"]) == 1


@pytest.mark.parametrize("model", ["o3", "gpt-5.2", "gpt-6-astra"])
def test_reasoning_models_get_completion_tokens_and_a_developer(model: str) -> None:
    sent = body(request(model=model))
    assert sent["max_completion_tokens"] == 2000
    assert "max_tokens" not in sent
    assert sent["messages"][0]["role"] == "developer"


@pytest.mark.parametrize(
    "habits", [compat.DEEPSEEK, compat.OPENROUTER, compat.VLLM, compat.LLAMACPP, compat.MISTRAL]
)
def test_elsewhere_the_system_prompt_is_system_whatever_the_model(habits: Compat) -> None:
    assert body(request(model="openai/o3"), habits)["messages"][0]["role"] == "system"


def test_no_cap_means_no_field() -> None:
    assert not {"max_tokens", "max_completion_tokens"} & set(body(request(max_output_tokens=None)))


def test_the_cap_is_never_more_than_a_known_model_gives() -> None:
    assert body(request(model="gpt-4o", max_output_tokens=100_000))["max_tokens"] == 16_384
    assert body(request(model="mystery", max_output_tokens=100_000))["max_tokens"] == 100_000


def test_a_blank_system_prompt_is_left_out() -> None:
    assert body(request(system=" \n"))["messages"][0]["role"] == "user"


def test_a_long_session_id_becomes_a_cache_key_that_fits() -> None:
    assert len(body(request(session_id="x" * 100))["prompt_cache_key"]) == 64
    assert "prompt_cache_key" not in body(request(session_id=""))


@pytest.mark.parametrize("habits", [compat.DEEPSEEK, compat.GROQ, compat.MISTRAL, compat.VLLM])
def test_fields_that_a_service_does_not_know_are_not_sent(habits: Compat) -> None:
    assert not {"store", "prompt_cache_key"} & set(body(request(), habits))


def test_a_service_that_keeps_replies_is_told_not_to() -> None:
    assert body(request(), Compat(store=True))["store"] is False


def test_mistral_is_not_asked_for_usage_in_the_stream() -> None:
    assert "stream_options" not in body(request(), compat.MISTRAL)


@pytest.mark.parametrize(
    ("habits", "model", "level", "fields"),
    [
        (compat.OPENAI, "gpt-5.2", "high", {"reasoning_effort": "high"}),
        (compat.OPENAI, "gpt-5.2", "off", {"reasoning_effort": "none"}),
        (compat.OPENAI, "gpt-5", "off", {"reasoning_effort": "minimal"}),
        (compat.OPENAI, "o3", "max", {"reasoning_effort": "high"}),
        (compat.OPENAI, "gpt-4.1", "high", {}),
        (compat.DEEPSEEK, "deepseek-reasoner", "low", {"thinking": {"type": "enabled"}}),
        (compat.DEEPSEEK, "deepseek-reasoner", "off", {"thinking": {"type": "disabled"}}),
        (compat.OPENROUTER, "x/y", "xhigh", {"reasoning": {"effort": "xhigh"}}),
        (compat.OPENROUTER, "x/y", "off", {"reasoning": {"effort": "none"}}),
        (compat.TOGETHER, "x/y", "low", {"reasoning": {"enabled": True}}),
        (compat.OLLAMA, "qwen3:8b", "max", {"reasoning_effort": "high"}),
        (compat.XAI, "grok-4", "high", {}),
    ],
)
def test_a_thinking_level_is_asked_for_in_the_services_own_way(
    habits: Compat, model: str, level: str, fields: dict[str, Any]
) -> None:
    asked = body(request(model=model, thinking=level), habits)
    silent = body(request(model=model), habits)
    assert {key: asked[key] for key in asked.keys() - silent.keys()} == fields


def test_extra_fields_win_over_ours() -> None:
    habits = Compat(extra_body={"max_tokens": 5, "top_k": 1})
    sent = body(request(), habits)
    assert (sent["max_tokens"], sent["top_k"]) == (5, 1)


def test_user_text_is_a_plain_string() -> None:
    history = UserMessage((TextBlock("a"), TextBlock(" "), TextBlock("b")))
    assert messages(history) == [{"role": "user", "content": "a\n\nb"}]


def test_a_users_image_makes_parts() -> None:
    history = UserMessage((TextBlock("look"), TextBlock(""), IMAGE))
    url = f"data:image/png;base64,{PNG}"
    parts = [{"type": "text", "text": "look"}, {"type": "image_url", "image_url": {"url": url}}]
    assert messages(history) == [{"role": "user", "content": parts}]


def test_a_blank_user_message_is_left_out() -> None:
    assert messages(UserMessage((TextBlock(" \n"),)), user_text("x")) == [{"role": "user", "content": "x"}]


def test_a_replys_text_is_a_plain_string_never_parts() -> None:
    assert messages(user_text("x"), reply("a", " ", "b"))[1] == {"role": "assistant", "content": "a\n\nb"}


def test_a_reply_that_only_calls_has_null_content() -> None:
    sent = messages(user_text("x"), reply(call()), result("call_1", "ok"))[1]
    assert sent == {
        "role": "assistant",
        "content": None,
        "tool_calls": [
            {
                "id": "call_1",
                "type": "function",
                "function": {"name": "read", "arguments": '{"path":"a.txt"}'},
            }
        ],
    }


def test_a_service_without_null_content_gets_an_empty_string() -> None:
    sent = messages(user_text("x"), reply(call()), result("call_1", "ok"), habits=compat.MISTRAL)[1]
    assert sent["content"] == ""


def test_a_reply_of_nothing_is_left_out() -> None:
    assert len(messages(user_text("x"), reply(" "), user_text("y"))) == 2


def test_arguments_that_did_not_parse_go_back_as_an_empty_object() -> None:
    broken = ToolCall("call_1", "read", None, '{"path": "a')
    sent = messages(user_text("x"), reply(broken), result("call_1", "not JSON", is_error=True))
    assert sent[1]["tool_calls"][0]["function"]["arguments"] == "{}"


def test_arguments_are_valid_json_whatever_they_hold() -> None:
    odd = ToolCall("call_1", "read", {"a": float("nan"), "b": "\ud83d", "c": "\ud83d\ude00"})
    sent = messages(user_text("x"), reply(odd), result("call_1", "ok"))
    arguments = sent[1]["tool_calls"][0]["function"]["arguments"]
    assert json.loads(arguments) == {"a": None, "b": "\ufffd", "c": "😀"}


def test_invented_names_in_the_history_fit_the_pattern() -> None:
    sent = messages(user_text("x"), reply(call(name="functions.read it")), result("call_1", "no such tool"))
    assert sent[1]["tool_calls"][0]["function"]["name"] == "functions_read_it"


def test_ids_are_cut_to_forty_and_stay_paired() -> None:
    long = "call_" + "x" * 60 + "|fc_abc+/="
    sent = messages(user_text("x"), reply(call(long)), result(long, "ok"))
    wire = sent[1]["tool_calls"][0]["id"]
    assert len(wire) <= 40
    assert sent[2]["tool_call_id"] == wire


def test_mistrals_ids_are_nine_letters_and_digits() -> None:
    sent = messages(user_text("x"), reply(call("call_1")), result("call_1", "ok"), habits=compat.MISTRAL)
    wire = sent[1]["tool_calls"][0]["id"]
    assert len(wire) == 9
    assert wire.isalnum()
    assert sent[2]["tool_call_id"] == wire


def test_a_result_is_text_and_a_blank_one_a_short_note() -> None:
    sent = messages(user_text("x"), reply(call()), result("call_1", "a", "b"))
    assert sent[2] == {"role": "tool", "tool_call_id": "call_1", "content": "a\nb"}
    assert messages(user_text("x"), reply(call()), result("call_1", " "))[2]["content"] == "(no output)"


def test_images_of_results_come_in_a_user_message_after_the_last_of_them() -> None:
    history = (
        user_text("x"),
        reply(call("c1"), call("c2")),
        result("c1", IMAGE),
        result("c2", "text", IMAGE),
        user_text("go on"),
    )
    sent = messages(*history)
    assert [message["role"] for message in sent] == ["user", "assistant", "tool", "tool", "user", "user"]
    assert sent[2]["content"] == "(the image follows)"
    assert [part["type"] for part in sent[4]["content"]] == ["text", "image_url", "image_url"]
    assert sent[5]["content"] == "go on"


THOUGHT = ThinkingBlock("because", "reasoning_content")


def test_openai_never_gets_thinking_back() -> None:
    history = (
        user_text("x"),
        reply(THOUGHT, call(), provider="openai-chat", model="gpt-4.1"),
        result("call_1", "k"),
    )
    assert "reasoning_content" not in messages(*history)[1]


def test_deepseek_gets_its_thinking_back_unchanged_with_calls() -> None:
    own = reply(THOUGHT, call(), provider="deepseek", model="deepseek-reasoner")
    wanted = request(user_text("x"), own, result("call_1", "k"), model="deepseek-reasoner")
    assert body(wanted, compat.DEEPSEEK, "deepseek")["messages"][2]["reasoning_content"] == "because"


def test_deepseek_gets_no_thinking_with_a_reply_that_calls_nothing() -> None:
    own = reply(THOUGHT, "done", provider="deepseek", model="deepseek-reasoner")
    wanted = request(user_text("x"), own, user_text("more"), model="deepseek-reasoner")
    assert "reasoning_content" not in body(wanted, compat.DEEPSEEK, "deepseek")["messages"][2]


def test_deepseek_gets_an_empty_field_with_calls_of_another_model() -> None:
    other = reply(THOUGHT, call(), provider="openai-chat", model="gpt-4.1")
    wanted = request(user_text("x"), other, result("call_1", "k"), model="deepseek-reasoner")
    assert body(wanted, compat.DEEPSEEK, "deepseek")["messages"][2]["reasoning_content"] == ""


def test_a_dated_answer_is_the_same_model() -> None:
    own = reply(THOUGHT, call(), provider="deepseek", model="deepseek-v4-20260101")
    wanted = request(user_text("x"), own, result("call_1", "k"), model="deepseek-v4")
    assert body(wanted, compat.DEEPSEEK, "deepseek")["messages"][2]["reasoning_content"] == "because"


def test_the_field_that_thinking_came_in_is_the_one_it_goes_back_in() -> None:
    own = reply(ThinkingBlock("because", "reasoning"), call(), provider="vllm", model="m")
    wanted = request(user_text("x"), own, result("call_1", "k"), model="m")
    sent = body(wanted, compat.VLLM, "vllm")["messages"][2]
    assert sent["reasoning"] == "because"
    assert "reasoning_content" not in sent


DETAILS = [
    {"type": "reasoning.text", "text": "because", "index": 0},
    {"type": "reasoning.encrypted", "data": "E"},
]


def test_openrouter_gets_its_details_back() -> None:
    own = reply(ThinkingBlock("because", json.dumps(DETAILS)), "done", provider="openrouter", model="x/y")
    wanted = request(user_text("x"), own, user_text("more"), model="x/y")
    sent = body(wanted, compat.OPENROUTER, "openrouter")["messages"][2]
    assert sent["reasoning_details"] == DETAILS
    assert "reasoning" not in sent


@pytest.mark.parametrize("signature", ["[", "reasoning", None, "[1]"])
def test_openrouter_without_details_gets_the_text_back(signature: str | None) -> None:
    own = reply(ThinkingBlock("because", signature), call(), provider="openrouter", model="x/y")
    wanted = request(user_text("x"), own, result("call_1", "k"), model="x/y")
    assert body(wanted, compat.OPENROUTER, "openrouter")["messages"][2]["reasoning"] == "because"


def test_schemas_have_an_object_at_the_root_and_items_in_arrays() -> None:
    tool = ToolDeclaration(
        "t", "d", {"properties": {"a": {"type": "array"}, "b": {"anyOf": [{"type": ["array", "null"]}]}}}
    )
    parameters = body(request(tools=(tool,)))["tools"][0]["function"]["parameters"]
    assert parameters["type"] == "object"
    assert parameters["properties"]["a"]["items"] == {}
    assert parameters["properties"]["b"]["anyOf"][0]["items"] == {}


UNTIDY = (
    UserMessage((TextBlock("look"), IMAGE)),
    reply(ThinkingBlock("hm", "reasoning_content"), "I read.", call("a|b"), call("", "b a d")),
    result("a|b", "", IMAGE),
    result("", "x\ud83d", is_error=True),
    reply(ToolCall("c", "read", None, "{"), call("d")),
    result("c", IMAGE, is_error=True),
    result("d", "ok"),
    user_text("Nearly out of turns."),
    reply(" "),
    reply("done"),
    user_text("A check failed."),
)

SERVICES = {
    "openai": compat.OPENAI,
    "deepseek": compat.DEEPSEEK,
    "openrouter": compat.OPENROUTER,
    "groq": compat.GROQ,
    "mistral": compat.MISTRAL,
    "vllm": compat.VLLM,
    "llamacpp": compat.LLAMACPP,
    "ollama": compat.OLLAMA,
}


@pytest.mark.parametrize("level", [None, "off", "high"])
@pytest.mark.parametrize("model", ["gpt-4.1", "gpt-5.2", "o3", "m"])
@pytest.mark.parametrize("service", SERVICES)
def test_every_service_takes_an_untidy_history(service: str, model: str, level: str | None) -> None:
    own = replace(UNTIDY[1], provider=service, model=model)
    wanted = request(UNTIDY[0], own, *UNTIDY[2:], model=model, thinking=level)
    check_chat(body(wanted, SERVICES[service], service), PROFILES[service])
    check_chat(body(replace(wanted, tools=()), SERVICES[service], service), PROFILES[service])
