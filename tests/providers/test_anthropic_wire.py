"""What goes to the Messages API: every rule of the wire."""

from __future__ import annotations

import json
from typing import Any

import pytest
from msgspec.structs import replace

from pi_batch.messages import (
    AssistantMessage,
    Message,
    TextBlock,
    ThinkingBlock,
    ToolCall,
    ToolDeclaration,
    UserMessage,
    user_text,
)
from pi_batch.protocols import ModelRequest
from pi_batch.providers.anthropic_wire import MessagesRules, messages_body, messages_tools
from pi_batch.providers.catalog import SERVICES, Service
from pi_batch.providers.compat import Compat
from pi_batch.providers.encoded import EncodedHistory
from tests.providers.asking import READ, request
from tests.providers.histories import IMAGE, PNG, call, long_history, reply, result
from tests.servers.messages_rules import check_messages, signature_of

SERVICE = SERVICES["anthropic"]
SONNET = "claude-sonnet-5"
OLD = "claude-sonnet-4-5"
MARK = {"type": "ephemeral"}


def ask(*history: Message, **changes: Any) -> ModelRequest:
    return request(*history, **{"model": SONNET, **changes})


def body(wanted: ModelRequest, service: Service = SERVICE) -> dict[str, Any]:
    history = EncodedHistory(MessagesRules(service.name, wanted.model))
    units = history.encode(wanted.messages)
    sent: dict[str, Any] = json.loads(
        messages_body(wanted, service, units, history.tools(wanted.tools, messages_tools))
    )
    return sent


def plain(value: Any) -> Any:
    """The same without cache marks."""
    if isinstance(value, dict):
        return {key: plain(item) for key, item in value.items() if key != "cache_control"}
    return [plain(item) for item in value] if isinstance(value, list) else value


def messages(*history: Message, **changes: Any) -> Any:
    return plain(body(ask(*history, **changes))["messages"])


def own(*blocks: Any) -> AssistantMessage:
    return reply(*blocks, provider="anthropic", model=SONNET)


def test_a_request_names_model_stream_cap_tools_system_and_messages() -> None:
    assert body(ask()) == {
        "model": SONNET,
        "stream": True,
        "max_tokens": 2000,
        "tools": [{"name": "read", "description": "Read a file", "input_schema": READ.parameters}],
        "system": [{"type": "text", "text": "Be good.", "cache_control": MARK}],
        "messages": [{"role": "user", "content": [{"type": "text", "text": "hi", "cache_control": MARK}]}],
    }


@pytest.mark.parametrize(
    ("model", "asked", "cap"),
    [
        (SONNET, None, 32_000),
        ("claude-3-5-haiku-latest", None, 8_192),
        ("claude-3-5-haiku-latest", 50_000, 8_192),
        ("claude-opus-4-8", 50_000, 50_000),
        ("mystery", 90_000, 90_000),
    ],
)
def test_the_cap_is_always_there_and_never_more_than_the_model_gives(
    model: str, asked: int | None, cap: int
) -> None:
    assert body(ask(model=model, max_output_tokens=asked))["max_tokens"] == cap


def test_a_blank_system_prompt_is_left_out_and_the_last_tool_marked() -> None:
    sent = body(ask(system=" \n", tools=(READ, replace(READ, name="ls"))))
    assert "system" not in sent
    assert "cache_control" not in sent["tools"][0]
    assert sent["tools"][1]["cache_control"] == MARK


def test_results_come_first_in_the_next_user_message_then_what_the_user_says() -> None:
    history = (
        user_text("x"),
        own("Reading.", call("c1"), call("c2")),
        result("c1", "one"),
        result("c2", "two"),
        user_text("Nearly out of turns."),
    )
    sent = messages(*history)
    assert [message["role"] for message in sent] == ["user", "assistant", "user"]
    assert [block["type"] for block in sent[1]["content"]] == ["text", "tool_use", "tool_use"]
    assert sent[1]["content"][1] == {
        "type": "tool_use",
        "id": "c1",
        "name": "read",
        "input": {"path": "a.txt"},
    }
    assert sent[2]["content"] == [
        {"type": "tool_result", "tool_use_id": "c1", "content": [{"type": "text", "text": "one"}]},
        {"type": "tool_result", "tool_use_id": "c2", "content": [{"type": "text", "text": "two"}]},
        {"type": "text", "text": "Nearly out of turns."},
    ]


def test_messages_of_the_user_in_a_row_are_one() -> None:
    sent = messages(user_text("a"), user_text("b"))
    assert sent == [
        {"role": "user", "content": [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}]}
    ]


def test_images_are_base64_with_their_type() -> None:
    sent = messages(UserMessage((TextBlock("look"), IMAGE)))
    source = {"type": "base64", "media_type": "image/png", "data": PNG}
    assert sent[0]["content"][1] == {"type": "image", "source": source}


