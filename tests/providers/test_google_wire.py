"""What goes to Gemini: every rule of the wire."""

from __future__ import annotations

import json
from typing import Any

import pytest
from msgspec.structs import replace

from pi_batch.messages import (
    AssistantMessage,
    ImageBlock,
    Message,
    TextBlock,
    ThinkingBlock,
    ToolCall,
    ToolDeclaration,
    UserMessage,
    user_text,
)
from pi_batch.protocols import ModelRequest
from pi_batch.providers import apis
from pi_batch.providers.catalog import SERVICES, Service
from pi_batch.providers.compat import Compat
from pi_batch.providers.encoded import EncodedHistory
from pi_batch.providers.google_wire import GeminiRules, gemini_body, gemini_tools
from tests.providers.asking import request
from tests.providers.histories import IMAGE, PNG, call, long_history, reply, result
from tests.servers.gemini_rules import UNSIGNED, check_gemini, signature_of

SERVICE = SERVICES["google"]
NEW = "gemini-3.1-pro-preview"
OLD = "gemini-2.5-flash"
INLINE = {"inlineData": {"mimeType": "image/png", "data": PNG}}


def ask(*history: Message, **changes: Any) -> ModelRequest:
    return request(*history, **{"model": NEW, **changes})


def body(wanted: ModelRequest, service: Service = SERVICE) -> dict[str, Any]:
    history = EncodedHistory(GeminiRules(service.name, wanted.model))
    units = history.encode(wanted.messages)
    sent: dict[str, Any] = json.loads(
        gemini_body(wanted, service, units, history.tools(wanted.tools, gemini_tools))
    )
    return sent


def contents(*history: Message, **changes: Any) -> Any:
    return body(ask(*history, **changes))["contents"]


def own(*blocks: Any, **fields: str) -> AssistantMessage:
    return reply(*blocks, **{"provider": "google", "model": NEW, "api": apis.GEMINI, **fields})


def signed(call_id: str = "c1", **arguments: Any) -> ToolCall:
    """A call with the signature that it came with."""
    made = call(call_id, **arguments)
    wire = {"functionCall": {"id": call_id, "name": made.name, "args": made.arguments}}
    return replace(made, signature=signature_of(wire))


def test_a_request_is_configuration_tools_system_and_contents() -> None:
    assert body(ask()) == {
        "generationConfig": {"maxOutputTokens": 2000},
        "tools": [
            {
                "functionDeclarations": [
                    {
                        "name": "read",
                        "description": "Read a file",
                        "parameters": {
                            "type": "object",
                            "properties": {"path": {"type": "string"}},
                            "required": ["path"],
                        },
                    }
                ]
            }
        ],
        "systemInstruction": {"parts": [{"text": "Be good."}]},
        "contents": [{"role": "user", "parts": [{"text": "hi"}]}],
    }


def test_without_tools_and_system_neither_is_sent() -> None:
    assert not {"tools", "toolConfig", "systemInstruction"} & set(body(ask(tools=(), system=" \n")))


@pytest.mark.parametrize(
    ("model", "asked", "cap"),
    [
        (NEW, None, None),
        (NEW, 90_000, 65_536),
        ("gemini-4-argon", 90_000, 32_768),
        ("gemini-2.0-flash", 90_000, 8_192),
        ("mystery", 90_000, 90_000),
    ],
)
def test_the_cap_is_never_more_than_the_model_gives(model: str, asked: int | None, cap: int | None) -> None:
    sent = body(ask(model=model, max_output_tokens=asked))["generationConfig"]
    assert sent.get("maxOutputTokens") == cap


def test_thinking_is_configured_where_a_level_was_named() -> None:
    sent = body(ask(thinking="low"))["generationConfig"]
    assert sent["thinkingConfig"] == {"thinkingLevel": "LOW", "includeThoughts": True}
    assert "thinkingConfig" not in body(ask())["generationConfig"]


