"""Requests as Gemini's generateContent takes them.

Source: https://ai.google.dev/api/generate-content and https://ai.google.dev/gemini-api/docs/thought-signatures.
Each signature goes back on the part that it came on. The results of a reply are one turn of the user, one
for each call, in the calls' order.
"""

from __future__ import annotations

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
from pi_batch.providers.catalog import Service
from pi_batch.providers.encoded import Unit, join_body
from pi_batch.providers.google_schema import declared_parameters
from pi_batch.providers.google_thinking import thinking_config
from pi_batch.providers.models import ModelFacts, is_known_family, model_facts
from pi_batch.providers.same_model import is_from
from pi_batch.providers.tool_ids import MESSAGES_IDS, WireIds, gemini_tool_name
from pi_batch.providers.wire_json import dumps

NO_OUTPUT = "(no output)"
IMAGES_FOLLOW = "(the image follows)"
IMAGES_OF_RESULTS = "Images of the tool results above:"
UNSIGNED = "c2tpcF90aG91Z2h0X3NpZ25hdHVyZV92YWxpZGF0b3I="
"""skip_thought_signature_validator in base64: Google's own word for a call that no Gemini model signed."""
IMAGE_TYPES = ("image/png", "image/jpeg", "image/webp")


class GeminiRules:
    """How one model is sent its history; see `encoded.UnitRules`."""

    id_shape = MESSAGES_IDS

    def __init__(self, provider: str, model: str) -> None:
        self._provider = provider
        self._model = model
        self._is_plain = model_facts(model, ModelFacts(0)).plain_calls

    def joins(self, before: Message, message: Message) -> bool:
        """The results of one reply are one turn."""
        return isinstance(before, ToolResultMessage) and isinstance(message, ToolResultMessage)

    def encode(self, messages: Sequence[Message], ids: WireIds) -> bytes:
        """One turn: a reply, what the user says, or all results of a reply."""
        responses: list[dict[str, Any]] = []
        images: list[ImageBlock] = []
        contents: list[dict[str, Any]] = []
        for message in messages:
            match message:
                case AssistantMessage():
                    contents += _content("model", self._reply(message, ids))
                case UserMessage():
                    contents += _content("user", _parts(message.content))
                case ToolResultMessage():
                    shown = [] if self._is_plain else _images(message)
                    responses.append(self._response(message, ids, shown))
                    images += _images(message) if self._is_plain else []
                case SystemMessage():
                    continue
        contents += _content("user", responses)
        if images:
            contents += _content("user", [{"text": IMAGES_OF_RESULTS}, *map(_image, images)])
        return b",".join(map(dumps, contents))

    def _reply(self, message: AssistantMessage, ids: WireIds) -> list[dict[str, Any]]:
        """A reply's parts in their order; the first of its calls is signed, by whatever name."""
        is_own = is_from(message, apis.GEMINI, self._provider, self._model)
        parts: list[dict[str, Any]] = []
        has_call = False
        for block in message.content:
            signature = block.signature if is_own else None
            match block:
                case ThinkingBlock():
                    if not signature:
                        continue
                    part: dict[str, Any] = {"text": block.thinking, "thought": True}
                case TextBlock():
                    if not block.text.strip() and not signature:
                        continue
                    part = {"text": block.text}
                case ToolCall():
                    part = {"functionCall": self._call(block, ids)}
                    if block.arguments is None:
                        signature = None  # it was given for what could not be read, and is not sent
                    if not has_call and not self._is_plain:
                        signature = signature or UNSIGNED
                    has_call = True
            parts.append({**part, "thoughtSignature": signature} if signature else part)
        return parts

    def _call(self, call: ToolCall, ids: WireIds) -> dict[str, Any]:
        wire = {"name": gemini_tool_name(call.name), "args": call.arguments or {}}
        wire_id = ids.call(call.id)
        return wire if self._is_plain else {"id": wire_id, **wire}

    def _response(
        self, message: ToolResultMessage, ids: WireIds, images: Sequence[ImageBlock]
    ) -> dict[str, Any]:
        text = "\n".join(part["text"] for part in _parts(message.content) if "text" in part)
        if not text:
            text = IMAGES_FOLLOW if _images(message) else NO_OUTPUT
        wire: dict[str, Any] = {} if self._is_plain else {"id": ids.result(message.tool_call_id)}
        wire["name"] = gemini_tool_name(message.tool_name)
        wire["response"] = {"error" if message.is_error else "output": text}
        if images:
            wire["parts"] = [_image(block) for block in images]
        return {"functionResponse": wire}


def gemini_tools(tools: Sequence[ToolDeclaration]) -> bytes:
    """The `tools` field's value."""
    return dumps([{"functionDeclarations": [_tool(tool) for tool in tools]}])


def gemini_body(request: ModelRequest, service: Service, units: Sequence[Unit], tools: bytes) -> bytes:
    """The whole request: fields, tools, system, contents, so that what is known is only copied."""
    opening = dumps({"generationConfig": _generation(request, service), **service.compat.extra_body})[:-1]
    if request.tools:
        opening += b',"tools":' + tools
    if request.system.strip():
        opening += b',"systemInstruction":' + dumps({"parts": [{"text": request.system}]})
    return join_body(opening, [unit.wire for unit in units if unit.wire], b"contents")


def _generation(request: ModelRequest, service: Service) -> dict[str, Any]:
    facts = model_facts(request.model, ModelFacts(service.max_output_tokens))
    config: dict[str, Any] = {}
    cap = request.max_output_tokens
    if cap is not None:
        cap = min(cap, facts.max_output_tokens) if is_known_family(request.model) else cap
        config["maxOutputTokens"] = cap
    if thinking := thinking_config(request.thinking, facts, cap):
        config["thinkingConfig"] = thinking
    return config


def _content(role: str, parts: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """One turn; none when it would be empty."""
    return [{"role": role, "parts": parts}] if parts else []


def _parts(blocks: Sequence[TextBlock | ImageBlock]) -> list[dict[str, Any]]:
    parts: list[dict[str, Any]] = []
    for block in blocks:
        if isinstance(block, TextBlock):
            parts += [{"text": block.text}] if block.text.strip() else []
        elif block.mime_type in IMAGE_TYPES:
            parts.append(_image(block))
        else:
            parts.append({"text": f"(an image of type {block.mime_type}: this model takes none of them)"})
    return parts


def _images(message: ToolResultMessage) -> list[ImageBlock]:
    """The images of a result that this service can read."""
    return [
        block for block in message.content if isinstance(block, ImageBlock) and block.mime_type in IMAGE_TYPES
    ]


def _image(block: ImageBlock) -> dict[str, Any]:
    return {"inlineData": {"mimeType": block.mime_type, "data": block.data}}


def _tool(tool: ToolDeclaration) -> Mapping[str, Any]:
    declared = {"name": gemini_tool_name(tool.name), "description": tool.description}
    return {**declared, **declared_parameters(tool.parameters)}