def test_a_good_result_keeps_its_image_and_an_errors_image_comes_after_the_results() -> None:
    history = (
        user_text("x"),
        own(call("c1"), call("c2")),
        result("c1", "a", IMAGE),
        result("c2", "b", IMAGE, is_error=True),
    )
    content = messages(*history)[2]["content"]
    assert [block["type"] for block in content] == ["tool_result", "tool_result", "image"]
    assert [block["type"] for block in content[0]["content"]] == ["text", "image"]
    assert content[1]["content"] == [{"type": "text", "text": "b"}]
    assert content[1]["is_error"] is True
    assert "is_error" not in content[0]


def test_an_error_of_an_image_alone_says_where_it_is() -> None:
    content = messages(user_text("x"), own(call()), result("call_1", IMAGE, is_error=True))[2]["content"]
    assert content[0]["content"] == [{"type": "text", "text": "(the image follows the results)"}]


@pytest.mark.parametrize("blank", ["", " \n"])
def test_no_text_is_ever_blank(blank: str) -> None:
    history = (UserMessage((TextBlock(blank), TextBlock("x"))), own(blank, call()), result("call_1", blank))
    sent = messages(*history)
    assert sent[0]["content"] == [{"type": "text", "text": "x"}]
    assert [block["type"] for block in sent[1]["content"]] == ["tool_use"]
    assert sent[2]["content"][0]["content"] == [{"type": "text", "text": "(no output)"}]


def test_a_reply_of_nothing_is_left_out() -> None:
    assert len(messages(user_text("a"), own(" "), user_text("b"))) == 2


THOUGHT = ThinkingBlock("because", signature_of("because"))
SILENT = ThinkingBlock("", signature_of(""))
HIDDEN = ThinkingBlock("", "ENCRYPTED", is_redacted=True)


def test_thinking_goes_back_as_it_came_and_at_the_head() -> None:
    sent = messages(user_text("x"), own(THOUGHT, SILENT, HIDDEN, "text", call()), result("call_1", "y"))
    assert sent[1]["content"][:3] == [
        {"type": "thinking", "thinking": "because", "signature": signature_of("because")},
        {"type": "thinking", "thinking": "", "signature": signature_of("")},
        {"type": "redacted_thinking", "data": "ENCRYPTED"},
    ]


@pytest.mark.parametrize(
    ("provider", "model"), [("openai-chat", SONNET), ("anthropic", "claude-opus-5"), ("anthropic", OLD)]
)
def test_thinking_of_another_model_is_left_out_whole(provider: str, model: str) -> None:
    other = reply(THOUGHT, HIDDEN, "text", provider=provider, model=model)
    assert messages(user_text("x"), other, user_text("y"))[1]["content"] == [{"type": "text", "text": "text"}]


@pytest.mark.parametrize("model", [f"{SONNET}-20260801", SONNET])
def test_a_dated_answer_is_the_same_model(model: str) -> None:
    mine = reply(THOUGHT, "text", provider="anthropic", model=model)
    assert len(messages(user_text("x"), mine, user_text("y"))[1]["content"]) == 2


def test_thinking_without_signature_is_left_out() -> None:
    assert (
        len(messages(user_text("x"), own(ThinkingBlock("because"), "t"), user_text("y"))[1]["content"]) == 1
    )


@pytest.mark.parametrize(
    ("model", "level", "fields"),
    [
        (SONNET, None, {}),
        (SONNET, "low", {"thinking": {"type": "adaptive"}, "output_config": {"effort": "low"}}),
        (SONNET, "minimal", {"thinking": {"type": "adaptive"}, "output_config": {"effort": "low"}}),
        (SONNET, "xhigh", {"thinking": {"type": "adaptive"}, "output_config": {"effort": "xhigh"}}),
        ("claude-opus-4-6", "xhigh", {"thinking": {"type": "adaptive"}, "output_config": {"effort": "high"}}),
        ("claude-opus-4-6", "max", {"thinking": {"type": "adaptive"}, "output_config": {"effort": "max"}}),
        (SONNET, "off", {"thinking": {"type": "disabled"}}),
        ("claude-fable-5-2", "off", {"thinking": {"type": "adaptive"}, "output_config": {"effort": "low"}}),
        ("claude-opus-5-5", "none", {"thinking": {"type": "adaptive"}, "output_config": {"effort": "low"}}),
        (OLD, "medium", {"thinking": {"type": "enabled", "budget_tokens": 8_192}}),
        (OLD, "max", {"thinking": {"type": "enabled", "budget_tokens": 18_976}}),
        (OLD, "off", {}),
        ("claude-3-5-haiku-latest", "high", {}),
        ("mystery", "high", {}),
    ],
)
def test_a_level_is_asked_for_in_the_familys_own_way(
    model: str, level: str | None, fields: dict[str, Any]
) -> None:
    sent = body(ask(model=model, thinking=level, max_output_tokens=20_000))
    assert {key: sent[key] for key in ("thinking", "output_config") if key in sent} == fields


@pytest.mark.parametrize("cap", [1_024, 2_047])
def test_without_room_for_a_budget_there_is_no_thinking(cap: int) -> None:
    assert "thinking" not in body(ask(model=OLD, thinking="high", max_output_tokens=cap))
    assert (
        body(ask(model=OLD, thinking="high", max_output_tokens=2_048))["thinking"]["budget_tokens"] == 1_024
    )


