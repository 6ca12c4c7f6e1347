"""What the Responses API refuses.

Source: https://platform.openai.com/docs/api-reference/responses/create and the errors that it answers with.
Every request is taken as one that stores nothing: items are found by what they carry, never by id alone.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from typing import Any

from tests.servers.chat_rules import EFFORTS, REASONS
from tests.servers.refusal import TOOL_NAME, Refusal, check_image, check_schema, need, only

FIELDS = """background conversation include input instructions max_output_tokens max_tool_calls metadata model
parallel_tool_calls previous_response_id prompt prompt_cache_key prompt_cache_options prompt_cache_retention
reasoning safety_identifier service_tier store stream stream_options temperature text tool_choice tools
top_logprobs top_p truncation user"""
ITEM_FIELDS = {
    "message": "type role content id status phase",
    "function_call": "type id call_id name arguments status",
    "function_call_output": "type id call_id output status",
    "reasoning": "type id summary content encrypted_content status",
}
PARTS = {"user": ("input_text", "input_image", "input_file"), "assistant": ("output_text", "refusal")}
CALL_ID = re.compile(r".{1,64}\Z", re.DOTALL)
SCHEMA_NAME = re.compile(r"[A-Za-z0-9_-]{1,64}\Z")
PREFIXES = {"message": "msg_", "function_call": "fc_", "reasoning": "rs_"}
MIN_OUTPUT_TOKENS = 16


def encrypted_of(thinking: str) -> str:
    """The encrypted content that this server gives a thought: one it never gave is found out."""
    return "enc_" + hashlib.sha256(thinking.encode()).hexdigest()[:24]


def reasoning_id(thinking: str) -> str:
    """The id of the item that holds a thought."""
    return "rs_" + hashlib.sha256(thinking.encode()).hexdigest()[:24]


def check_responses(body: Mapping[str, Any]) -> None:
    """Refuse a request that the service would. Raises: Refusal."""
    only(dict(body), FIELDS, "body", _unknown)
    model = body.get("model")
    need(isinstance(model, str) and model, "Missing required parameter: 'model'.")
    need(body.get("store") is False, "store: this service keeps nothing (zero data retention)")
    for name in ("previous_response_id", "conversation"):
        need(name not in body, f"{name}: not found", status=404, code="previous_response_not_found")
    _check_model_fields(body, str(model))
    cap = body.get("max_output_tokens", MIN_OUTPUT_TOKENS)
    low = f"Invalid 'max_output_tokens': integer below minimum value. Expected >= {MIN_OUTPUT_TOKENS}"
    need(type(cap) is int and cap >= MIN_OUTPUT_TOKENS, low, code="integer_below_min_value")
    need(len(str(body.get("prompt_cache_key", ""))) <= 64, "prompt_cache_key: too long")
    only(body.get("stream_options", {}), "include_obfuscation", "stream_options", _unknown)
    need(isinstance(body.get("instructions", "x"), str), "instructions: need a string")
    _check_text(body.get("text", {}))
    _check_tools(body)
    items = body.get("input")
    if isinstance(items, str):
        return
    need(isinstance(items, list) and items, "input: need a string or items")
    assert isinstance(items, list)
    for index, item in enumerate(items):
        _check_item(item, f"input[{index}]")
    _check_calls(items)
    _check_reasoning(items)


def _unknown(path: str) -> Refusal:
    name = path.removeprefix("body.")
    return Refusal(f"Unknown parameter: '{name}'.", code="unknown_parameter", param=name)


def _check_model_fields(body: Mapping[str, Any], model: str) -> None:
    """What only models that reason take, and what they do not take."""
    reasoning = only(body.get("reasoning", {}), "effort summary context mode", "reasoning", _unknown)
    effort = reasoning.get("effort")
    need(effort is None or effort in EFFORTS, f"reasoning.effort {effort!r}", code="unsupported_value")
    if REASONS.match(model):
        for name in ("temperature", "top_p", "top_logprobs"):
            message = f"Unsupported parameter: '{name}' is not supported with this model."
            need(effort == "none" or name not in body, message, code="unsupported_parameter", param=name)
    elif re.match(r"gpt-|chatgpt-", model):
        need(not reasoning, "Unsupported parameter: 'reasoning.effort'", code="unsupported_parameter")
        message = "Encrypted content is not supported with this model."
        need("reasoning.encrypted_content" not in body.get("include", ()), message, param="include")


def _check_text(text: Any) -> None:
    only(text, "format verbosity", "text", _unknown)
    form = text.get("format", {"type": "text"})
    need(form.get("type") in ("text", "json_object", "json_schema"), "text.format.type")
    if form["type"] == "json_schema":
        only(form, "type name schema strict description", "text.format", _unknown)
        need(SCHEMA_NAME.match(form.get("name", "")), "text.format.name: does not match the pattern")
        need(isinstance(form.get("schema"), dict), "Missing required parameter: 'text.format.schema'.")


def _check_tools(body: Mapping[str, Any]) -> None:
    if "tools" not in body:
        for name in ("tool_choice", "parallel_tool_calls"):
            need(name not in body, f"'{name}' is only allowed when 'tools' are specified.")
        return
    tools = body["tools"]
    need(isinstance(tools, list) and tools, "tools: [] is too short", code="empty_array")
    names = [tool.get("name") for tool in tools]
    need(len(set(names)) == len(names), "tools: duplicate names")
    for index, tool in enumerate(tools):
        where = f"tools[{index}]"
        only(tool, "type name description parameters strict", where, _unknown)
        need(tool.get("type") == "function", f"{where}.type: need 'function'")
        need(TOOL_NAME.match(str(tool.get("name"))), f"{where}.name: does not match the pattern")
        check_schema(tool.get("parameters"), f"{where}.parameters")
        strict = "in strict mode 'additionalProperties' is required to be supplied and to be false"
        is_closed = tool["parameters"].get("additionalProperties") is False
        need(not tool.get("strict") or is_closed, f"{where}.parameters: {strict}")


def _check_item(item: Any, where: str) -> None:
    kind = item.get("type", "message") if isinstance(item, dict) else None
    need(kind in ITEM_FIELDS, f"{where}.type: Invalid value: {kind!r}", code="invalid_value")
    only(item, ITEM_FIELDS[str(kind)], where, _unknown)
    item_id = item.get("id")
    prefix = PREFIXES.get(str(kind), "")
    need(
        item_id is None or str(item_id).startswith(prefix), f"{where}.id: expected an ID that begins {prefix}"
    )
    need(
        item_id is None or len(item_id) <= 64, f"{where}.id: string too long", code="string_above_max_length"
    )
    match kind:
        case "message":
            _check_message(item, where)
        case "function_call":
            need(isinstance(item.get("arguments"), str), f"{where}.arguments: need a string")
            need(TOOL_NAME.match(str(item.get("name"))), f"{where}.name: does not match the pattern")
        case "function_call_output":
            output = item.get("output")
            if not isinstance(output, str):
                _check_parts(output, PARTS["user"], f"{where}.output")
        case "reasoning":
            _check_thought(item, where)
    if "call" in str(kind):
        need(CALL_ID.match(str(item.get("call_id", ""))), f"{where}.call_id: need 1 to 64 characters")


def _check_message(item: Mapping[str, Any], where: str) -> None:
    role = item.get("role")
    need(role in ("user", "assistant", "system", "developer"), f"{where}.role: {role!r}")
    phase = item.get("phase")
    need(phase in (None, "commentary", "final_answer"), f"{where}.phase: {phase!r}")
    need(phase is None or role == "assistant", f"{where}.phase: only assistant messages have one")
    content = item.get("content")
    if isinstance(content, str):
        need(content.strip(), f"{where}.content: text must not be blank")
    else:
        _check_parts(content, PARTS.get(str(role), ("input_text",)), f"{where}.content")


def _check_parts(parts: Any, kinds: tuple[str, ...], where: str) -> None:
    need(isinstance(parts, list) and parts, f"{where}: need a string or parts")
    for index, part in enumerate(parts):
        place = f"{where}[{index}]"
        need(isinstance(part, dict) and part.get("type") in kinds, f"{place}: Invalid value: {part!r:.60}")
        if part["type"] == "input_image":
            match = re.match(r"data:(image/\w+);base64,(.*)\Z", part.get("image_url", ""), re.DOTALL)
            need(match, f"{place}.image_url: need a data URL")
            if match:
                check_image(match[1], match[2], place)
        elif "text" in part["type"]:
            need(str(part.get("text", "")).strip(), f"{place}.text: must not be blank")


def _check_thought(item: Mapping[str, Any], where: str) -> None:
    need(isinstance(item.get("id"), str), f"Missing required parameter: '{where}.id'.")
    need(isinstance(item.get("summary"), list), f"Missing required parameter: '{where}.summary'.")
    encrypted = item.get("encrypted_content")
    missing = f"Item with id '{item['id']}' not found. Items are not persisted when `store` is set to false."
    need(encrypted, missing, status=404)
    tail = str(item["id"]).removeprefix("rs_")
    need(
        encrypted == f"enc_{tail}",
        "The encrypted content could not be verified.",
        code="invalid_encrypted_content",
    )


def _check_calls(items: list[dict[str, Any]]) -> None:
    """Each call has exactly one output, after it; no orphan."""
    waiting: list[str] = []
    seen: set[str] = set()
    for item in items:
        kind, call_id = item.get("type"), str(item.get("call_id"))
        if kind == "function_call":
            need(call_id not in seen, f"Duplicate call_id {call_id!r}")
            seen.add(call_id)
            waiting.append(call_id)
        elif kind == "function_call_output":
            need(call_id in waiting, f"No tool call found for function call output with call_id {call_id}.")
            waiting.remove(call_id)
        elif kind in (None, "message") and item.get("role") == "user":
            need(not waiting, f"No tool output found for function call {waiting}.")
    need(not waiting, f"No tool output found for function call {waiting}.")


def _check_reasoning(items: list[dict[str, Any]]) -> None:
    """Reasoning stands right before what it led to; what goes with its id has its reasoning before it."""
    ids = [item["id"] for item in items if item.get("id")]
    for item_id in ids:
        need(ids.count(item_id) == 1, f"Duplicate item found with id {item_id}.")
    has_reasoning = False
    for index, item in enumerate(items):
        kind, item_id = item.get("type", "message"), item.get("id")
        if kind == "reasoning":
            following = items[index + 1] if index + 1 < len(items) else {}
            is_led = (
                following.get("type") in ("reasoning", "function_call")
                or following.get("role") == "assistant"
            )
            need(
                is_led,
                f"Item '{item_id}' of type 'reasoning' was provided without its required following item.",
            )
            has_reasoning = True
        elif kind == "function_call" or item.get("role") == "assistant":
            lack = f"Item '{item_id}' of type '{kind}' was provided without its required 'reasoning' item"
            need(item_id is None or has_reasoning, lack)
        else:
            has_reasoning = False
