"""Requests as Chat Completions services take them.

Source: https://platform.openai.com/docs/api-reference/chat/create. What differs between services is in
their `Compat`; unknown fields are refused by some, so nothing is sent that a service does not know.
"""

from __future__ import annotations

import hashlib
import json
import sys
from collections.abc import Mapping, Sequence
from typing import Any

from pi_batch.messages import (
    AssistantMessage,
    ImageBlock,
    Message,
    SystemMessage,
    TextBlock,
    ThinkingBlock,
    ToolCall,
    ToolDeclaration,
    ToolResultMessage,
    UserMessage,
)
from pi_batch.protocols import ModelRequest
from pi_batch.providers import apis
from pi_batch.providers.compat import Compat
from pi_batch.providers.encoded import Unit, join_body
from pi_batch.providers.models import ModelFacts, effort, model_facts, takes_completion_tokens
from pi_batch.providers.same_model import is_from
from pi_batch.providers.tool_ids import ALNUM9_IDS, CHAT_IDS, WireIds, tool_name
from pi_batch.providers.tool_schemas import chat_parameters
from pi_batch.providers.wire_json import dumps

NO_OUTPUT = "(no output)"
IMAGES_FOLLOW = "(the image follows)"
IMAGES_OF_RESULTS = "Images of the tool results above:"
MAX_CACHE_KEY_CHARS = 64

_UNKNOWN = ModelFacts(sys.maxsize)
"""A model that no cap is known of, and no way to tell it to think."""


class ChatRules:
    """How one model of one service is sent its history; see `encoded.UnitRules`."""

    def __init__(self, compat: Compat, provider: str, model: str) -> None:
        self._compat = compat
        self._provider = provider
        self._model = model
        self.id_shape = ALNUM9_IDS if compat.tool_ids == "alnum9" else CHAT_IDS

    def joins(self, before: Message, message: Message) -> bool:
        """Results of one reply go together: their images come after the last of them."""
        return isinstance(before, ToolResultMessage) and isinstance(message, ToolResultMessage)

    def encode(self, messages: Sequence[Message], ids: WireIds) -> bytes:
        """One user message, one reply, or all results of a reply."""
        wires: list[dict[str, Any]] = []
        images: list[ImageBlock] = []
        for message in messages:
            match message:
                case UserMessage():
                    wires += _user(message)
                case AssistantMessage():
                    wires += self._reply(message, ids)
                case ToolResultMessage():
                    wires.append(_result(message, ids))
                    images += [block for block in message.content if isinstance(block, ImageBlock)]
                case SystemMessage():
                    continue
        if images:
            label = {"type": "text", "text": IMAGES_OF_RESULTS}
            wires.append({"role": "user", "content": [label, *map(_image, images)]})
        return b",".join(map(dumps, wires))

    def _reply(self, message: AssistantMessage, ids: WireIds) -> list[dict[str, Any]]:
        """A reply; nothing when it says nothing and calls nothing."""
        texts = [block.text for block in message.content if isinstance(block, TextBlock)]
        text = "\n\n".join(text for text in texts if text.strip())
        calls = [_call(call, ids) for call in message.tool_calls]
        if not text and not calls:
            return []
        nothing = None if self._compat.null_content else ""
        wire: dict[str, Any] = {"role": "assistant", "content": text or nothing}
        wire |= self._reasoning(message, has_calls=bool(calls))
        if calls:
            wire["tool_calls"] = calls
        return [wire]

    def _reasoning(self, message: AssistantMessage, *, has_calls: bool) -> dict[str, Any]:
        """The thinking of a reply, where the service wants it back and wrote it itself."""
        compat = self._compat
        if compat.reasoning_back == "never" or (compat.reasoning_back == "calls" and not has_calls):
            return {}
        blocks = [block for block in message.content if isinstance(block, ThinkingBlock)]
        if not is_from(message, apis.CHAT, self._provider, self._model):
            blocks = []
        if compat.reasoning_back == "details":
            for block in blocks:
                if details := _details(block.signature):
                    return {"reasoning_details": details}
        text = "\n".join(block.thinking for block in blocks if not block.is_redacted)
        if text:
            came_in = next((block.signature for block in blocks), None) or ""
            known = came_in if came_in in compat.reasoning_fields else compat.reasoning_fields[0]
            return {compat.reasoning_field or known: text}
        return {compat.reasoning_field: ""} if compat.requires_reasoning else {}


def chat_tools(tools: Sequence[ToolDeclaration]) -> bytes:
    """The `tools` field's value."""
    return dumps([_tool(tool) for tool in tools])