def test_a_tool_turn_that_began_without_thinking_ends_without_it() -> None:
    thinks: dict[str, Any] = {"model": OLD, "thinking": "high", "max_output_tokens": 8_000}
    bare = reply(call(), provider="anthropic", model=OLD)
    history = (user_text("x"), bare, result("call_1", "y"), user_text("hurry"))
    assert "thinking" not in body(ask(*history, **thinks))
    thoughtful = reply(THOUGHT, call(), provider="anthropic", model=OLD)
    assert "thinking" in body(ask(user_text("x"), thoughtful, result("call_1", "y"), **thinks))
    assert "thinking" in body(ask(*history, reply("done"), user_text("more"), **thinks))


def test_a_history_with_calls_declares_their_tools_where_none_is_offered() -> None:
    history = (user_text("x"), own(call("a"), call("b", "odd name")), result("a", "y"), result("b", "z"))
    sent = body(ask(*history, tools=()))
    assert [tool["name"] for tool in sent["tools"]] == ["read", "odd_name"]
    assert sent["tool_choice"] == {"type": "none"}
    assert not {"tools", "tool_choice"} & set(body(ask(tools=())))


def marks(value: Any) -> int:
    if isinstance(value, dict):
        return ("cache_control" in value) + sum(map(marks, value.values()))
    return sum(map(marks, value)) if isinstance(value, list) else 0


@pytest.mark.parametrize("turns", [0, 1, 2, 50])
def test_marks_are_on_the_system_prompt_and_the_two_newest_user_messages(turns: int) -> None:
    sent = body(ask(*long_history(turns)))
    assert marks(sent["system"]) == 1
    assert marks(sent["tools"]) == 0
    marked = [index for index, message in enumerate(sent["messages"]) if marks(message)]
    users = [index for index, message in enumerate(sent["messages"]) if message["role"] == "user"]
    assert marked == users[-2:]
    for index in marked:
        assert sent["messages"][index]["content"][-1]["cache_control"] == MARK
        assert marks(sent["messages"][index]) == 1


def test_a_server_that_does_not_know_marks_gets_none() -> None:
    service = replace(SERVICE, compat=Compat(cache_marks=False))
    assert marks(body(ask(*long_history(3)), service)) == 0
    assert marks(body(ask(*long_history(3), system=""), service)) == 0


def test_without_marks_a_turns_messages_are_a_prefix_of_the_next() -> None:
    before, after = (messages(*long_history(turns)) for turns in (3, 4))
    assert after[: len(before)] == before


def test_schemas_have_an_object_at_the_root_and_no_alternatives_there() -> None:
    tool = ToolDeclaration(
        "t", "d", {"anyOf": [{"required": ["a"]}], "$defs": {"x": {}}, "properties": {"a": {}}}
    )
    schema = body(ask(tools=(tool,)))["tools"][0]["input_schema"]
    assert schema == {"type": "object", "$defs": {"x": {}}, "properties": {"a": {}}}


def test_a_recordings_repeated_ids_become_unique_and_stay_paired() -> None:
    history: list[Message] = [user_text("x")]
    for number in range(3):
        history += [own(call("call_0", path=str(number))), result("call_0", str(number))]
    check_messages(body(ask(*history)), "2023-06-01")


def test_a_fine_tuned_request_can_carry_fields_of_its_own() -> None:
    service = replace(SERVICE, compat=Compat(extra_body={"metadata": {"user_id": "ci"}}))
    assert body(ask(), service)["metadata"] == {"user_id": "ci"}


UNTIDY = (
    UserMessage((TextBlock("look"), IMAGE)),
    AssistantMessage(
        (THOUGHT, HIDDEN, TextBlock("I read."), call("a|b+c"), call("", "b a d")),
        "tool_use",
        "anthropic",
        SONNET,
    ),
    result("a|b+c", "", IMAGE),
    result("", "x\ud83d", is_error=True),
    reply(
        ThinkingBlock("other", "x"), ToolCall("c", "read", None, "{"), call("d" * 90), provider="openai-chat"
    ),
    result("c", IMAGE, is_error=True),
    result("d" * 90, "ok"),
    user_text("Nearly out of turns."),
    reply(" "),
    reply("done \n"),
    user_text("A check failed."),
)


@pytest.mark.parametrize("version", ["2023-06-01", "2026-10-21"])
@pytest.mark.parametrize("level", [None, "off", "low", "max"])
@pytest.mark.parametrize(
    "model",
    [
        "claude-3-5-haiku-latest",
        "claude-3-7-sonnet-20250219",
        OLD,
        "claude-opus-4-6",
        "claude-opus-4-8",
        SONNET,
        "claude-sonnet-5-5",
        "claude-fable-5-2",
    ],
)
def test_the_service_takes_an_untidy_history(model: str, level: str | None, version: str) -> None:
    for end in (1, 4, 7, len(UNTIDY)):
        wanted = ask(*UNTIDY[:end], model=model, thinking=level, max_output_tokens=8_000)
        check_messages(body(wanted), version)
        check_messages(body(replace(wanted, tools=(), system="")), version)
