"""The loopback service refuses what Gemini refuses, and takes what it takes."""

from __future__ import annotations

import base64
from collections.abc import Callable
from copy import deepcopy
from typing import Any

import pytest

from tests.servers.gemini_rules import UNSIGNED, check_gemini, signature_of
from tests.servers.refusal import Refusal
from tests.servers.test_chat_rules import put

Body = dict[str, Any]
PNG = base64.b64encode(b"\x89PNG\r\n\x1a\n" + b"\0" * 9).decode()
IMAGE = {"inlineData": {"mimeType": "image/png", "data": PNG}}
CALL = {"functionCall": {"id": "a", "name": "read", "args": {"path": "x"}}}
SIGNATURE = signature_of(CALL)
SIGNED = {**CALL, "thoughtSignature": SIGNATURE}
TEXT = {"type": "string"}
OBJECT = {"type": "object", "properties": {"path": TEXT}, "required": ["path"]}
NEW, OLD = "gemini-3.1-pro", "gemini-2.5-pro"


def response(call_id: str, **rest: Any) -> Body:
    return {"functionResponse": {"id": call_id, "name": "read", "response": {"output": "x"}, **rest}}


GOOD: Body = {
    "systemInstruction": {"parts": [{"text": "be good"}]},
    "generationConfig": {"maxOutputTokens": 4096, "thinkingConfig": {"thinkingLevel": "LOW"}},
    "tools": [{"functionDeclarations": [{"name": "read", "description": "d", "parameters": OBJECT}]}],
    "contents": [
        {"role": "user", "parts": [{"text": "hi"}, IMAGE]},
        {
            "role": "model",
            "parts": [{"text": "reading"}, SIGNED, {"functionCall": {"id": "b", "name": "read", "args": {}}}],
        },
        {"role": "user", "parts": [response("a", parts=[IMAGE]), response("b")]},
        {"role": "model", "parts": [{"text": "", "thoughtSignature": signature_of({"text": ""})}]},
        {"role": "user", "parts": [{"text": "hurry"}]},
    ],
}
THINKING = ("generationConfig", "thinkingConfig")
IN, DECLARED = "contents", ("tools", 0, "functionDeclarations")
PARAMETERS = (*DECLARED, 0, "parameters")
ARG = (*PARAMETERS, "properties", "path")
MODEL_PARTS, RESULTS = (IN, 1, "parts"), (IN, 2, "parts")


def argument(**schema: Any) -> Callable[[Body], None]:
    return put(*ARG, value=schema)


