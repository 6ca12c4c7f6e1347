"""What Chat Completions services refuse: OpenAI strictly, others by their profile.

Source: https://platform.openai.com/docs/api-reference/chat/create and the errors that services answer with.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from tests.servers.refusal import TOOL_NAME, Refusal, check_image, check_schema, need, only

FIELDS = """audio frequency_penalty function_call functions logit_bias logprobs max_completion_tokens
max_tokens messages metadata modalities model moderation n parallel_tool_calls prediction presence_penalty
prompt_cache_key prompt_cache_options prompt_cache_retention reasoning_effort response_format
safety_identifier seed service_tier stop store stream stream_options temperature tool_choice tools
top_logprobs top_p user verbosity web_search_options"""
MESSAGE_FIELDS = {
    "developer": "role content name",
    "system": "role content name",
    "user": "role content name",
    "assistant": "role content name refusal tool_calls audio function_call",
    "tool": "role content tool_call_id",
}
REASONS = re.compile(r"(?:.*/)?(?:o\d|gpt-(?:[5-9]|\d\d))(?!.*chat)")
SAMPLING = (
    "top_p",
    "presence_penalty",
    "frequency_penalty",
    "logprobs",
    "top_logprobs",
    "logit_bias",
    "stop",
)
EFFORTS = ("none", "minimal", "low", "medium", "high", "xhigh", "max")


@dataclass(frozen=True, slots=True)
class ChatProfile:
    """Where a service differs from OpenAI."""

    name: str = "openai"
    knows_developer: bool = True
    fields: str = ""
    """Top-level fields beyond OpenAI's."""
    lacks: str = ""
    """Fields of OpenAI's that it refuses."""
    reply_fields: str = ""
    """Fields of an assistant message beyond OpenAI's."""
    arguments_must_parse: bool = False
    ids: re.Pattern[str] = re.compile(r".{1,40}\Z", re.DOTALL)
    requires_reasoning: bool = False
    """Replies that call tools carry reasoning_content."""
    takes_empty_tools: bool = False


PROFILES = {
    profile.name: profile
    for profile in (
        ChatProfile(),
        ChatProfile(
            "deepseek", False, "thinking", "max_completion_tokens store", "reasoning_content", True,
            requires_reasoning=True,
        ),
        ChatProfile("openrouter", False, "reasoning usage provider", "", "reasoning reasoning_details"),
        ChatProfile("groq", False, "", "store prompt_cache_key"),
        ChatProfile(
            "mistral", False, "", "store max_completion_tokens prompt_cache_key stream_options",
            ids=re.compile(r"[A-Za-z0-9]{9}\Z"),
        ),
        ChatProfile("together", False, "reasoning", "store prompt_cache_key", "reasoning"),
        ChatProfile("fireworks", False, "", "store", "reasoning_content"),
        ChatProfile("zai", False, "thinking", "store", "reasoning_content"),
        ChatProfile("vllm", False, "", "store", "reasoning reasoning_content", True),
        ChatProfile("llamacpp", False, "", "store", "reasoning_content", True),
        ChatProfile("ollama", False, "", "store", "reasoning", True),
        ChatProfile("litellm", False, "", "store", "", takes_empty_tools=True),
    )
}  # fmt: skip


