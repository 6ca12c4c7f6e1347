"""What goes to the Responses API: every rule of the wire."""

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
    UserMessage,
    user_text,
)
from pi_batch.protocols import ModelRequest
from pi_batch.providers import apis
from pi_batch.providers.compat import OPENAI, Compat
from pi_batch.providers.encoded import EncodedHistory
from pi_batch.providers.responses_wire import (
    ResponsesRules,
    responses_body,
    responses_tools,
    text_signature,
)
from tests.providers.asking import READ, request
from tests.providers.histories import IMAGE, PNG, call, long_history, reply, result
from tests.servers.responses_rules import check_responses, encrypted_of, reasoning_id

MODEL = "gpt-5.6"
ENCRYPTED = ["reasoning.encrypted_content"]


def thought(text: str = "because", **changes: Any) -> ThinkingBlock:
    """A reasoning item as it is kept."""
    item = {
        "type": "reasoning",
        "id": reasoning_id(text),
        "summary": [{"type": "summary_text", "text": text}],
        "encrypted_content": encrypted_of(text),
        **changes,
    }
    return ThinkingBlock(text, json.dumps(item))


def sent_thought(text: str = "because") -> dict[str, Any]:
    """The same as it goes back."""
    return {
        "type": "reasoning",
        "id": reasoning_id(text),
        "summary": [{"type": "summary_text", "text": text}],
        "encrypted_content": encrypted_of(text),
    }


def ask(*history: Message, **changes: Any) -> ModelRequest:
    return request(*history, **{"model": MODEL, **changes})


def body(wanted: ModelRequest, compat: Compat = OPENAI) -> dict[str, Any]:
    history = EncodedHistory(ResponsesRules("openai", wanted.model))
    units = history.encode(wanted.messages)
    sent: dict[str, Any] = json.loads(
        responses_body(wanted, compat, units, history.tools(wanted.tools, responses_tools))
    )
    return sent


def items(*history: Message, **changes: Any) -> Any:
    return body(ask(*history, **changes))["input"]


def own(*blocks: Any, **fields: str) -> AssistantMessage:
    return reply(*blocks, **{"provider": "openai", "model": MODEL, "api": apis.RESPONSES, **fields})


def test_a_request_stores_nothing_and_carries_instructions_tools_and_items() -> None:
    assert body(ask()) == {
        "model": MODEL,
        "stream": True,
        "store": False,
        "include": ENCRYPTED,
        "prompt_cache_key": "s1",
        "max_output_tokens": 2000,
        "tools": [
            {
                "type": "function",
                "name": "read",
                "description": "Read a file",
                "parameters": READ.parameters,
                "strict": False,
            }
        ],
        "instructions": "Be good.",
        "input": [
            {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "hi"}]},
        ],
    }


def test_without_tools_and_system_neither_is_sent() -> None:
    assert not {"tools", "tool_choice", "instructions"} & set(body(ask(tools=(), system=" \n")))


@pytest.mark.parametrize(
    ("model", "is_asked"),
    [(MODEL, True), ("o3", True), ("mystery", True), ("gpt-4.1", False), ("gpt-5-chat-latest", False)],
)
def test_encrypted_reasoning_is_asked_for_unless_the_model_is_known_not_to_reason(
    model: str, is_asked: bool
) -> None:
    assert body(ask(model=model)).get("include") == (ENCRYPTED if is_asked else None)


@pytest.mark.parametrize(("asked", "cap"), [(None, None), (5, 16), (2_000, 2_000), (900_000, 128_000)])
def test_the_cap_is_at_least_sixteen_and_at_most_the_models(asked: int | None, cap: int | None) -> None:
    assert body(ask(max_output_tokens=asked)).get("max_output_tokens") == cap


@pytest.mark.parametrize(
    ("model", "level", "effort"),
    [
        (MODEL, None, None),
        (MODEL, "off", "none"),
        (MODEL, "minimal", "low"),
        (MODEL, "max", "max"),
        ("gpt-5.2", "max", "xhigh"),
        ("gpt-5", "off", "minimal"),
        ("gpt-5-pro", "low", "high"),
        ("gpt-4.1", "high", None),
        ("mystery", "high", None),
    ],
)
def test_a_level_is_the_nearest_effort_that_the_family_takes(
    model: str, level: str | None, effort: str | None
) -> None:
    sent = body(ask(model=model, thinking=level))
    assert sent.get("reasoning") == (None if effort is None else {"effort": effort})


def test_no_sampling_field_and_no_name_of_the_other_wire_is_ever_sent() -> None:
    sent = body(ask(thinking="high"))
    other = {"messages", "max_tokens", "max_completion_tokens", "response_format", "reasoning_effort"}
    assert not {"temperature", "top_p", "stream_options", "previous_response_id", *other} & set(sent)


