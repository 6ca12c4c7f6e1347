"""pi's JSON as our values: messages of any version and of any program that writes the format.

Nothing is taken on trust: a field of the wrong type counts as absent, a block of an unknown type is left
out of the message (it stays in its entry), a message of an unknown role gives None.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, get_args

from pi_batch.errors import ToolErrorKind
from pi_batch.jsonl import TOO_DEEP, is_too_deep
from pi_batch.messages import (
    AssistantMessage,
    ImageBlock,
    Message,
    StopReason,
    SystemMessage,
    TextBlock,
    ThinkingBlock,
    ToolCall,
    ToolDeclaration,
    ToolResultMessage,
    Usage,
    UserMessage,
)
from pi_batch.session.file import Entry
from pi_batch.session.to_json import FILTERED, OURS

STOP_REASONS: Mapping[str, StopReason] = {
    "stop": "stop",
    "length": "length",
    "toolUse": "tool_use",
    "error": "error",
    "aborted": "aborted",
}
ERROR_KINDS: tuple[ToolErrorKind, ...] = get_args(ToolErrorKind)


def messages(branch: Iterable[Entry]) -> tuple[Message, ...]:
    """The messages on a branch, in order; entries and roles that are no message of ours are passed over."""
    found = (message_from_json(entry.fields.get("message")) for entry in branch if entry.type == "message")
    return tuple(message for message in found if message is not None)


def message_from_json(value: object) -> Message | None:
    """One message; None when its role is unknown or it is no object."""
    if not isinstance(value, Mapping):
        return None
    match value.get("role"):
        case "system":
            return _system(value)
        case "user":
            return UserMessage(content_from_json(value.get("content")), whole(value.get("timestamp")))
        case "assistant":
            return _assistant(value)
        case "toolResult":
            return _tool_result(value)
        case _:
            return None


def content_from_json(content: object) -> tuple[TextBlock | ImageBlock, ...]:
    """A user message's or a result's content: a text, or blocks of text and images."""
    return tuple(_content(content))


def reply_content_from_json(content: object) -> tuple[TextBlock | ThinkingBlock | ToolCall, ...]:
    """A reply's content: a text, or blocks."""
    return tuple(_reply_content(content))


def usage_from_json(value: object) -> Usage | None:
    """Tokens as pi writes them; None for what is no object."""
    if not isinstance(value, Mapping):
        return None
    return Usage(
        whole(value.get("input")),
        whole(value.get("output")),
        whole(value.get("cacheRead")),
        whole(value.get("cacheWrite")),
        whole(value.get("reasoning")),
    )


def cost_from_json(value: object) -> float | None:
    """The whole cost in USD that stands in a usage; None where it holds none."""
    total = _object(_object(value).get("cost")).get("total")
    if isinstance(total, bool) or not isinstance(total, int | float) or not 0 <= total < math.inf:
        return None
    return float(total)


def _system(value: Mapping[str, Any]) -> SystemMessage:
    text = "".join(
        block.text for block in content_from_json(value.get("content")) if isinstance(block, TextBlock)
    )
    tools = tuple(
        ToolDeclaration(
            _text(tool.get("name")), _text(tool.get("description")), _object(tool.get("parameters"))
        )
        for tool in _objects(value.get("toolsAdded"))
    )
    return SystemMessage(
        text,
        tools,
        _object(value.get("sections")),
        whole(value.get("timestamp")),
        tools_removed=tuple(_text(tool.get("name")) for tool in _objects(value.get("toolsRemoved"))),
    )


def _assistant(value: Mapping[str, Any]) -> AssistantMessage:
    ours = _object(value.get(OURS))
    raw_stop = _text(value.get("stopReason"))
    stop = STOP_REASONS.get(raw_stop, "error")
    error = value.get("errorMessage")
    if ours.get("stopReason") == "content_filter":
        stop, error = "content_filter", None if error == FILTERED else error
    usage = None if ours.get("usageUnknown") else usage_from_json(value.get("usage"))
    cost = None if ours.get("costUnknown") else cost_from_json(value.get("usage"))
    response_id = value.get("responseId")
    return AssistantMessage(
        reply_content_from_json(value.get("content")),
        stop,
        provider=_text(ours.get("provider", value.get("provider"))),
        model=_text(value.get("model")),
        api=_text(value.get("api")),
        usage=usage,
        cost_usd=cost,
        raw_stop_reason=_text(value.get("rawStopReason")) or ("" if raw_stop in STOP_REASONS else raw_stop),
        error_message=error if isinstance(error, str) else None,
        response_id=response_id if isinstance(response_id, str) else None,
        timestamp_ms=whole(value.get("timestamp")),
        requested_model=_text(ours.get("requestedModel")),
        is_cached=ours.get("cached") is True,
    )


def _tool_result(value: Mapping[str, Any]) -> ToolResultMessage:
    details = dict(_object(value.get("details")))
    error_kind = None
    if details.get("error_kind") in ERROR_KINDS:
        error_kind = details.pop("error_kind")
    if isinstance(value.get("nestedCalls"), Mapping):
        details["nestedCalls"] = value["nestedCalls"]
    return ToolResultMessage(
        _text(value.get("toolCallId")),
        _text(value.get("toolName")),
        content_from_json(value.get("content")),
        is_error=value.get("isError") is True,
        error_kind=error_kind,
        details=details,
        timestamp_ms=whole(value.get("timestamp")),
    )


def _content(value: object) -> Iterator[TextBlock | ImageBlock]:
    for block in _blocks(value):
        match block.get("type"):
            case "text":
                yield TextBlock(_text(block.get("text")), _optional(block.get("textSignature")))
            case "image":
                yield ImageBlock(_text(block.get("data")), _text(block.get("mimeType")))


def _reply_content(value: object) -> Iterator[TextBlock | ThinkingBlock | ToolCall]:
    for block in _blocks(value):
        match block.get("type"):
            case "text":
                yield TextBlock(_text(block.get("text")), _optional(block.get("textSignature")))
            case "thinking":
                yield ThinkingBlock(
                    _text(block.get("thinking")),
                    _optional(block.get("thinkingSignature")),
                    is_redacted=block.get("redacted") is True,
                )
            case "toolCall":
                yield _tool_call(block)


def _tool_call(block: Mapping[str, Any]) -> ToolCall:
    arguments = block.get("arguments")
    raw = _text(block.get("rawArguments"))
    if block.get("malformed") is True:
        arguments = None
    elif not isinstance(arguments, Mapping):
        raw = arguments if isinstance(arguments, str) else json.dumps(arguments)
        arguments = None
    elif is_too_deep(arguments):
        raw, arguments = TOO_DEEP, None
    signature = _optional(block.get("thoughtSignature"))
    return ToolCall(_text(block.get("id")), _text(block.get("name")), arguments, raw, signature)


def _blocks(content: object) -> list[Mapping[str, Any]]:
    if isinstance(content, str):
        return [{"type": "text", "text": content}]
    return _objects(content)


def _objects(value: object) -> list[Mapping[str, Any]]:
    return [item for item in value if isinstance(item, Mapping)] if isinstance(value, list) else []


def _object(value: object) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""


def _optional(value: object) -> str | None:
    return value if isinstance(value, str) else None


def whole(value: object) -> int:
    """A count or a time in ms; 0 for anything else, negative counts included."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value < 2**63:
        return 0
    return int(value)
