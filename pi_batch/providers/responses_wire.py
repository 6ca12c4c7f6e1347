"""Requests as the Responses API takes them.

Source: https://platform.openai.com/docs/api-reference/responses/create. Nothing is stored at the service, so
every request carries the whole history as items, and reasoning as the encrypted content that it came with.
Calls and messages go without the service's ids: one that is sent with its id must have its reasoning
before it, and what is left out cannot be missed.
"""

from __future__ import annotations

import hashlib
import json
import sys
from collections.abc import Sequence
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
from pi_batch.providers.models import ModelFacts, effort, holds_to_schemas, is_known_family, model_facts
from pi_batch.providers.same_model import is_from
from pi_batch.providers.tool_ids import MESSAGES_IDS, WireIds, tool_name
from pi_batch.providers.tool_schemas import chat_parameters
from pi_batch.providers.wire_json import dumps

NO_OUTPUT = "(no output)"
MAX_CACHE_KEY_CHARS = 64
MIN_OUTPUT_TOKENS = 16
ENCRYPTED = "reasoning.encrypted_content"
SCHEMA_NAME = "answer"
PHASES = ("commentary", "final_answer")

_UNKNOWN = ModelFacts(sys.maxsize)
"""A model that no cap is known of, and no way to tell it to think."""


class ResponsesRules:
    """How one model of one service is sent its history; see `encoded.UnitRules`."""

    id_shape = MESSAGES_IDS

    def __init__(self, provider: str, model: str) -> None:
        self._provider = provider
        self._model = model

    def joins(self, before: Message, message: Message) -> bool:
        """Every message is items of its own."""
        return False

    def encode(self, messages: Sequence[Message], ids: WireIds) -> bytes:
        """The items of one message."""
        items: list[dict[str, Any]] = []
        for message in messages:
            match message:
                case UserMessage():
                    items += _user(message)
                case AssistantMessage():
                    items += self._reply(message, ids)
                case ToolResultMessage():
                    items.append(_result(message, ids))
                case SystemMessage():
                    continue
        return b",".join(map(dumps, items))

    def _reply(self, message: AssistantMessage, ids: WireIds) -> list[dict[str, Any]]:
        """A reply's items in their order; reasoning only right before the item that it led to."""
        is_own = is_from(message, apis.RESPONSES, self._provider, self._model)
        items: list[dict[str, Any]] = []
        reasoning: list[dict[str, Any]] = []
        for block in message.content:
            match block:
                case ThinkingBlock():
                    if is_own and (thought := _reasoning(block.signature)):
                        reasoning.append(thought)
                    continue
                case TextBlock():
                    following = [_text(block, is_own=is_own)] if block.text.strip() else []
                case ToolCall():
                    following = [_call(block, ids)]
            if following:
                items += [thought for thought in reasoning if ids.is_new(thought["id"])] + following
            reasoning = []
        return items


def responses_tools(tools: Sequence[ToolDeclaration]) -> bytes:
    """The `tools` field's value."""
    return dumps([_tool(tool) for tool in tools])


def responses_body(request: ModelRequest, compat: Compat, units: Sequence[Unit], tools: bytes) -> bytes:
    """The whole request: fields, then tools, then items, so that what is known is only copied."""
    opening = dumps({**_fields(request, compat), **compat.extra_body})[:-1]
    if request.tools:
        opening += b',"tools":' + tools
    if request.system.strip():
        opening += b',"instructions":' + dumps(request.system)
    return join_body(opening, [unit.wire for unit in units if unit.wire], b"input")


def text_signature(item_id: str, phase: object) -> str:
    """What a text keeps of its message item, as pi writes it into `textSignature`."""
    kept: dict[str, Any] = {"v": 1, "id": item_id}
    if phase in PHASES:
        kept["phase"] = phase
    return dumps(kept).decode()