def test_a_cache_key_has_at_most_64_characters_and_only_where_it_is_known() -> None:
    assert len(body(ask(session_id="s" * 90))["prompt_cache_key"]) == 64
    assert "prompt_cache_key" not in body(ask(), Compat())
    assert "prompt_cache_key" not in body(ask(session_id=""))


SCHEMA = {"type": "object", "properties": {"n": {"type": "integer"}}}


@pytest.mark.parametrize("model", ["gpt-5.6", "gpt-4.1", "gpt-4o-mini", "o3"])
def test_the_answer_is_held_to_its_schema(model: str) -> None:
    sent = body(ask(model=model, output_schema=SCHEMA))
    form = {"type": "json_schema", "name": "answer", "schema": SCHEMA, "strict": False}
    assert sent["text"] == {"format": form}
    check_responses(sent)


@pytest.mark.parametrize(
    ("model", "schema", "compat"),
    [
        (MODEL, None, OPENAI),
        (MODEL, {"type": "array"}, OPENAI),
        (MODEL, SCHEMA, Compat()),
        ("gpt-4-turbo", SCHEMA, OPENAI),
        ("gpt-4o-2024-05-13", SCHEMA, OPENAI),
        ("gpt-5-chat-latest", SCHEMA, OPENAI),
        ("mystery", SCHEMA, OPENAI),
    ],
)
def test_what_cannot_be_held_to_a_schema_is_not_told_of_it(
    model: str, schema: dict[str, Any] | None, compat: Compat
) -> None:
    assert "text" not in body(ask(model=model, output_schema=schema), compat)


def test_calls_and_results_are_items_of_their_own_with_call_ids_alone() -> None:
    sent = items(
        user_text("x"), own("Reading.", call("c1"), call("c2")), result("c1", "one"), result("c2", "two")
    )
    assert sent[1:] == [
        {"type": "message", "role": "assistant", "content": "Reading."},
        {"type": "function_call", "call_id": "c1", "name": "read", "arguments": '{"path":"a.txt"}'},
        {"type": "function_call", "call_id": "c2", "name": "read", "arguments": '{"path":"a.txt"}'},
        {"type": "function_call_output", "call_id": "c1", "output": "one"},
        {"type": "function_call_output", "call_id": "c2", "output": "two"},
    ]


def test_images_are_parts_of_messages_and_of_results() -> None:
    sent = items(UserMessage((TextBlock("look"), IMAGE)), own(call()), result("call_1", "a", IMAGE))
    image = {"type": "input_image", "detail": "auto", "image_url": f"data:image/png;base64,{PNG}"}
    assert sent[0]["content"] == [{"type": "input_text", "text": "look"}, image]
    assert sent[2]["output"] == [{"type": "input_text", "text": "a"}, image]


@pytest.mark.parametrize("blank", ["", " \n"])
def test_no_text_is_ever_blank(blank: str) -> None:
    history = (UserMessage((TextBlock(blank), TextBlock("x"))), own(blank, call()), result("call_1", blank))
    sent = items(*history)
    assert sent[0]["content"] == [{"type": "input_text", "text": "x"}]
    assert [item["type"] for item in sent] == ["message", "function_call", "function_call_output"]
    assert sent[2]["output"] == "(no output)"
    assert items(user_text("x"), own(blank), user_text(blank)) == items(user_text("x"))


def test_reasoning_goes_back_right_before_the_item_that_it_led_to() -> None:
    sent = items(
        user_text("x"),
        own(thought("a"), "Reading.", thought("b"), call("c1"), call("c2")),
        result("c1", "1"),
        result("c2", "2"),
    )
    assert sent[1] == sent_thought("a")
    assert sent[2]["role"] == "assistant"
    assert sent[3] == sent_thought("b")
    assert [item["type"] for item in sent[4:6]] == ["function_call", "function_call"]


@pytest.mark.parametrize("rest", [(), (" ",)])
def test_reasoning_without_the_item_that_it_led_to_stays_away(rest: tuple[str, ...]) -> None:
    assert items(user_text("x"), own(thought(), *rest), user_text("y")) == items(
        user_text("x"), user_text("y")
    )


def test_no_item_is_sent_twice_though_a_service_used_its_id_again() -> None:
    history = (
        user_text("x"),
        own(thought(), call("c1")),
        result("c1"),
        own(thought(), call("c2")),
        result("c2"),
    )
    sent = body(ask(*history))
    assert sum(item["type"] == "reasoning" for item in sent["input"]) == 1
    check_responses(sent)


def test_reasoning_that_led_to_a_blank_text_does_not_move_to_the_next_item() -> None:
    sent = items(user_text("x"), own(thought("a"), " ", thought("b"), call()), result())
    assert [item.get("id") for item in sent if item["type"] == "reasoning"] == [reasoning_id("b")]


