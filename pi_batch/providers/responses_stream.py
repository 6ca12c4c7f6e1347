"""A reply of the Responses API, put together from its events.

Source: https://platform.openai.com/docs/api-reference/responses-streaming. Whole with response.completed or
response.incomplete alone: an item that looks finished before that is none. Items may finish out of
order; `output_index` says where each belongs.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from typing import Any, Literal

from msgspec import Struct, field

from pi_batch.errors import ProviderError
from pi_batch.messages import AssistantMessage, StopReason, TextBlock, ThinkingBlock, ToolCall, Usage
from pi_batch.protocols import Delta
from pi_batch.providers import apis
from pi_batch.providers.endpoint import Endpoint
from pi_batch.providers.faults import error_in_stream
from pi_batch.providers.pieces import Pieces
from pi_batch.providers.reply import DONE, event_object
from pi_batch.providers.responses_wire import text_signature
from pi_batch.providers.sse import SseEvent
from pi_batch.providers.tool_ids import unique_ids
from pi_batch.providers.usage import responses_usage
from pi_batch.providers.wire_json import dumps, parse_arguments

INCOMPLETE: dict[str, StopReason] = {"max_output_tokens": "length", "content_filter": "content_filter"}
"""`incomplete_details.reason` of replies that were cut; any other is no good end."""

_KINDS = ("message", "reasoning", "function_call")


class _Item(Struct):
    """One output item as it grows."""

    kind: str
    fields: Mapping[str, Any]
    """As the latest event had them whole."""
    text: Pieces = field(default_factory=Pieces)
    """Text, thinking or arguments, by kind, out of the deltas."""
    is_done: bool = False


class ResponsesAssembler:
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
        self._items: dict[int, _Item] = {}
        self._status = ""
        self._why_incomplete = ""

    def take(self, event: SseEvent) -> Sequence[Delta]:
        """Read one event. Raises: ProviderError."""
        if event.data == DONE:
            self.is_over = self.is_whole
            return ()
        payload = event_object(event, self._endpoint)
        read = _READERS.get(payload.get("type") or event.name)
        if read is None:
            return ()
        self.has_moved = True
        return read(self, payload)

    def take_document(self, document: dict[str, Any]) -> Sequence[Delta]:
        """Read a reply that came in one piece. Raises: ProviderError."""
        if not isinstance(document.get("output"), list):
            return ()
        if document.get("status") == "failed":
            self._fail({"response": document})
        self._end({"response": document})
        return [Delta("text", _said(item)) for item in self._items.values() if item.kind == "message"]

    def message(self) -> AssistantMessage:
        """The whole message. Raises: ProviderError when its end is no good one."""
        stop_reason: StopReason | None = "stop" if self._status == "completed" else None
        raw = self._status
        if self._status == "incomplete":
            stop_reason, raw = INCOMPLETE.get(self._why_incomplete), self._why_incomplete or raw
        if stop_reason is None:
            message = f"{self._endpoint.service}: the reply ended with status {raw!r}"
            raise ProviderError(message, kind="bad_response")
        content = self._content()
        if stop_reason == "stop" and any(_refused(item) for item in self._items.values()):
            stop_reason, raw = "content_filter", "refusal"
        elif stop_reason == "stop" and any(isinstance(block, ToolCall) for block in content):
            stop_reason = "tool_use"
            self._check_calls()
        return AssistantMessage(
            content,
            stop_reason,
            self._endpoint.service,
            self._model,
            apis.RESPONSES,
            self.usage,
            None,
            raw,
            None,
            self._response_id,
            self._timestamp_ms,
            requested_model="" if self._asked == self._model else self._asked,
        )

    def _text_delta(self, payload: dict[str, Any]) -> Sequence[Delta]:
        return self._grow(payload, "message", "text")

    def _thinking_delta(self, payload: dict[str, Any]) -> Sequence[Delta]:
        return self._grow(payload, "reasoning", "thinking")

    def _arguments_delta(self, payload: dict[str, Any]) -> Sequence[Delta]:
        return self._grow(payload, "function_call", "tool_call")

    def _grow(
        self, payload: dict[str, Any], kind: str, shown: Literal["text", "thinking", "tool_call"]
    ) -> Sequence[Delta]:
        index = self._index(payload, kind)
        item = self._items.get(index)
        if item is None:
            item = self._items[index] = _Item(kind, {})
        piece = payload.get("delta")
        text = item.text.add(piece) if isinstance(piece, str) and piece else ""
        return (Delta(shown, text),) if text else ()

    def _add_item(self, payload: dict[str, Any]) -> Sequence[Delta]:
        fields = payload.get("item")
        if isinstance(fields, dict) and fields.get("type") in _KINDS:
            index = payload.get("output_index")
            place = index if isinstance(index, int) else len(self._items)
            self._items[place] = _Item(fields["type"], fields)
        return ()

    def _item_done(self, payload: dict[str, Any]) -> Sequence[Delta]:
        fields = payload.get("item")
        if isinstance(fields, dict) and fields.get("type") in _KINDS:
            self._finish(self._index(payload, fields["type"]), fields)
        return ()

    def _head(self, payload: dict[str, Any]) -> Sequence[Delta]:
        response = payload.get("response")
        if isinstance(response, dict):
            self._response_id = _text(response.get("id")) or self._response_id
            self._model = _text(response.get("model")) or self._model
        return ()

    def _end(self, payload: dict[str, Any]) -> Sequence[Delta]:
        """The terminal event: status, usage, and the items once more, as they really are."""
        self._head(payload)
        response = payload.get("response")
        response = response if isinstance(response, dict) else {}
        named = _text(payload.get("type")).rpartition(".")[2]
        self._status = _text(response.get("status")) or named
        details = response.get("incomplete_details")
        self._why_incomplete = _text(details.get("reason")) if isinstance(details, dict) else ""
        if isinstance(response.get("usage"), dict):
            self.usage = responses_usage(response["usage"])
        output = response.get("output")
        for place, fields in enumerate(output if isinstance(output, list) else ()):
            if isinstance(fields, dict) and fields.get("type") in _KINDS:
                self._complete(place, fields)
        self.is_whole = self.is_over = True
        return ()

    def _fail(self, payload: dict[str, Any]) -> Sequence[Delta]:
        """Raises: ProviderError, always."""
        response = payload.get("response")
        response = response if isinstance(response, dict) else {}
        if isinstance(response.get("usage"), dict):
            self.usage = responses_usage(response["usage"])
        fault = response.get("error") or {"message": "the response failed", "code": "server_error"}
        raise error_in_stream(self._endpoint, {"error": fault})

    def _error(self, payload: dict[str, Any]) -> Sequence[Delta]:
        """Raises: ProviderError, always."""
        raise error_in_stream(self._endpoint, payload)

    def _index(self, payload: dict[str, Any], kind: str) -> int:
        """The place of the item that an event is about; some services leave `output_index` out."""
        index = payload.get("output_index")
        if isinstance(index, int):
            return index
        item = payload.get("item")
        wanted = payload.get("item_id") or (item.get("id") if isinstance(item, dict) else None)
        places = [place for place, known in self._items.items() if known.kind == kind]
        named = [place for place in places if wanted and self._items[place].fields.get("id") == wanted]
        return (named or places[-1:] or [len(self._items)])[0]

    def _finish(self, place: int, fields: Mapping[str, Any]) -> None:
        item = self._items.get(place)
        if item is None or item.kind != fields["type"]:
            item = self._items[place] = _Item(fields["type"], fields)
        item.fields, item.is_done = fields, True

    def _complete(self, place: int, fields: Mapping[str, Any]) -> None:
        """An item of the terminal event: counts where none finished, or lacked its encrypted content."""
        wanted = fields.get("id")
        named = (index for index, item in self._items.items() if wanted and item.fields.get("id") == wanted)
        place = next(named, place)
        item = self._items.get(place)
        if item is None or not item.is_done:
            self._finish(place, fields)
        elif item.kind == fields["type"] == "reasoning" and not item.fields.get("encrypted_content"):
            item.fields = fields

    def _check_calls(self) -> None:
        """Raises: ProviderError where a call is not finished though the reply is."""
        if any(item.kind == "function_call" and not item.is_done for item in self._items.values()):
            message = f"{self._endpoint.service}: the reply is complete, but a call in it is not"
            raise ProviderError(message, kind="bad_response", is_retryable=True)

    def _content(self) -> tuple[TextBlock | ThinkingBlock | ToolCall, ...]:
        items = [item for _, item in sorted(self._items.items())]
        calls = [item for item in items if item.kind == "function_call"]
        ids = iter(unique_ids((_text(item.fields.get("call_id")) for item in calls), self._taken))
        content: list[TextBlock | ThinkingBlock | ToolCall] = []
        for item in items:
            match item.kind:
                case "message" if text := _said(item):
                    signature = text_signature(_text(item.fields.get("id")), item.fields.get("phase"))
                    content.append(TextBlock(text, signature if item.fields.get("id") else None))
                case "reasoning":
                    signature = dumps(item.fields).decode()
                    content.append(ThinkingBlock(_thought(item), signature if item.is_done else None))
                case "function_call":
                    content.append(_call(item, next(ids)))
        return tuple(content)


_READERS: dict[str, Callable[[ResponsesAssembler, dict[str, Any]], Sequence[Delta]]] = {
    "response.output_text.delta": ResponsesAssembler._text_delta,
    "response.refusal.delta": ResponsesAssembler._text_delta,
    "response.reasoning_summary_text.delta": ResponsesAssembler._thinking_delta,
    "response.reasoning_text.delta": ResponsesAssembler._thinking_delta,
    "response.function_call_arguments.delta": ResponsesAssembler._arguments_delta,
    "response.output_item.added": ResponsesAssembler._add_item,
    "response.output_item.done": ResponsesAssembler._item_done,
    "response.created": ResponsesAssembler._head,
    "response.completed": ResponsesAssembler._end,
    "response.incomplete": ResponsesAssembler._end,
    "response.failed": ResponsesAssembler._fail,
    "error": ResponsesAssembler._error,
}


def _call(item: _Item, call_id: str) -> ToolCall:
    whole = item.fields.get("arguments")
    text = whole if isinstance(whole, str) and (whole or item.is_done) else item.text.text()
    arguments = parse_arguments(text)
    return ToolCall(call_id, _text(item.fields.get("name")), arguments, "" if arguments is not None else text)


def _said(item: _Item) -> str:
    """A message's text, or its refusal; the deltas' where the item has none."""
    return _joined(item.fields.get("content"), "") or item.text.text()


def _thought(item: _Item) -> str:
    """What a person may read of a reasoning item."""
    fields = item.fields
    return (
        _joined(fields.get("summary"), "\n\n") or _joined(fields.get("content"), "\n\n") or item.text.text()
    )


def _joined(parts: object, separator: str) -> str:
    found = [part for part in parts if isinstance(part, dict)] if isinstance(parts, list) else []
    return separator.join(_text(part.get("text")) or _text(part.get("refusal")) for part in found)


def _refused(item: _Item) -> bool:
    content = item.fields.get("content")
    parts = content if isinstance(content, list) and item.kind == "message" else ()
    return any(isinstance(part, dict) and part.get("type") == "refusal" for part in parts)


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""
