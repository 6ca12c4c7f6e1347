"""Our values as pi's JSON: messages, entries, lines."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, assert_never

from pi_batch.jsonl import encode_line
from pi_batch.messages import (
    AssistantMessage,
    ImageBlock,
    Message,
    StopReason,
    SystemMessage,
    TextBlock,
    ThinkingBlock,
    ToolCall,
    ToolResultMessage,
    Usage,
    UserMessage,
)
from pi_batch.session.file import Entry, Header

EMPTY_RESULT = "(no output)"
FILTERED = "content_filter: the model service withheld the reply"
OURS = "piBatch"
"""The extra field of a message that holds what pi has no word for."""
STOP_REASONS: Mapping[StopReason, str] = {
    "stop": "stop",
    "length": "length",
    "tool_use": "toolUse",
    "content_filter": "error",
    "error": "error",
    "aborted": "aborted",
}
PI_PROVIDERS = {"openai-chat": "openai"}
"""Our names that pi spells otherwise."""
PI_APIS = {
    "anthropic": "anthropic-messages",
    "google": "google-generative-ai",
    "mistral": "mistral-conversations",
}
"""pi's name of the wire, where a message does not name it; else openai-completions."""


def pi_provider(name: str) -> str:
    """The name that pi gives to a provider of ours."""
    return PI_PROVIDERS.get(name, name)


def encode_header(header: Header) -> str:
    """The first line of a file."""
    return encode_line(header_to_json(header))


def header_to_json(header: Header) -> dict[str, Any]:
    """A header as pi's JSON object."""
    return {
        "type": "session",
        "version": header.version,
        "id": header.id,
        "timestamp": header.timestamp,
        "cwd": header.cwd,
        **header.fields,
    }


def encode_entry(entry: Entry) -> str:
    """The line of an entry; one that was read comes out with the same content."""
    return encode_line(entry_to_json(entry))


def entry_to_json(entry: Entry) -> dict[str, Any]:
    """An entry as pi's JSON object."""
    own = {"type": entry.type, "id": entry.id, "parentId": entry.parent_id, "timestamp": entry.timestamp}
    return {**own, **entry.fields}


def message_to_json(message: Message) -> dict[str, Any]:
    """A message as pi writes it."""
    match message:
        case SystemMessage():
            return _system(message)
        case UserMessage():
            content = [_block(block) for block in message.content]
            return {"role": "user", "content": content, "timestamp": message.timestamp_ms}
        case AssistantMessage():
            return _assistant(message)
        case ToolResultMessage():
            return _tool_result(message)
        case _:
            assert_never(message)


def _system(message: SystemMessage) -> dict[str, Any]:
    tools = [
        {"name": tool.name, "description": tool.description, "parameters": tool.parameters}
        for tool in message.tools_added
    ]
    removed = {"toolsRemoved": [{"name": name} for name in message.tools_removed]}
    return {
        "role": "system",
        "content": message.content,
        "sections": dict(message.sections),
        "toolsAdded": tools,
        **(removed if message.tools_removed else {}),
        "timestamp": message.timestamp_ms,
    }


def _assistant(message: AssistantMessage) -> dict[str, Any]:
    provider = pi_provider(message.provider)
    value: dict[str, Any] = {
        "role": "assistant",
        "content": [_block(block) for block in message.content],
        "api": message.api or PI_APIS.get(provider, "openai-completions"),
        "provider": provider,
        "model": message.model,
        "usage": usage_to_json(message.usage or Usage(), message.cost_usd),
        "stopReason": STOP_REASONS[message.stop_reason],
    }
    error = message.error_message
    if error is None and message.stop_reason == "content_filter":
        error = FILTERED
    if error is not None:
        value["errorMessage"] = error
    if message.raw_stop_reason:
        value["rawStopReason"] = message.raw_stop_reason
    if message.response_id is not None:
        value["responseId"] = message.response_id
    value["timestamp"] = message.timestamp_ms
    ours = _ours(message)
    if ours:
        value[OURS] = ours
    return value


def _ours(message: AssistantMessage) -> dict[str, Any]:
    """What pi's fields cannot say about a reply."""
    ours: dict[str, Any] = {}
    if message.stop_reason == "content_filter":
        ours["stopReason"] = message.stop_reason
    if message.usage is None:
        ours["usageUnknown"] = True
    if message.cost_usd is None:
        ours["costUnknown"] = True
    if message.requested_model:
        ours["requestedModel"] = message.requested_model
    if pi_provider(message.provider) != message.provider:
        ours["provider"] = message.provider
    if message.is_cached:
        ours["cached"] = True
    return ours


def usage_to_json(usage: Usage, cost_usd: float | None) -> dict[str, Any]:
    """Usage as pi writes it; we know a request's price as a whole, so it stands in `total` alone."""
    value: dict[str, Any] = {
        "input": usage.input_tokens,
        "output": usage.output_tokens,
        "cacheRead": usage.cache_read_tokens,
        "cacheWrite": usage.cache_write_tokens,
        "totalTokens": usage.total_tokens,
        "cost": {"input": 0, "output": 0, "cacheRead": 0, "cacheWrite": 0, "total": cost_usd or 0},
    }
    if usage.reasoning_tokens:
        value["reasoning"] = usage.reasoning_tokens
    return value


def _tool_result(message: ToolResultMessage) -> dict[str, Any]:
    details = dict(message.details)
    nested = details.pop("nestedCalls", None)
    if message.error_kind is not None:
        details["error_kind"] = message.error_kind
    value: dict[str, Any] = {
        "role": "toolResult",
        "toolCallId": message.tool_call_id,
        "toolName": message.tool_name,
        "content": _result_content(message),
        "isError": message.is_error,
        "timestamp": message.timestamp_ms,
    }
    if details:
        value["details"] = details
    if nested is not None:
        value["nestedCalls"] = nested
    return value


def _result_content(message: ToolResultMessage) -> list[dict[str, Any]]:
    """The blocks that say something; a short note where none does."""
    blocks = [
        _block(block) for block in message.content if not isinstance(block, TextBlock) or block.text.strip()
    ]
    return blocks or [{"type": "text", "text": EMPTY_RESULT}]


def _block(block: TextBlock | ThinkingBlock | ImageBlock | ToolCall) -> dict[str, Any]:
    match block:
        case TextBlock():
            value: dict[str, Any] = {"type": "text", "text": block.text}
            return _with(value, "textSignature", block.signature)
        case ThinkingBlock():
            value = {"type": "thinking", "thinking": block.thinking}
            value = _with(value, "thinkingSignature", block.signature)
            return {**value, "redacted": True} if block.is_redacted else value
        case ImageBlock():
            return {"type": "image", "data": block.data, "mimeType": block.mime_type}
        case ToolCall():
            arguments = {} if block.arguments is None else dict(block.arguments)
            value = {"type": "toolCall", "id": block.id, "name": block.name, "arguments": arguments}
            if block.arguments is None or block.raw_arguments:
                value["rawArguments"] = block.raw_arguments
            if block.arguments is None:
                value["malformed"] = True
            return _with(value, "thoughtSignature", block.signature)
        case _:
            assert_never(block)


def _with(value: dict[str, Any], key: str, text: str | None) -> dict[str, Any]:
    return value if text is None else {**value, key: text}
