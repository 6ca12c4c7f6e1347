"""A reply of Chat Completions, put together from its chunks.

Source: https://platform.openai.com/docs/api-reference/chat/streaming. Whole when a finish_reason came:
`[DONE]` alone proves nothing, its absence after a finish_reason is harmless.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from typing import Any

from pi_batch.errors import ErrorKind, ProviderError
from pi_batch.messages import AssistantMessage, StopReason, TextBlock, ThinkingBlock, Usage
from pi_batch.protocols import Delta
from pi_batch.providers import apis
from pi_batch.providers.chat_calls import CallSlots
from pi_batch.providers.compat import Compat
from pi_batch.providers.endpoint import Endpoint
from pi_batch.providers.faults import error_in_stream
from pi_batch.providers.pieces import Pieces
from pi_batch.providers.reasoning_details import Details
from pi_batch.providers.reply import DONE, event_object
from pi_batch.providers.sse import SseEvent
from pi_batch.providers.usage import chat_usage, reported_cost_usd

STOP_REASONS: dict[str, StopReason] = {
    "stop": "stop",
    "end": "stop",
    "eos": "stop",  # Together
    "end_turn": "stop",
    "stop_sequence": "stop",
    "length": "length",
    "max_tokens": "length",
    "model_length": "length",  # Mistral
    "tool_calls": "tool_use",
    "tool_use": "tool_use",
    "function_call": "tool_use",
    "content_filter": "content_filter",
    "safety": "content_filter",
}
FAILED: dict[str, ErrorKind] = {
    "error": "server_error",
    "network_error": "server_error",
    "insufficient_system_resource": "overloaded",  # DeepSeek
}
"""finish reasons of replies that failed at the service; any other name is no good answer."""


class ChatAssembler:
    """Takes chunks, gives deltas and at last the message; see `reply.Assembler`."""

    def __init__(
        self, endpoint: Endpoint, compat: Compat, model: str, taken: AbstractSet[str], timestamp_ms: int
    ) -> None:
        self.usage: Usage | None = None
        self.is_whole = False
        self.is_over = False
        self.has_moved = False
        self._endpoint = endpoint
        self._compat = compat
        self._model = self._asked = model
        self._taken = taken
        self._timestamp_ms = timestamp_ms
        self._response_id: str | None = None
        self._cost_usd: float | None = None
        self._finish = ""
        self._text = Pieces()
        self._thinking = Pieces()
        self._thinking_field = ""
        self._refusal = Pieces()
        self._calls = CallSlots()
        self._details = Details()

    def take(self, event: SseEvent) -> Sequence[Delta]:
        """Read one event. Raises: ProviderError."""
        if event.data == DONE:
            self.is_over = True
            return ()
        return self._chunk(event_object(event, self._endpoint))

    def take_document(self, document: dict[str, Any]) -> Sequence[Delta]:
        """Read a reply that came in one piece: a chunk whose choice holds a message."""
        return self._chunk(document)

    def message(self) -> AssistantMessage:
        """The whole message. Raises: ProviderError when its finish reason is no good one."""
        stop_reason = self._stop_reason()
        calls = self._calls.calls(self._taken)
        text, refusal = self._text.text(), self._refusal.text()
        if calls and stop_reason == "stop":
            stop_reason = "tool_use"
        elif not calls and stop_reason == "tool_use":
            stop_reason = "stop"
        if refusal.strip():
            stop_reason, self._finish = "content_filter", "refusal"
        content: list[Any] = self._thinking_blocks()
        if text or refusal:
            content.append(TextBlock(text or refusal))
        content += calls
        if stop_reason == "length" and not content and self.usage and not self.usage.output_tokens:
            message = f"{self._endpoint.service}: no room for a reply: the request fills the context"
            raise ProviderError(message, kind="context_overflow")
        return AssistantMessage(
            tuple(content),
            stop_reason,
            self._endpoint.service,
            self._model,
            apis.CHAT,
            self.usage,
            self._cost_usd,
            self._finish,
            refusal.strip() or None,
            self._response_id,
            self._timestamp_ms,
            requested_model="" if self._asked == self._model else self._asked,
        )

    def _chunk(self, chunk: dict[str, Any]) -> Sequence[Delta]:
        if self._response_id is None:
            self._head(chunk)
        if usage := chunk.get("usage"):
            self._used(usage)
        choices = chunk.get("choices")
        choice = choices[0] if choices and isinstance(choices, list) else None
        if not isinstance(choice, dict):
            self._without_choice(chunk)
            return ()
        self.has_moved = True
        delta = choice.get("delta") or choice.get("message")
        deltas = self._delta(delta) if isinstance(delta, dict) else ()
        if finish := choice.get("finish_reason"):
            self._finish = str(finish)
            self.is_whole = True
            if choice.get("error"):
                raise error_in_stream(self._endpoint, choice)
        if usage := choice.get("usage"):  # Moonshot
            self._used(usage)
        return deltas

    def _delta(self, delta: dict[str, Any]) -> Sequence[Delta]:
        """What one delta adds; the usual one holds a piece of text and nothing else."""
        content = delta.get("content")
        if content and len(delta) == 1 and isinstance(content, str):
            text = self._text.add(content)
            return (Delta("text", text),) if text else ()
        deltas = self._reasoned(delta)
        if isinstance(content, list):
            deltas += self._parts(content)
        elif content and (text := self._text.add(str(content))):
            deltas.append(Delta("text", text))
        if refusal := delta.get("refusal"):
            deltas.append(Delta("text", self._refusal.add(str(refusal))))
        calls = delta.get("tool_calls")
        for call in calls if isinstance(calls, list) else ():
            if isinstance(call, dict) and (piece := self._calls.add(call)):
                deltas.append(Delta("tool_call", piece))
        function = delta.get("function_call")
        if isinstance(function, dict) and (piece := self._calls.add({"index": 0, "function": function})):
            deltas.append(Delta("tool_call", piece))
        return deltas

    def _reasoned(self, delta: Mapping[str, Any]) -> list[Delta]:
        """Thinking in a delta: of several fields the first that holds any, since others repeat it."""
        details = delta.get("reasoning_details")
        if details:
            self._details.add(details)
        for name in self._compat.reasoning_fields:
            text = delta.get(name)
            if text and isinstance(text, str):
                self._thinking_field = self._thinking_field or name
                return [Delta("thinking", shown)] if (shown := self._thinking.add(text)) else []
        return []

    def _parts(self, parts: list[Any]) -> list[Delta]:
        """Content as a list of parts: Mistral's models that think."""
        deltas = []
        for part in parts:
            if not isinstance(part, dict):
                continue
            kind, text = part.get("type"), part.get("text")
            if kind == "thinking":
                pieces = part.get("thinking") or ()
                text = "".join(piece.get("text", "") for piece in pieces if isinstance(piece, dict))
                deltas.append(Delta("thinking", self._thinking.add(text)))
            elif kind == "text" and isinstance(text, str):
                deltas.append(Delta("text", self._text.add(text)))
        return [delta for delta in deltas if delta.text]

    def _thinking_blocks(self) -> list[Any]:
        details = self._details.signature()
        text = self._thinking.text() or self._details.text()
        if not text and details is None:
            return []
        return [ThinkingBlock(text, details or self._thinking_field or None)]

    def _head(self, chunk: Mapping[str, Any]) -> None:
        """Who answers, from the first chunk that says it."""
        response_id, model = chunk.get("id"), chunk.get("model")
        if isinstance(response_id, str) and response_id:
            self._response_id = response_id
        if isinstance(model, str) and model:
            self._model = self._asked = model

    def _without_choice(self, chunk: Mapping[str, Any]) -> None:
        """A chunk of usage alone, of Groq's own extras, or an error in an unusual shape."""
        extra = chunk.get("x_groq")
        if isinstance(extra, dict):
            if extra.get("error"):
                raise error_in_stream(self._endpoint, extra)
            self._used(extra.get("usage"))
        elif "choices" not in chunk and isinstance(chunk.get("message"), str):
            raise error_in_stream(self._endpoint, chunk)

    def _used(self, reported: object) -> None:
        if isinstance(reported, dict):
            self.has_moved = True
            outside = self._compat.reasoning_outside_output
            self.usage = chat_usage(reported, reasoning_outside_output=outside) or self.usage
            if self._compat.cost_in_usage:
                self._cost_usd = reported_cost_usd(reported)

    def _stop_reason(self) -> StopReason:
        stop_reason = STOP_REASONS.get(self._finish.lower())
        if stop_reason is not None:
            return stop_reason
        kind = FAILED.get(self._finish.lower())
        message = f"{self._endpoint.service}: the reply ended with finish_reason {self._finish!r}"
        raise ProviderError(message, kind=kind or "bad_response", is_retryable=kind is not None)