def _fields(request: ModelRequest, compat: Compat) -> dict[str, Any]:
    facts = model_facts(request.model, _UNKNOWN)
    fields: dict[str, Any] = {"model": request.model, "stream": True, "store": False}
    if facts.thinking == "effort" or not is_known_family(request.model):
        fields["include"] = [ENCRYPTED]  # a model that does not reason refuses it
    if compat.prompt_cache_key and request.session_id:
        fields["prompt_cache_key"] = _cache_key(request.session_id)
    if request.max_output_tokens is not None:
        wanted = max(request.max_output_tokens, MIN_OUTPUT_TOKENS)
        fields["max_output_tokens"] = min(wanted, facts.max_output_tokens)
    schema = request.output_schema
    if schema and schema.get("type") == "object" and compat.output_schema and holds_to_schemas(request.model):
        form = {"type": "json_schema", "name": SCHEMA_NAME, "schema": schema, "strict": False}
        fields["text"] = {"format": form}
    if request.thinking is not None and (word := effort(request.thinking, facts.efforts)):
        fields["reasoning"] = {"effort": word}
    return fields


def _cache_key(session_id: str) -> str:
    if len(session_id) <= MAX_CACHE_KEY_CHARS:
        return session_id
    return hashlib.sha256(session_id.encode("utf-8", "replace")).hexdigest()


def _user(message: UserMessage) -> list[dict[str, Any]]:
    """A user message; nothing when it is blank."""
    content = _parts(message.content)
    return [{"type": "message", "role": "user", "content": content}] if content else []


def _parts(blocks: Sequence[TextBlock | ImageBlock]) -> list[dict[str, Any]]:
    parts: list[dict[str, Any]] = []
    for block in blocks:
        if isinstance(block, ImageBlock):
            url = f"data:{block.mime_type};base64,{block.data}"
            parts.append({"type": "input_image", "detail": "auto", "image_url": url})
        elif block.text.strip():
            parts.append({"type": "input_text", "text": block.text})
    return parts


def _reasoning(signature: str | None) -> dict[str, Any] | None:
    """A reasoning item out of its block's signature; None for what the service could not find again."""
    item = _object(signature)
    encrypted = item.get("encrypted_content")
    if item.get("type") != "reasoning" or not isinstance(item.get("id"), str) or not encrypted:
        return None
    summary = item.get("summary")
    return {
        "type": "reasoning",
        "id": item["id"],
        "summary": summary if isinstance(summary, list) else [],
        "encrypted_content": encrypted,
    }


def _text(block: TextBlock, *, is_own: bool) -> dict[str, Any]:
    item: dict[str, Any] = {"type": "message", "role": "assistant", "content": block.text}
    phase = _object(block.signature).get("phase") if is_own else None
    return {**item, "phase": phase} if phase in PHASES else item


def _call(call: ToolCall, ids: WireIds) -> dict[str, Any]:
    """A call; arguments that did not parse go back as none."""
    return {
        "type": "function_call",
        "call_id": ids.call(call.id),
        "name": tool_name(call.name),
        "arguments": dumps(call.arguments or {}).decode(),
    }


def _result(message: ToolResultMessage, ids: WireIds) -> dict[str, Any]:
    """A result: a string, or parts where it holds an image."""
    output: Any = _parts(message.content)
    if all(part["type"] == "input_text" for part in output):
        output = "\n".join(part["text"] for part in output) or NO_OUTPUT
    return {"type": "function_call_output", "call_id": ids.result(message.tool_call_id), "output": output}


def _tool(tool: ToolDeclaration) -> dict[str, Any]:
    """A declaration; `strict` is said, since the service may try it where nobody says."""
    return {
        "type": "function",
        "name": tool.name,
        "description": tool.description,
        "parameters": chat_parameters(tool.parameters),
        "strict": False,
    }


def _object(signature: str | None) -> dict[str, Any]:
    if not signature or not signature.startswith("{"):
        return {}
    try:
        value = json.loads(signature)
    except (ValueError, RecursionError):
        return {}
    return value if isinstance(value, dict) else {}