def check_chat(body: Mapping[str, Any], profile: ChatProfile) -> None:
    """Refuse a request that the service would. Raises: Refusal."""
    only(dict(body), f"{FIELDS} {profile.fields}", "body", _unknown)
    for name in profile.lacks.split():
        need(name not in body, f"Unrecognized request argument supplied: {name}", code="unknown_parameter")
    model = body.get("model")
    need(isinstance(model, str) and model, "you must provide a model parameter")
    if profile.name == "openai":
        _check_sampling(body, str(model))
    _check_cap(body, str(model), profile)
    need("stream_options" not in body or body.get("stream") is True, "stream_options only with stream")
    need(
        len(str(body.get("prompt_cache_key", ""))) <= 64,
        "prompt_cache_key: too long",
        code="string_above_max_length",
    )
    need(len(str(body.get("safety_identifier", ""))) <= 128, "safety_identifier: too long")
    _check_tools(body, profile)
    messages = body.get("messages")
    need(isinstance(messages, list) and messages, "messages: need at least one")
    assert isinstance(messages, list)
    for index, message in enumerate(messages):
        _check_message(message, f"messages[{index}]", profile)
    _check_pairing(messages)
    is_json = body.get("response_format", {}).get("type") == "json_object"
    need(not is_json or "json" in json.dumps(messages).lower(), "messages must contain the word json")


def _unknown(path: str) -> Refusal:
    return Refusal(
        f"Unknown parameter: '{path.removeprefix('body.')}'.", code="unknown_parameter", param=path
    )


def _check_sampling(body: Mapping[str, Any], model: str) -> None:
    if REASONS.match(model):
        effort = body.get("reasoning_effort")
        need(effort is None or effort in EFFORTS, f"reasoning_effort {effort!r}", code="unsupported_value")
        if effort != "none":
            for name in SAMPLING:
                need(name not in body, f"Unsupported parameter: '{name}'", code="unsupported_parameter")
            need(body.get("temperature", 1) == 1, "temperature: only 1", code="unsupported_value")
    else:
        need("reasoning_effort" not in body, "Unrecognized: reasoning_effort", code="unknown_parameter")


def _check_cap(body: Mapping[str, Any], model: str, profile: ChatProfile) -> None:
    both = "max_tokens" in body and "max_completion_tokens" in body
    need(not both, "max_tokens and max_completion_tokens cannot both be set", code="invalid_parameter")
    if profile.name == "openai" and REASONS.match(model):
        message = "Unsupported parameter: 'max_tokens' is not supported with this model."
        need("max_tokens" not in body, message, code="unsupported_parameter", param="max_tokens")
    for name in ("max_tokens", "max_completion_tokens"):
        need(type(body.get(name, 1)) is int and body.get(name, 1) >= 1, f"{name}: need a number >= 1")


def _check_tools(body: Mapping[str, Any], profile: ChatProfile) -> None:
    if "tools" not in body:
        for name in ("tool_choice", "parallel_tool_calls"):
            need(name not in body, f"'{name}' is only allowed when 'tools' are specified.")
        return
    tools = body["tools"]
    need(isinstance(tools, list), "tools: need a list")
    need(tools or profile.takes_empty_tools, "[] is too short - 'tools'", code="empty_array")
    need(len(tools) <= 128, "tools: at most 128", code="array_above_max_length")
    names = set()
    for index, tool in enumerate(tools):
        where = f"tools[{index}]"
        only(tool, "type function", where, _unknown)
        need(tool.get("type") == "function", f"{where}.type: need 'function'")
        function = only(
            tool.get("function"), "name description parameters strict", f"{where}.function", _unknown
        )
        name = function.get("name", "")
        need(TOOL_NAME.match(name), f"{where}.function.name: {name!r} does not match the pattern")
        need(name not in names, f"{where}: duplicate tool {name!r}")
        names.add(name)
        if "parameters" in function:
            check_schema(function["parameters"], f"{where}.function.parameters")
        if function.get("strict"):
            need(_is_strict(function.get("parameters")), f"{where}: schema does not fit strict")


def _is_strict(schema: Any) -> bool:
    if not isinstance(schema, dict) or "type" not in schema:
        return False
    if schema["type"] == "object":
        properties = schema.get("properties", {})
        is_closed = schema.get("additionalProperties") is False and set(schema.get("required", ())) == set(
            properties
        )
        return is_closed and all(map(_is_strict, properties.values()))
    return True