REFUSED: dict[str, tuple[Callable[[Body], None], str]] = {
    "a name of another wire": (put("messages", value=[]), 'Unknown name "messages"'),
    "system as a string": (put("systemInstruction", value="be good"), "need an object"),
    "blank system": (put("systemInstruction", "parts", 0, "text", value=" "), "one text part"),
    "no contents": (put(IN, value=[]), "contents is not specified"),
    "assistant as a role": (put(IN, 1, "role", value="assistant"), "valid role"),
    "first is a reply": (lambda b: b[IN].pop(0), "first turn"),
    "no parts": (put(IN, 0, "parts", value=[]), "must not be empty"),
    "two kinds of data in a part": (put(IN, 0, "parts", 0, "inlineData", value={}), "one initialized field"),
    "empty text": (put(IN, 0, "parts", 0, "text", value=""), "must not be empty"),
    "unknown field of a part": (put(IN, 0, "parts", 0, "cache_control", value={}), "Unknown name"),
    "image of the model": (lambda b: b[IN][3]["parts"].append(IMAGE), "the user's"),
    "gif": (put(IN, 0, "parts", 1, "inlineData", "mimeType", value="image/gif"), "Unsupported MIME"),
    "image that is none": (put(IN, 0, "parts", 1, "inlineData", "data", value="AAAA"), "is no image/png"),
    "call of the user": (lambda b: b[IN][4]["parts"].append(CALL), "turn of the model"),
    "arguments as a string": (put(*MODEL_PARTS, 2, "functionCall", "args", value="{}"), "need an object"),
    "call without name": (put(*MODEL_PARTS, 2, "functionCall", "name", value=""), "Name cannot be empty"),
    "response as a string": (put(*RESULTS, 0, "functionResponse", "response", value="x"), "response"),
    "a response missing": (lambda b: b[IN][2]["parts"].pop(), "not equal to the number"),
    "a response too many": (lambda b: b[IN][2]["parts"].append(response("c")), "not equal to the number"),
    "responses over two turns": (
        lambda b: b[IN].insert(3, {"role": "user", "parts": [b[IN][2]["parts"].pop()]}),
        "not equal to the number",
    ),
    "text among responses": (lambda b: b[IN][2]["parts"].append({"text": "x"}), "turn of their own"),
    "responses out of order": (lambda b: b[IN][2]["parts"].reverse(), "id does not match"),
    "response of another name": (put(*RESULTS, 0, "functionResponse", "name", value="ls"), "name does not"),
    "one id twice": (put(*MODEL_PARTS, 2, "functionCall", "id", value="a"), "must be unique"),
    "calls at the end": (lambda b: b.update(contents=b[IN][:2]), "without its responses"),
    "signature of another part": (put(*MODEL_PARTS, 0, "thoughtSignature", value=SIGNATURE), "not valid"),
    "the dummy on a text": (put(*MODEL_PARTS, 0, "thoughtSignature", value=UNSIGNED), "not valid"),
    "signature of the user": (put(IN, 4, "parts", 0, "thoughtSignature", value="S"), "none was given"),
    "budget and level": (
        put(*THINKING, "thinkingBudget", value=500),
        "only one of thinking budget",
    ),
    "unknown level": (put(*THINKING, "thinkingLevel", value="max"), "thinking_level"),
    "unknown configuration": (put("generationConfig", "max_tokens", value=5), "Unknown name"),
    "cap beyond the model": (put("generationConfig", "maxOutputTokens", value=70_000), "range"),
    "no declaration": (put(*DECLARED, value=[]), "must be initialized"),
    "tool configuration without tools": (
        lambda b: (b.pop("tools"), b.update(toolConfig={}))[1],
        "without function",
    ),
    "nested declaration": (put("tools", 0, "function", value={}), "Unknown name"),
    "name with a digit first": (put(*DECLARED, 0, "name", value="7zip"), "Invalid function name"),
    "long name": (put(*DECLARED, 0, "name", value="n" * 64), "Invalid function name"),
    "two tools of a name": (
        lambda b: b["tools"][0]["functionDeclarations"].append({"name": "read"}),
        "Duplicate",
    ),
    "both kinds of schema": (put(*DECLARED, 0, "parametersJsonSchema", value={}), "mutually exclusive"),
    "$schema": (put(*PARAMETERS, "$schema", value="x"), "Unknown name"),
    "additionalProperties": (put(*PARAMETERS, "additionalProperties", value=False), "Unknown name"),
    "$ref": (argument(**{"$ref": "#/x"}), "Unknown name"),
    "const": (argument(type="string", const="x"), "Unknown name"),
    "oneOf": (argument(oneOf=[TEXT]), "Unknown name"),
    "exclusiveMinimum": (argument(type="integer", exclusiveMinimum=0), "Unknown name"),
    "list of types": (argument(type=["string", "null"]), "Invalid value"),
    "enum of numbers": (argument(type="integer", enum=[1]), "only allowed for STRING"),
    "empty enum value": (argument(type="string", enum=[""]), "cannot be empty"),
    "odd format": (argument(type="string", format="uri"), "only 'enum' and 'date-time'"),
    "array without items": (argument(type="array"), "missing field"),
    "object without properties": (argument(type="object"), "should be non-empty"),
    "required without property": (put(*DECLARED, 0, "parameters", "required", value=["b"]), "not defined"),
    "odd alternative": (argument(anyOf=[{"type": "null"}]), "Invalid value"),
}  # fmt: skip


@pytest.mark.parametrize("name", REFUSED)
def test_what_the_service_refuses_is_refused(name: str) -> None:
    spoil, words = REFUSED[name]
    body = deepcopy(GOOD)
    spoil(body)
    with pytest.raises(Refusal) as caught:
        check_gemini(body, NEW)
    assert words in caught.value.message


def test_a_good_request_is_taken() -> None:
    check_gemini(GOOD, NEW)
    check_gemini({"contents": [{"role": "user", "parts": [{"text": "hi"}]}]}, OLD)


def test_the_first_call_of_each_step_of_the_current_turn_is_signed() -> None:
    body = deepcopy(GOOD)
    del body[IN][1]["parts"][1]["thoughtSignature"]
    check_gemini(body, NEW)  # the turn is over
    body[IN] = body[IN][:3]
    with pytest.raises(Refusal, match="missing a thought_signature"):
        check_gemini(body, NEW)
    body[IN][1]["parts"][1]["thoughtSignature"] = UNSIGNED
    check_gemini(body, NEW)


def changed(**thinking: Any) -> Body:
    body = deepcopy(GOOD)
    body["contents"] = body["contents"][:1]
    body["generationConfig"]["thinkingConfig"] = thinking
    return body


@pytest.mark.parametrize(
    ("model", "thinking", "words"),
    [
        (OLD, {"thinkingBudget": 0}, "only thinks"),
        (OLD, {"thinkingLevel": "LOW"}, "not supported"),
        ("gemini-4-argon", {"thinkingBudget": 500}, "not supported"),
    ],
)
def test_each_family_is_told_to_think_in_its_own_way(model: str, thinking: Body, words: str) -> None:
    with pytest.raises(Refusal, match=words):
        check_gemini(changed(**thinking), model)


def test_older_models_know_no_ids_of_calls_and_no_images_in_responses() -> None:
    body = deepcopy(GOOD)
    del body["generationConfig"]["thinkingConfig"]
    with pytest.raises(Refusal, match='"id"'):
        check_gemini(body, OLD)
    for part in body[IN][1]["parts"][1:]:
        del part["functionCall"]["id"]
    body[IN][1]["parts"][1].pop("thoughtSignature")
    for part in body[IN][2]["parts"]:
        del part["functionResponse"]["id"]
    with pytest.raises(Refusal, match='"parts"'):
        check_gemini(body, OLD)