@pytest.mark.parametrize(
    "block",
    [
        thought(encrypted_content=None),
        thought(encrypted_content=""),
        thought(id=None),
        ThinkingBlock("because", None),
        ThinkingBlock("because", "reasoning_content"),
        ThinkingBlock("because", "{broken"),
        ThinkingBlock("because", "[" * 100_000),
        ThinkingBlock("because", '{"type": "message", "id": "x", "encrypted_content": "x"}'),
    ],
)
def test_what_the_service_could_not_find_again_is_left_out(block: ThinkingBlock) -> None:
    assert [item["type"] for item in items(user_text("x"), own(block, "t"))] == ["message", "message"]


def test_a_thought_without_summary_gets_an_empty_one() -> None:
    sent = items(user_text("x"), own(thought(summary=None, status="completed", content=None), "t"))
    assert sent[1] == {**sent_thought(), "summary": []}


@pytest.mark.parametrize(
    "fields",
    [{"provider": "house"}, {"model": "gpt-5.5"}, {"api": apis.CHAT}, {"provider": "anthropic"}],
)
def test_reasoning_and_phases_of_another_model_or_wire_are_left_out(fields: dict[str, str]) -> None:
    said = TextBlock("t", text_signature("msg_1", "commentary"))
    assert items(user_text("x"), own(thought(), said, **fields))[1:] == [
        {"type": "message", "role": "assistant", "content": "t"}
    ]


@pytest.mark.parametrize("phase", ["commentary", "final_answer"])
def test_the_phase_of_a_message_goes_back_with_it_and_its_id_does_not(phase: str) -> None:
    said = TextBlock("t", text_signature("msg_1", phase))
    assert said.signature == json.dumps({"v": 1, "id": "msg_1", "phase": phase}, separators=(",", ":"))
    assert items(user_text("x"), own(said))[1] == {
        "type": "message",
        "role": "assistant",
        "content": "t",
        "phase": phase,
    }


@pytest.mark.parametrize("signature", ["msg_old_1", '{"v":1,"id":"msg_1","phase":"overture"}', "[]"])
def test_an_unknown_signature_of_a_text_is_no_phase(signature: str) -> None:
    assert "phase" not in items(user_text("x"), own(TextBlock("t", signature)))[1]


def test_arguments_that_did_not_parse_go_back_as_none() -> None:
    sent = items(user_text("x"), own(ToolCall("c", "read", None, '{"pa')), result("c"))
    assert sent[1]["arguments"] == "{}"


def test_ids_of_other_services_are_shaped_and_stay_paired_and_unique() -> None:
    history: list[Message] = [user_text("x")]
    for call_id in ("call_0", "call_0", "call_1|fc_abc", "i" * 90):
        history += [own(call(call_id)), result(call_id, "y")]
    check_responses(body(ask(*history)))
    ids = [item["call_id"] for item in items(*history) if item["type"] == "function_call"]
    assert len({*ids}) == 4
    assert max(map(len, ids)) <= 64


def test_a_turns_items_are_a_prefix_of_the_next() -> None:
    before, after = (items(*long_history(turns)) for turns in (3, 4))
    assert after[: len(before)] == before


def test_a_service_can_be_sent_fields_of_its_own() -> None:
    sent = body(ask(), replace(OPENAI, extra_body={"service_tier": "flex"}))
    assert sent["service_tier"] == "flex"


UNTIDY = (
    UserMessage((TextBlock("look"), IMAGE)),
    own(thought("a"), "I read.", call("a|b+c"), call("", "b a d")),
    result("a|b+c", "", IMAGE),
    result("", "x\ud83d", is_error=True),
    reply(
        ThinkingBlock("other", "x"), ToolCall("c", "read", None, "{"), call("d" * 90), provider="anthropic"
    ),
    result("c", IMAGE, is_error=True),
    result("d" * 90, "ok"),
    user_text("Nearly out of turns."),
    own(thought("alone")),
    own(thought("b"), TextBlock("done \n", text_signature("msg_2", "final_answer"))),
    user_text("A check failed."),
)


@pytest.mark.parametrize("level", [None, "off", "low", "max"])
@pytest.mark.parametrize("model", ["gpt-4.1", "gpt-5", "gpt-5.2-pro", MODEL, "o3", "mystery"])
def test_the_service_takes_an_untidy_history(model: str, level: str | None) -> None:
    for end in (1, 4, 7, len(UNTIDY)):
        wanted = ask(*UNTIDY[:end], model=model, thinking=level)
        check_responses(body(wanted))
        check_responses(body(replace(wanted, tools=(), system="")))