def test_the_results_of_a_reply_are_one_turn_in_the_order_of_its_calls() -> None:
    """google-gemini/gemini-cli#4217."""
    sent = contents(
        user_text("x"),
        own("Reading.", signed("c1"), call("c2")),
        result("c1", "one"),
        result("c2", "two", is_error=True),
        user_text("Nearly out of turns."),
    )
    assert [content["role"] for content in sent] == ["user", "model", "user", "user"]
    args = {"path": "a.txt"}
    assert sent[1]["parts"] == [
        {"text": "Reading."},
        {
            "functionCall": {"id": "c1", "name": "read", "args": args},
            "thoughtSignature": signed("c1").signature,
        },
        {"functionCall": {"id": "c2", "name": "read", "args": args}},
    ]
    assert sent[2]["parts"] == [
        {"functionResponse": {"id": "c1", "name": "read", "response": {"output": "one"}}},
        {"functionResponse": {"id": "c2", "name": "read", "response": {"error": "two"}}},
    ]
    assert sent[3]["parts"] == [{"text": "Nearly out of turns."}]


def test_older_models_get_calls_and_results_without_ids() -> None:
    sent = contents(user_text("x"), own(call("c1"), call("c2")), result("c1"), result("c2"), model=OLD)
    for content in sent[1:]:
        for part in content["parts"]:
            assert "id" not in next(iter(part.values()))
            assert "thoughtSignature" not in part


def test_images_of_results_stand_in_the_response_or_in_a_turn_of_their_own_for_older_models() -> None:
    history = (user_text("x"), own(call("c1"), call("c2")), result("c1", "a", IMAGE), result("c2", IMAGE))
    new, old = contents(*history), contents(*history, model=OLD)
    assert [part["functionResponse"]["parts"] for part in new[2]["parts"]] == [[INLINE], [INLINE]]
    assert new[2]["parts"][1]["functionResponse"]["response"] == {"output": "(the image follows)"}
    assert len(new) == 3
    assert all("parts" not in part["functionResponse"] for part in old[2]["parts"])
    assert old[3]["parts"] == [{"text": "Images of the tool results above:"}, INLINE, INLINE]


def test_an_image_of_a_type_that_gemini_lacks_is_said_in_words() -> None:
    gif = ImageBlock("R0lGODlhAQABAAAAACw=", "image/gif")
    sent = contents(UserMessage((TextBlock("look"), gif)), own(call()), result("call_1", gif))
    said = "(an image of type image/gif: this model takes none of them)"
    assert sent[0]["parts"][1] == {"text": said}
    assert sent[2]["parts"][0]["functionResponse"]["response"] == {"output": said}


@pytest.mark.parametrize("blank", ["", " \n"])
def test_no_part_and_no_turn_is_ever_empty(blank: str) -> None:
    history = (UserMessage((TextBlock(blank), TextBlock("x"))), own(blank, call()), result("call_1", blank))
    sent = contents(*history)
    assert sent[0]["parts"] == [{"text": "x"}]
    assert [set(part) for part in sent[1]["parts"]] == [{"functionCall", "thoughtSignature"}]
    assert sent[2]["parts"][0]["functionResponse"]["response"] == {"output": "(no output)"}
    assert contents(user_text("x"), own(blank), user_text(blank)) == contents(user_text("x"))


def test_each_signature_goes_back_on_its_own_part_also_on_an_empty_text() -> None:
    last = TextBlock("", signature_of({"text": ""}))
    said = TextBlock("b", signature_of({"text": "b"}))
    assert contents(user_text("x"), own("a", said, "c", last))[1]["parts"] == [
        {"text": "a"},
        {"text": "b", "thoughtSignature": signature_of({"text": "b"})},
        {"text": "c"},
        {"text": "", "thoughtSignature": signature_of({"text": ""})},
    ]


def test_thoughts_stay_away_unless_they_are_signed() -> None:
    signature = signature_of({"text": "b"})
    sent = contents(user_text("x"), own(ThinkingBlock("a"), ThinkingBlock("b", signature), "c"))
    assert sent[1]["parts"] == [{"text": "b", "thought": True, "thoughtSignature": signature}, {"text": "c"}]


