"""What the Messages API refuses.

Source: https://platform.claude.com/docs/en/api/messages and the errors that it answers with.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from typing import Any

from tests.servers.refusal import Refusal, check_image, check_schema, need, only

FIELDS = """model messages max_tokens system stream stop_sequences temperature top_p top_k tools tool_choice
thinking output_config metadata service_tier cache_control container speed inference_geo diagnostics"""
BLOCK_FIELDS = {
    "text": "type text cache_control citations",
    "image": "type source cache_control",
    "tool_use": "type id name input cache_control caller",
    "tool_result": "type tool_use_id content is_error cache_control",
    "thinking": "type thinking signature",
    "redacted_thinking": "type data",
}
VERSIONS = ("2023-06-01", "2026-10-21")
TOOL_ID = re.compile(r"[A-Za-z0-9_-]{1,64}\Z")
TOOL_NAME = re.compile(r"[A-Za-z0-9_-]{1,128}\Z")
BY_BUDGET = re.compile(r"claude-(?:3-7-|(?:opus|sonnet|haiku)-4(?:-[0156])?(?:-20\d{6})?\Z)")
ADAPTIVE = re.compile(r"claude-(?:(?:opus|sonnet)-4-[678]|(?:opus|sonnet|haiku)-5|fable|mythos)")
ALWAYS_THINKS = re.compile(r"claude-(?:fable|mythos|opus-5-5|sonnet-5-5)")
EFFORTS = ("low", "medium", "high", "xhigh", "max")
MAX_IMAGES = 100
MAX_IMAGE_BYTES = 5 * 1024 * 1024


def signature_of(thinking: str) -> str:
    """The signature that this server gives a thought: a changed thought is found out."""
    return "sig_" + hashlib.sha256(thinking.encode()).hexdigest()[:24]


def check_messages(body: Mapping[str, Any], version: str) -> None:
    """Refuse a request that the service would. Raises: Refusal."""
    need(version in VERSIONS, f"anthropic-version: {version!r}")
    only(dict(body), FIELDS, "body", _extra)
    need(isinstance(body.get("model"), str) and body["model"], "model: Field required")
    cap = body.get("max_tokens")
    need(type(cap) is int and cap >= 1, "max_tokens: Field required")
    need(int(cap or 0) <= 128_000, f"max_tokens: {cap} > 128000, which is the maximum allowed")
    if version == VERSIONS[1]:
        for name in ("temperature", "top_p", "top_k"):
            need(name not in body, f"{name}: Extra inputs are not permitted")
    _check_system(body.get("system", []))
    _check_tools(body)
    messages = body.get("messages")
    need(isinstance(messages, list) and messages, "messages: at least one message is required")
    assert isinstance(messages, list)
    for index, message in enumerate(messages):
        _check_message(message, f"messages.{index}")
    need(messages[0]["role"] == "user", 'messages: first message must use the "user" role')
    _check_turns(messages, str(body["model"]), has_tools="tools" in body)
    _check_thinking(body, messages)
    _check_marks(body, messages)


def _extra(path: str) -> Refusal:
    return Refusal(f"{path.removeprefix('body.')}: Extra inputs are not permitted")


def _check_system(system: Any) -> None:
    if isinstance(system, str):
        need(system.strip(), "system: text content blocks must contain non-whitespace text")
        return
    for index, block in enumerate(system):
        need(block.get("type") == "text", f"system.{index}: need a text block")
        _check_block(block, f"system.{index}", ("text",))


def _check_tools(body: Mapping[str, Any]) -> None:
    if "tools" not in body:
        need("tool_choice" not in body, "tool_choice: may only be specified while providing tools")
        return
    tools = body["tools"]
    need(isinstance(tools, list) and tools, "tools: List should have at least 1 item")
    names = [tool.get("name", "") for tool in tools]
    need(len(set(names)) == len(names), "tools: Tool names must be unique.")
    for index, tool in enumerate(tools):
        where = f"tools.{index}"
        only(tool, "name description input_schema cache_control strict type", where, _extra)
        need(TOOL_NAME.match(tool.get("name", "")), f"{where}.name: does not match the pattern")
        check_schema(tool.get("input_schema"), f"{where}.input_schema")
        for word in ("anyOf", "oneOf", "allOf"):
            need(
                word not in tool["input_schema"],
                f"{where}.input_schema: {word} is not supported at the top level",
            )


def _check_message(message: Any, where: str) -> None:
    only(message, "role content", where, _extra)
    role, content = message.get("role"), message.get("content")
    need(role in ("user", "assistant"), f"{where}.role: {role!r}: system is no role here")
    if isinstance(content, str):
        need(content.strip(), f"{where}: all messages must have non-empty content")
        return
    need(isinstance(content, list) and content, f"{where}: all messages must have non-empty content")
    kinds: tuple[str, ...] = ("text", "image", "tool_result")
    if role == "assistant":
        kinds = ("text", "thinking", "redacted_thinking", "tool_use")
    for index, block in enumerate(content):
        _check_block(block, f"{where}.content.{index}", kinds)


def _check_block(block: Any, where: str, kinds: tuple[str, ...]) -> None:
    kind = block.get("type") if isinstance(block, dict) else None
    need(kind in kinds, f"{where}: Input tag {kind!r} does not match any of {kinds}")
    only(block, BLOCK_FIELDS[str(kind)], where, _extra)
    match kind:
        case "text":
            need(
                block.get("text", "").strip(),
                f"{where}: text content blocks must contain non-whitespace text",
            )
        case "image":
            source = block["source"]
            size = check_image(source.get("media_type", ""), source.get("data", ""), where)
            need(size <= MAX_IMAGE_BYTES, f"{where}: image exceeds 5 MB maximum")
        case "tool_use":
            need(TOOL_ID.match(str(block.get("id"))), f"{where}.id: does not match the pattern")
            need(isinstance(block.get("input"), dict), f"{where}.input: Input should be a valid dictionary")
            need(TOOL_NAME.match(str(block.get("name"))), f"{where}.name: does not match the pattern")
        case "thinking":
            right = signature_of(str(block.get("thinking")))
            need(block.get("signature") == right, f"{where}: Invalid `signature` in `thinking` block")
        case "redacted_thinking":
            need(block.get("data"), f"{where}.data: Field required")
        case "tool_result":
            _check_result(block, where)


def _check_result(block: Mapping[str, Any], where: str) -> None:
    content = block.get("content", [])
    if isinstance(content, str):
        need(content.strip(), f"{where}: text content blocks must contain non-whitespace text")
        return
    kinds = ("text",) if block.get("is_error") else ("text", "image")
    for index, inner in enumerate(content):
        _check_block(inner, f"{where}.content.{index}", kinds)


def _check_turns(messages: list[dict[str, Any]], model: str, *, has_tools: bool) -> None:
    """Results stand first in the next user message, one per call; ids are unique."""
    seen: set[str] = set()
    waiting: list[str] = []
    for index, message in enumerate(messages):
        where = f"messages.{index}"
        content = message["content"] if isinstance(message["content"], list) else []
        results = [block["tool_use_id"] for block in content if block["type"] == "tool_result"]
        kinds = [block["type"] for block in content]
        need("tool_result" not in kinds[len(results) :], f"{where}: tool_result blocks must come first")
        for call_id in results:
            need(call_id in waiting, f"{where}: unexpected `tool_use_id` {call_id!r} in `tool_result` blocks")
            waiting.remove(call_id)
        need(not waiting, f"{where}: `tool_use` ids were found without `tool_result` blocks: {waiting}")
        waiting = [block["id"] for block in content if block["type"] == "tool_use"]
        for call_id in waiting:
            need(call_id not in seen, f"{where}: `tool_use` ids must be unique: {call_id!r}")
            seen.add(call_id)
        thoughts = [i for i, kind in enumerate(kinds) if "thinking" in kind]
        need(thoughts == list(range(len(thoughts))), f"{where}: thinking must be at the head")
    need(not waiting, f"`tool_use` ids were found without `tool_result` blocks: {waiting}")
    is_prefill = messages[-1]["role"] == "assistant" and ADAPTIVE.match(model)
    need(not is_prefill, "This model does not support assistant message prefill.")
    used = {block["type"] for m in messages if isinstance(m["content"], list) for block in m["content"]}
    need(has_tools or not used & {"tool_use", "tool_result"}, "requests with tool blocks must define tools")
    images = sum(str(message["content"]).count("'type': 'image'") for message in messages)
    need(images <= MAX_IMAGES, f"too many images: {images} > {MAX_IMAGES}")


def _check_thinking(body: Mapping[str, Any], messages: list[dict[str, Any]]) -> None:
    thinking, model = body.get("thinking"), str(body["model"])
    effort = body.get("output_config", {}).get("effort")
    need(effort is None or (effort in EFFORTS and ADAPTIVE.match(model)), f"output_config.effort: {effort!r}")
    if thinking is None:
        return
    kind = thinking.get("type")
    if kind == "enabled":
        only(thinking, "type budget_tokens display", "thinking", _extra)
        need(BY_BUDGET.match(model), f"thinking.type: 'enabled' is not supported by {model}")
        budget = thinking.get("budget_tokens", 0)
        need(budget >= 1024, "thinking.budget_tokens: Input should be greater than or equal to 1024")
        need(budget < body["max_tokens"], "`max_tokens` must be greater than `thinking.budget_tokens`")
        _check_open_turn(messages)
    elif kind == "adaptive":
        only(thinking, "type display", "thinking", _extra)
        need(ADAPTIVE.match(model), f"thinking.type: 'adaptive' is not supported by {model}")
    else:
        need(kind in ("disabled", "between_tools"), f"thinking.type: {kind!r}")
        need(not ALWAYS_THINKS.match(model), f"thinking.type: 'disabled' is not supported by {model}")
        return
    need("temperature" not in body, "`temperature` may only be set to 1 when thinking is enabled")
    choice = body.get("tool_choice", {}).get("type")
    need(choice not in ("any", "tool"), "Thinking may not be enabled when tool_choice forces tool use.")


def _check_open_turn(messages: list[dict[str, Any]]) -> None:
    last = messages[-1]["content"]
    if not any(isinstance(block, dict) and block["type"] == "tool_result" for block in last):
        return
    first = messages[-2]["content"][0]["type"]
    need("thinking" in first, f"Expected `thinking` or `redacted_thinking`, but found `{first}`")


def _check_marks(body: Mapping[str, Any], messages: list[dict[str, Any]]) -> None:
    """At most four cache marks, none on thinking (`only` sees to that), 1h before 5m."""
    marked: list[Mapping[str, Any]] = [*body.get("tools", ())]
    marked += body["system"] if isinstance(body.get("system"), list) else []
    for message in messages:
        for block in message["content"] if isinstance(message["content"], list) else ():
            marked.append(block)
            marked += block["content"] if isinstance(block.get("content"), list) else []
    marks = [block["cache_control"] for block in [*marked, body] if block.get("cache_control")]
    need(len(marks) <= 4, f"A maximum of 4 blocks with cache_control may be provided. Found {len(marks)}.")
    ttls = []
    for mark in marks:
        only(mark, "type ttl", "cache_control", _extra)
        need(mark.get("type") == "ephemeral", "cache_control.type")
        ttls.append(mark.get("ttl", "5m"))
    need(ttls == sorted(ttls), "a ttl='1h' cache_control block must not come after a ttl='5m' one")
