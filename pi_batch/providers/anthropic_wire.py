"""Requests as the Messages API takes them.

Source: https://platform.claude.com/docs/en/api/messages. All results of a reply stand first in the next
user message; thinking goes back as it came; at most three of the four cache marks are set: on the system
prompt (or the last tool) and on the two newest user messages, so that a turn of many blocks still finds
the prefix of the turn before.
"""

from __future__ import annotations

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
from pi_batch.providers.anthropic_thinking import thinking_fields
from pi_batch.providers.catalog import Service, default_max_output_tokens
from pi_batch.providers.encoded import Unit, join_body
from pi_batch.providers.models import ModelFacts, is_known_family, model_facts
from pi_batch.providers.same_model import is_from
from pi_batch.providers.tool_ids import MESSAGES_IDS, WireIds, tool_name
from pi_batch.providers.tool_schemas import messages_schema
from pi_batch.providers.wire_json import dumps

NO_OUTPUT = "(no output)"
IMAGES_FOLLOW = "(the image follows the results)"
MARK = {"type": "ephemeral"}
_USER_END = b"}]}"
_MARKED_END = b"," + dumps({"cache_control": MARK})[1:-1] + _USER_END
_USER_START = b'{"role":"user"'


class MessagesRules:
    """How one model is sent its history; see `encoded.UnitRules`."""

    id_shape = MESSAGES_IDS

    def __init__(self, provider: str, model: str) -> None:
        self._provider = provider
        self._model = model

    def joins(self, before: Message, message: Message) -> bool:
        """Results and what the user says after them are one user message."""
        return not isinstance(before, AssistantMessage) and not isinstance(message, AssistantMessage)

    def encode(self, messages: Sequence[Message], ids: WireIds) -> bytes:
        """One reply, or everything between two replies."""
        first = messages[0]
        if isinstance(first, AssistantMessage):
            blocks = self._reply(first, ids)
            return dumps({"role": "assistant", "content": blocks}) if blocks else b""
        results: list[dict[str, Any]] = []
        images: list[dict[str, Any]] = []
        said: list[dict[str, Any]] = []
        for message in messages:
            match message:
                case ToolResultMessage():
                    results.append(_result(message, ids))
                    if message.is_error:
                        images += [
                            _image(block) for block in message.content if isinstance(block, ImageBlock)
                        ]
                case UserMessage():
                    said += _content(message.content)
                case SystemMessage() | AssistantMessage():
                    continue
        blocks = results + images + said
        return dumps({"role": "user", "content": blocks}) if blocks else b""

    def _reply(self, message: AssistantMessage, ids: WireIds) -> list[dict[str, Any]]:
        is_own = is_from(message, apis.MESSAGES, self._provider, self._model)
        blocks: list[dict[str, Any]] = []
        for block in message.content:
            match block:
                case ThinkingBlock():
                    if is_own and block.signature:
                        blocks.append(_thinking(block))
                case TextBlock():
                    if block.text.strip():
                        blocks.append({"type": "text", "text": block.text})
                case ToolCall():
                    name, arguments = tool_name(block.name), block.arguments or {}
                    blocks.append(
                        {"type": "tool_use", "id": ids.call(block.id), "name": name, "input": arguments}
                    )
        return blocks


def messages_tools(tools: Sequence[ToolDeclaration]) -> bytes:
    """The `tools` field's value, without a mark."""
    return dumps([_tool(tool) for tool in tools])


def messages_body(request: ModelRequest, service: Service, units: Sequence[Unit], tools: bytes) -> bytes:
    """The whole request: fields, tools, system, messages, so that what is known is only copied."""
    has_marks = service.compat.cache_marks
    fields = _fields(request, service)
    has_system = bool(request.system.strip())
    if request.tools:
        if has_marks and not has_system:
            tools = tools.removesuffix(b"}]") + _MARKED_END[:-1]
    elif names := _called_names(request.messages):  # a history with calls needs their tools declared
        tools = messages_tools([ToolDeclaration(name, name, {}) for name in names])
        fields["tool_choice"] = {"type": "none"}
    opening = dumps({**fields, **service.compat.extra_body})[:-1]
    if tools:
        opening += b',"tools":' + tools
    if has_system:
        mark = {"cache_control": MARK} if has_marks else {}
        opening += b',"system":' + dumps([{"type": "text", "text": request.system, **mark}])
    wires = [unit.wire for unit in units if unit.wire]
    if has_marks:
        _mark_newest(wires)
    return join_body(opening, wires)


def _fields(request: ModelRequest, service: Service) -> dict[str, Any]:
    """The small fields; `max_tokens` is compulsory here and never beyond what the model gives."""
    facts = model_facts(request.model, ModelFacts(service.max_output_tokens))
    max_tokens = request.max_output_tokens or default_max_output_tokens(service, request.model)
    if is_known_family(request.model):
        max_tokens = min(max_tokens, facts.max_output_tokens)
    fields: dict[str, Any] = {"model": request.model, "stream": True, "max_tokens": max_tokens}
    return fields | thinking_fields(request, service.name, facts, max_tokens)


def _mark_newest(wires: list[bytes]) -> None:
    """Mark the last block of the two newest user messages; none of them is blank or thinking."""
    left = 2
    for index in range(len(wires) - 1, -1, -1):
        if wires[index].startswith(_USER_START):
            wires[index] = wires[index].removesuffix(_USER_END) + _MARKED_END
            left -= 1
            if not left:
                return


def _called_names(messages: Sequence[Message]) -> list[str]:
    names = (call.name for m in messages if isinstance(m, AssistantMessage) for call in m.tool_calls)
    return list(dict.fromkeys(map(tool_name, names)))


def _thinking(block: ThinkingBlock) -> dict[str, Any]:
    if block.is_redacted:
        return {"type": "redacted_thinking", "data": block.signature}
    return {"type": "thinking", "thinking": block.thinking, "signature": block.signature}


def _result(message: ToolResultMessage, ids: WireIds) -> dict[str, Any]:
    """A result; an error's holds text only, its images follow the results (pi#10794)."""
    content = _content(message.content)
    if message.is_error:
        texts = [block for block in content if block["type"] == "text"]
        content = texts or ([{"type": "text", "text": IMAGES_FOLLOW}] if content else [])
    wire: dict[str, Any] = {
        "type": "tool_result",
        "tool_use_id": ids.result(message.tool_call_id),
        "content": content or [{"type": "text", "text": NO_OUTPUT}],
    }
    if message.is_error:
        wire["is_error"] = True
    return wire


def _content(blocks: Sequence[TextBlock | ImageBlock]) -> list[dict[str, Any]]:
    """Blocks as the wire has them, blank text left out."""
    content: list[dict[str, Any]] = []
    for block in blocks:
        if isinstance(block, ImageBlock):
            content.append(_image(block))
        elif block.text.strip():
            content.append({"type": "text", "text": block.text})
    return content


def _image(block: ImageBlock) -> dict[str, Any]:
    return {
        "type": "image",
        "source": {"type": "base64", "media_type": block.mime_type, "data": block.data},
    }


def _tool(tool: ToolDeclaration) -> dict[str, Any]:
    schema = messages_schema(tool.parameters)
    return {"name": tool.name, "description": tool.description, "input_schema": schema}