@pytest.mark.parametrize(
    "fields",
    [{"provider": "house"}, {"model": "gemini-3-flash"}, {"api": apis.MESSAGES}, {"provider": "anthropic"}],
)
def test_signatures_of_another_model_are_left_out_and_its_first_call_says_so(fields: dict[str, str]) -> None:
    said = TextBlock("t", signature_of({"text": "t"}))
    other = own(ThinkingBlock("why", "x"), said, signed("c1"), signed("c2"), **fields)
    parts = contents(user_text("x"), other, result("c1"), result("c2"))[1]["parts"]
    assert [part.get("thoughtSignature") for part in parts] == [None, UNSIGNED, None]


def test_a_call_that_goes_back_without_its_arguments_is_not_sent_under_its_signature() -> None:
    broken = ToolCall("c1", "read", None, "[1]", "S")
    part = contents(user_text("x"), own(broken), result("c1"))[1]["parts"][0]
    assert part == {
        "functionCall": {"id": "c1", "name": "read", "args": {}},
        "thoughtSignature": UNSIGNED,
    }


def test_what_answered_by_another_name_than_asked_is_ones_own() -> None:
    answered = replace(own(signed("c1"), model="gemini-3.5-flash"), requested_model="gemini-flash-latest")
    sent = contents(user_text("x"), answered, result("c1"), model="gemini-flash-latest")
    assert sent[1]["parts"][0]["thoughtSignature"] == signed("c1").signature


def test_names_begin_with_a_letter_and_have_less_than_64_characters_and_stay_apart() -> None:
    names = ("7zip", "-x", "n" * 63 + "a", "n" * 63 + "b")
    tools = tuple(ToolDeclaration(name, "d", {}) for name in names)
    called = own(call("c1", "7zip"), call("c2", "b a d"))
    sent = body(
        ask(user_text("x"), called, result("c1", name="7zip"), result("c2", name="b a d"), tools=tools)
    )
    declared = [tool["name"] for tool in sent["tools"][0]["functionDeclarations"]]
    assert declared[:2] == ["_7zip", "_-x"]
    assert len({*declared}) == 4
    assert max(map(len, declared)) == 63
    check_gemini(sent, NEW)


def test_ids_of_other_services_are_shaped_and_stay_paired() -> None:
    history: list[Message] = [user_text("x")]
    for call_id in ("call_0", "call_0", "call_1|fc_abc", "i" * 90):
        history += [own(call(call_id)), result(call_id, "y")]
    check_gemini(body(ask(*history)), NEW)


def test_a_turns_contents_are_a_prefix_of_the_next() -> None:
    before, after = (contents(*long_history(turns)) for turns in (3, 4))
    assert after[: len(before)] == before


def test_a_service_can_be_sent_fields_of_its_own() -> None:
    service = replace(SERVICE, compat=Compat(extra_body={"safetySettings": []}))
    assert body(ask(), service)["safetySettings"] == []


UNTIDY = (
    UserMessage((TextBlock("look"), IMAGE)),
    own(ThinkingBlock("a"), "I read.", call("a|b+c"), call("", "b a d")),
    result("a|b+c", "", IMAGE),
    result("", "x\ud83d", is_error=True, name="b a d"),
    reply(
        ThinkingBlock("other", "x"), ToolCall("c", "read", None, "{"), call("d" * 90), provider="anthropic"
    ),
    result("c", IMAGE, is_error=True),
    result("d" * 90, "ok"),
    user_text("Nearly out of turns."),
    own(" "),
    own("done \n", TextBlock("", signature_of({"text": ""}))),
    user_text("A check failed."),
)


@pytest.mark.parametrize("level", [None, "off", "low", "max"])
@pytest.mark.parametrize(
    "model", ["gemini-2.0-flash", OLD, "gemini-2.5-pro", "gemini-3-pro", NEW, "gemini-4-argon", "mystery"]
)
def test_the_service_takes_an_untidy_history(model: str, level: str | None) -> None:
    for end in (1, 4, 7, len(UNTIDY)):
        wanted = ask(*UNTIDY[:end], model=model, thinking=level)
        check_gemini(body(wanted), model)
        check_gemini(body(replace(wanted, tools=(), system="")), model)
