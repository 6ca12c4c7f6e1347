"""A reply of the Messages API, put together from its events.

Source: https://platform.claude.com/docs/en/build-with-claude/streaming. Whole with message_stop; pings and
unknown events are skipped; an error event may come at any time, also first.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from typing import Any

from msgspec import Struct, field

from pi_batch.errors import ProviderError
from pi_batch.messages import AssistantMessage, StopReason, TextBlock, ThinkingBlock, ToolCall, Usage
from pi_batch.protocols import Delta
from pi_batch.providers import apis
from pi_batch.providers.endpoint import Endpoint
from pi_batch.providers.pieces import Pieces
from pi_batch.providers.reply import event_object
from pi_batch.providers.sse import SseEvent
from pi_batch.providers.tool_ids import unique_ids
from pi_batch.providers.usage import messages_usage
from pi_batch.providers.wire_json import dumps, parse_arguments

STOP_REASONS: dict[str, StopReason] = {
    "end_turn": "stop",
    "stop_sequence": "stop",
    "tool_use": "tool_use",
    "max_tokens": "length",
    "refusal": "content_filter",
    "pause_turn": "stop",  # send the message back as it is and go on: `raw_stop_reason` says so
}


class _Block(Struct):
    """One content block as it grows."""

    kind: str
    start: Mapping[str, Any]
    """As content_block_start had it."""
    text: Pieces = field(default_factory=Pieces)
    """Text, thinking or JSON, by kind."""
    signature: str = ""


class MessagesAssembler:
    """Takes events, gives deltas and at last the message; see `reply.Assembler`."""

    def __init__(self, endpoint: Endpoint, model: str, taken: AbstractSet[str], timestamp_ms: int) -> None:
        self.usage: Usage | None = None
        self.is_whole = False
        self.is_over = False
        self.has_moved = False
        self._endpoint = endpoint
        self._model = self._asked = model
        self._taken = taken
        self._timestamp_ms = timestamp_ms
        self._response_id: str | None = None
        self._blocks: dict[int, _Block] = {}
        self._stop = ""
        self._explanation: str | None = None

    def take(self, event: SseEvent) -> Sequence[Delta]:
        """Read one event. Raises: ProviderError."""
        payload = event_object(event, self._endpoint)
        read = _READERS.get(payload.get("type") or event.name)
        if read is None:
            return ()
        self.has_moved = True
        return read(self, payload)

    def take_document(self, document: dict[str, Any]) -> Sequence[Delta]:
        """Read a reply that came in one piece."""
        content = document.get("content")
        if document.get("type") != "message" or not isinstance(content, list):
            return ()
        deltas = [*self._start_message({"message": document})]
        for index, block in enumerate(content):
            deltas += self._start_block({"index": index, "content_block": block})
        deltas += self._message_delta({"delta": document, "usage": document.get("usage")})
        self._end(document)
        return deltas

    def message(self) -> AssistantMessage:
        """The whole message. Raises: ProviderError when its stop reason is no good one."""
        if self._stop == "model_context_window_exceeded":
            message = f"{self._endpoint.service}: the reply filled the model's context window"
            raise ProviderError(message, kind="context_overflow")
        stop_reason = STOP_REASONS.get(self._stop)
        if stop_reason is None:
            what = f"stop_reason {self._stop!r}" if self._stop else "no stop_reason"
            message = f"{self._endpoint.service}: the reply ended with {what}"
            raise ProviderError(message, kind="bad_response", is_retryable=not self._stop)
        content = self._content()
        has_calls = any(isinstance(block, ToolCall) for block in content)
        if stop_reason in ("stop", "tool_use") and self._stop != "pause_turn":
            stop_reason = "tool_use" if has_calls else "stop"
        return AssistantMessage(
            content,
            stop_reason,
            self._endpoint.service,
            self._model,
            apis.MESSAGES,
            self.usage,
            None,
            self._stop,
            self._explanation,
            self._response_id,
            self._timestamp_ms,
            requested_model="" if self._asked == self._model else self._asked,
        )

    def _delta(self, payload: dict[str, Any]) -> Sequence[Delta]:
        delta = payload.get("delta")
        block = self._blocks.get(payload.get("index", -1))
        if block is None or not isinstance(delta, dict):
            return ()
        match delta.get("type"):
            case "text_delta" if text := block.text.add(_text(delta.get("text"))):
                return (Delta("text", text),)
            case "input_json_delta" if text := block.text.add(_text(delta.get("partial_json"))):
                return (Delta("tool_call", text),)
            case "thinking_delta" if text := block.text.add(_text(delta.get("thinking"))):
                return (Delta("thinking", text),)
            case "signature_delta":
                block.signature += _text(delta.get("signature"))
        return ()

    def _start_block(self, payload: dict[str, Any]) -> Sequence[Delta]:
        start = payload.get("content_block")
        index = payload.get("index")
        if not isinstance(start, dict) or not isinstance(index, int):
            return ()
        block = self._blocks[index] = _Block(_text(start.get("type")), start)
        block.signature = _text(start.get("signature"))
        if block.kind == "text" and (text := block.text.add(_text(start.get("text")))):
            return (Delta("text", text),)
        if block.kind == "thinking" and (text := block.text.add(_text(start.get("thinking")))):
            return (Delta("thinking", text),)
        return ()

    def _start_message(self, payload: dict[str, Any]) -> Sequence[Delta]:
        message = payload.get("message")
        if isinstance(message, dict):
            self._response_id = _text(message.get("id")) or None
            self._model = _text(message.get("model")) or self._model
            self._used(message.get("usage"))
        return ()

    def _message_delta(self, payload: dict[str, Any]) -> Sequence[Delta]:
        delta = payload.get("delta")
        if isinstance(delta, dict):
            self._stop = _text(delta.get("stop_reason")) or self._stop
            details = delta.get("stop_details")
            if isinstance(details, dict):
                self._explanation = _text(details.get("explanation")) or self._explanation
        self._used(payload.get("usage"))
        return ()

    def _end(self, _payload: dict[str, Any]) -> Sequence[Delta]:
        self.is_whole = self.is_over = True
        return ()

    def _used(self, reported: object) -> None:
        if isinstance(reported, dict):
            self.usage = messages_usage(reported, self.usage)

    def _content(self) -> tuple[TextBlock | ThinkingBlock | ToolCall, ...]:
        """The blocks in their order; kinds that nobody asked for are left out."""
        calls = [block for _, block in sorted(self._blocks.items()) if block.kind == "tool_use"]
        ids = iter(unique_ids((_text(block.start.get("id")) for block in calls), self._taken))
        content: list[TextBlock | ThinkingBlock | ToolCall] = []
        for _, block in sorted(self._blocks.items()):
            match block.kind:
                case "text" if text := block.text.text():
                    content.append(TextBlock(text))
                case "thinking":
                    content.append(ThinkingBlock(block.text.text(), block.signature or None))
                case "redacted_thinking":
                    content.append(ThinkingBlock("", _text(block.start.get("data")), is_redacted=True))
                case "tool_use":
                    content.append(_call(block, next(ids)))
        return tuple(content)


_READERS: dict[str, Callable[[MessagesAssembler, dict[str, Any]], Sequence[Delta]]] = {
    "content_block_delta": MessagesAssembler._delta,
    "content_block_start": MessagesAssembler._start_block,
    "message_start": MessagesAssembler._start_message,
    "message_delta": MessagesAssembler._message_delta,
    "message_stop": MessagesAssembler._end,
}


def _call(block: _Block, call_id: str) -> ToolCall:
    """A call; its input came in pieces of JSON, or whole at its start, or is nothing at all."""
    text = block.text.text()
    start = block.start.get("input")
    if not text.strip() and isinstance(start, dict):
        text = dumps(start).decode()
    arguments = parse_arguments(text)
    name = _text(block.start.get("name"))
    return ToolCall(call_id, name, arguments, "" if arguments is not None else text)


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""