def chat_body(request: ModelRequest, compat: Compat, units: Sequence[Unit], tools: bytes) -> bytes:
    """The whole request: fields, then tools, then messages, so that what is known is only copied."""
    fields = _fields(request, compat)
    if not request.tools and compat.tools_for_history and any(unit.has_calls for unit in units):
        fields["tools"] = []
    fields |= compat.extra_body
    opening = dumps(fields)[:-1]
    if request.tools:
        opening += b',"tools":' + tools
    messages = [unit.wire for unit in units if unit.wire]
    if request.system.strip():
        messages.insert(0, dumps({"role": _system_role(request, compat), "content": request.system}))
    return join_body(opening, messages)


def _fields(request: ModelRequest, compat: Compat) -> dict[str, Any]:
    fields: dict[str, Any] = {"model": request.model, "stream": True}
    if compat.usage_in_stream:
        fields["stream_options"] = {"include_usage": True}
    if compat.store:
        fields["store"] = False
    if compat.prompt_cache_key and request.session_id:
        fields["prompt_cache_key"] = _cache_key(request.session_id)
    if request.max_output_tokens is not None:
        name = compat.output_cap_field
        if name == "by_model":
            name = "max_completion_tokens" if takes_completion_tokens(request.model) else "max_tokens"
        most = model_facts(request.model, _UNKNOWN).max_output_tokens
        fields[name] = min(request.max_output_tokens, most)
    return fields | _thinking(request, compat)


def _system_role(request: ModelRequest, compat: Compat) -> str:
    reasons = model_facts(request.model, _UNKNOWN).thinking == "effort"
    return "developer" if compat.developer_role and reasons else "system"


def _thinking(request: ModelRequest, compat: Compat) -> dict[str, Any]:
    """How this service is told how much to think; nothing where nobody said."""
    level = request.thinking
    if level is None:
        return {}
    is_off = level in ("off", "none")
    match compat.thinking_format:
        case "none":
            return {}
        case "by_model":
            word = effort(level, model_facts(request.model, _UNKNOWN).efforts)
            return {"reasoning_effort": word} if word else {}
        case "effort":
            return {"reasoning_effort": effort(level, compat.efforts)}
        case "openrouter":
            return {"reasoning": {"effort": effort(level, compat.efforts)}}
        case "together":
            return {"reasoning": {"enabled": not is_off}}
        case "deepseek":
            return {"thinking": {"type": "disabled" if is_off else "enabled"}}


def _user(message: UserMessage) -> list[dict[str, Any]]:
    """A user message: a plain string unless it holds an image; nothing when it is blank."""
    texts = [block for block in message.content if isinstance(block, TextBlock) and block.text.strip()]
    if any(isinstance(block, ImageBlock) for block in message.content):
        parts = [_part(block) for block in message.content if block in texts or isinstance(block, ImageBlock)]
        return [{"role": "user", "content": parts}]
    if not texts:
        return []
    return [{"role": "user", "content": "\n\n".join(block.text for block in texts)}]


def _part(block: TextBlock | ImageBlock) -> dict[str, Any]:
    return {"type": "text", "text": block.text} if isinstance(block, TextBlock) else _image(block)


def _image(block: ImageBlock) -> dict[str, Any]:
    return {"type": "image_url", "image_url": {"url": f"data:{block.mime_type};base64,{block.data}"}}


def _result(message: ToolResultMessage, ids: WireIds) -> dict[str, Any]:
    text = message.text
    if not text.strip():
        has_images = any(isinstance(block, ImageBlock) for block in message.content)
        text = IMAGES_FOLLOW if has_images else NO_OUTPUT
    return {"role": "tool", "tool_call_id": ids.result(message.tool_call_id), "content": text}


def _call(call: ToolCall, ids: WireIds) -> dict[str, Any]:
    """A call; arguments that did not parse go back as none: servers refuse a history that holds them."""
    arguments = dumps(call.arguments or {}).decode()
    return {
        "id": ids.call(call.id),
        "type": "function",
        "function": {"name": tool_name(call.name), "arguments": arguments},
    }


def _tool(tool: ToolDeclaration) -> dict[str, Any]:
    parameters = chat_parameters(tool.parameters)
    function = {"name": tool.name, "description": tool.description, "parameters": parameters}
    return {"type": "function", "function": function}


def _details(signature: str | None) -> list[Mapping[str, Any]]:
    """OpenRouter's reasoning_details out of a block's signature."""
    if not signature or not signature.startswith("["):
        return []
    try:
        details = json.loads(signature)
    except ValueError:
        return []
    return [detail for detail in details if isinstance(detail, dict)]


def _cache_key(session_id: str) -> str:
    if len(session_id) <= MAX_CACHE_KEY_CHARS:
        return session_id
    return hashlib.sha256(session_id.encode("utf-8", "replace")).hexdigest()