def _check_message(message: Any, where: str, profile: ChatProfile) -> None:
    need(isinstance(message, dict), f"{where}: need an object")
    role = message.get("role")
    need(role in MESSAGE_FIELDS, f"{where}.role: {role!r}")
    if role == "developer" and not profile.knows_developer:
        raise Refusal(f"{where}.role: unknown variant `developer`", status=422)
    extra = profile.reply_fields if role == "assistant" else ""
    only(message, f"{MESSAGE_FIELDS[role]} {extra}", where, _unknown)
    content = message.get("content")
    if role == "assistant":
        _check_reply(message, where, profile)
        if content is None or (content == "" and message.get("tool_calls")):
            return
    kinds = {"user": ("text", "image_url", "input_audio", "file"), "assistant": ("text", "refusal")}
    _check_content(content, where, kinds.get(role, ("text",)))


def _check_reply(message: Mapping[str, Any], where: str, profile: ChatProfile) -> None:
    calls = message.get("tool_calls")
    if message.get("content") is None:
        need(calls or message.get("refusal"), f"{where}.content: expected a string, got null")
    if calls is None:
        return
    need(isinstance(calls, list) and calls, f"{where}.tool_calls: [] is too short", code="empty_array")
    if profile.requires_reasoning:
        is_there = isinstance(message.get("reasoning_content"), str)
        need(is_there, "The `reasoning_content` in the thinking mode must be passed back to the API.")
    for index, call in enumerate(calls):
        place = f"{where}.tool_calls[{index}]"
        only(call, "id type function", place, _unknown)
        need(call.get("type") == "function", f"{place}.type")
        call_id = call.get("id")
        need(isinstance(call_id, str) and profile.ids.match(call_id), f"{place}.id: {call_id!r}")
        function = only(call.get("function"), "name arguments", f"{place}.function", _unknown)
        need(TOOL_NAME.match(str(function.get("name"))), f"{place}.function.name: does not match the pattern")
        arguments = function.get("arguments")
        need(isinstance(arguments, str), f"{place}.function.arguments: need a string")
        if profile.arguments_must_parse:
            need(
                _is_object(str(arguments)), f"{place}.function.arguments: failed to parse as JSON", status=500
            )


def _is_object(text: str) -> bool:
    try:
        return isinstance(json.loads(text), dict)
    except ValueError:
        return False


def _check_content(content: Any, where: str, kinds: tuple[str, ...]) -> None:
    if isinstance(content, str):
        need(content.strip(), f"{where}.content: text must not be blank")
        return
    need(isinstance(content, list) and content, f"{where}.content: need a string or parts")
    for index, part in enumerate(content):
        place = f"{where}.content[{index}]"
        need(isinstance(part, dict) and part.get("type") in kinds, f"{place}: Invalid value: {part!r:.60}")
        if part["type"] == "text":
            only(part, "type text", place, _unknown)
            need(part.get("text", "").strip(), f"{place}: text must not be blank")
        elif part["type"] == "image_url":
            url = part["image_url"].get("url", "")
            match = re.match(r"data:(image/\w+);base64,(.*)\Z", url, re.DOTALL)
            need(match, f"{place}: need a data URL")
            if match:
                check_image(match[1], match[2], place)


def _check_pairing(messages: list[dict[str, Any]]) -> None:
    """Each id is answered by one tool message directly after, before any other role."""
    waiting: list[str] = []
    for index, message in enumerate(messages):
        if message["role"] == "tool":
            call_id = message.get("tool_call_id")
            need(call_id in waiting, f"messages[{index}]: no 'tool_calls' precede the result {call_id!r}")
            waiting.remove(str(call_id))
            continue
        text = "An assistant message with 'tool_calls' must be followed by tool messages: "
        need(not waiting, f"{text}{waiting} had none")
        waiting = [call["id"] for call in message.get("tool_calls") or ()]
        need(len(set(waiting)) == len(waiting), f"messages[{index}]: duplicate tool call ids")
    need(not waiting, f"tool calls without results: {waiting}")
