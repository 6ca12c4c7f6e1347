"""A reply of Gemini, put together from its chunks.

Source: https://ai.google.dev/api/generate-content#v1beta.GenerateContentResponse. Whole with a finishReason,
or when the prompt was blocked. Text goes on in one block until a part is signed: a signed part is a block
of its own, so that its signature goes back on it and on nothing else.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from typing import Any, Literal

from msgspec import Struct, field

from pi_batch.errors import ProviderError
from pi_batch.messages import AssistantMessage, StopReason, TextBlock, ThinkingBlock, ToolCall, Usage
from pi_batch.protocols import Delta
from pi_batch.providers import apis
from pi_batch.providers.endpoint import Endpoint
from pi_batch.providers.pieces import Pieces
from pi_batch.providers.reply import DONE, event_object
from pi_batch.providers.sse import SseEvent
from pi_batch.providers.tool_ids import unique_ids
from pi_batch.providers.usage import gemini_usage
from pi_batch.providers.wire_json import dumps, parse_arguments

FILTERED = (
    *("SAFETY", "RECITATION", "BLOCKLIST", "PROHIBITED_CONTENT", "SPII", "LANGUAGE", "MODEL_ARMOR"),
    *("ESCALATION", "IMAGE_SAFETY", "IMAGE_PROHIBITED_CONTENT", "IMAGE_RECITATION"),
)
STOP_REASONS: dict[str, StopReason] = {
    "STOP": "stop",
    "MAX_TOKENS": "length",
    "CONTINUATION": "length",
    **dict.fromkeys(FILTERED, "content_filter"),
}
TRIED_AGAIN = ("MALFORMED_FUNCTION_CALL", "MALFORMED_RESPONSE", "UNEXPECTED_TOOL_CALL", "OTHER")
"""Bad ends that the next try may not have; every other name is no good end either way."""


class _Part(Struct):
    """One block as it grows."""

    kind: str
    text: Pieces = field(default_factory=Pieces)
    signature: str | None = None
    call: Mapping[str, Any] = field(default_factory=dict[str, Any])


class GeminiAssembler:
    """Takes chunks, gives deltas and at last the message; see `reply.Assembler`."""

    def __init__(
        self,
        endpoint: Endpoint,
        model: str,
        taken: AbstractSet[str],
        names: Mapping[str, str],
        timestamp_ms: int,
    ) -> None:
        self.is_whole = False
        self.is_over = False
        self.has_moved = False
        self._endpoint = endpoint
        self._model = self._asked = model
        self._taken = taken
        self._names = names
        """Name of a tool on the wire -> its own."""
        self._timestamp_ms = timestamp_ms
        self._response_id: str | None = None
        self._reported: Mapping[str, Any] | None = None
        self._parts: list[_Part] = []
        self._finish = ""
        self._explanation: str | None = None
        self._is_blocked = False

    @property
    def usage(self) -> Usage | None:
        """What the latest chunk that reported any said: counts are cumulative."""
        return None if self._reported is None else gemini_usage(self._reported)

    def take(self, event: SseEvent) -> Sequence[Delta]:
        """Read one event. Raises: ProviderError."""
        if event.data == DONE:
            self.is_over = True
            return ()
        return self._chunk(event_object(event, self._endpoint))

    def take_document(self, document: dict[str, Any]) -> Sequence[Delta]:
        """Read a reply that came in one piece: it is a chunk that holds everything."""
        return self._chunk(document)

    def message(self) -> AssistantMessage:
        """The whole message. Raises: ProviderError when its finish reason is no good one."""
        stop_reason = "content_filter" if self._is_blocked else STOP_REASONS.get(self._finish)
        if stop_reason is None:
            detail = f": {self._explanation}" if self._explanation else ""
            message = f"{self._endpoint.service}: the reply ended with finishReason {self._finish!r}{detail}"
            is_retryable = self._finish in TRIED_AGAIN
            raise ProviderError(message, kind="bad_response", is_retryable=is_retryable)
        content = self._content()
        if stop_reason == "stop" and any(isinstance(block, ToolCall) for block in content):
            stop_reason = "tool_use"
        return AssistantMessage(
            content,
            stop_reason,
            self._endpoint.service,
            self._model,
            apis.GEMINI,
            self.usage,
            None,
            self._finish,
            self._explanation if stop_reason == "content_filter" else None,
            self._response_id,
            self._timestamp_ms,
            requested_model="" if self._asked == self._model else self._asked,
        )

    def _chunk(self, chunk: dict[str, Any]) -> Sequence[Delta]:
        if isinstance(reported := chunk.get("usageMetadata"), dict):
            self._reported = reported
        if self._response_id is None:
            self._head(chunk)
        candidates = chunk.get("candidates")
        if not isinstance(candidates, list) or not candidates or not isinstance(candidates[0], dict):
            self._blocked(chunk.get("promptFeedback"))
            return ()
        self.has_moved = True
        candidate = candidates[0]
        if finish := candidate.get("finishReason"):
            self._finish, self.is_whole = str(finish), True
            self._explanation = _text(candidate.get("finishMessage")) or None
        content = candidate.get("content")
        parts = content.get("parts") if isinstance(content, dict) else None
        if not isinstance(parts, list):
            return ()
        if len(parts) == 1 and isinstance(parts[0], dict):
            return self._part(parts[0])
        return [delta for part in parts if isinstance(part, dict) for delta in self._part(part)]

    def _head(self, chunk: Mapping[str, Any]) -> None:
        """Who answers, from the first chunk that says it."""
        self._response_id = _text(chunk.get("responseId")) or None
        self._model = _text(chunk.get("modelVersion")).removeprefix("models/") or self._model

    def _part(self, part: Mapping[str, Any]) -> Sequence[Delta]:
        signature = _text(part.get("thoughtSignature")) or None
        text = part.get("text")
        if isinstance(text, str):
            kind: Literal["text", "thinking"] = "thinking" if part.get("thought") is True else "text"
            return self._say(kind, text, signature) if text or signature else ()
        call = part.get("functionCall")
        if not isinstance(call, dict):
            return ()
        self._parts.append(_Part("call", signature=signature, call=call))
        return (Delta("tool_call", dumps(call.get("args") or {}).decode()),)

    def _say(self, kind: Literal["text", "thinking"], text: str, signature: str | None) -> Sequence[Delta]:
        latest = self._parts[-1] if self._parts else None
        if latest is None or latest.kind != kind or latest.signature or signature:
            latest = _Part(kind, signature=signature)
            self._parts.append(latest)
        shown = latest.text.add(text)
        return (Delta(kind, shown),) if shown else ()

    def _blocked(self, feedback: object) -> None:
        """The service refused the prompt: there is no candidate then."""
        reason = feedback.get("blockReason") if isinstance(feedback, dict) else None
        if isinstance(reason, str) and reason:
            self.has_moved = self.is_whole = self._is_blocked = True
            self._finish = reason
            self._explanation = f"the prompt was blocked: {reason}"

    def _content(self) -> tuple[TextBlock | ThinkingBlock | ToolCall, ...]:
        calls = [part for part in self._parts if part.kind == "call"]
        ids = iter(unique_ids((_text(part.call.get("id")) for part in calls), self._taken))
        content: list[TextBlock | ThinkingBlock | ToolCall] = []
        for part in self._parts:
            match part.kind:
                case "text":
                    content.append(TextBlock(part.text.text(), part.signature))
                case "thinking":
                    content.append(ThinkingBlock(part.text.text(), part.signature))
                case _:
                    content.append(self._call(part, next(ids)))
        return tuple(content)

    def _call(self, part: _Part, call_id: str) -> ToolCall:
        args = part.call.get("args")
        text = args if isinstance(args, str) else dumps({} if args is None else args).decode()
        arguments = parse_arguments(text)
        name = _text(part.call.get("name"))
        raw = "" if arguments is not None else text
        return ToolCall(call_id, self._names.get(name, name), arguments, raw, part.signature)


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""
