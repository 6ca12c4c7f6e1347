"""A conversation as its session file has it: what a resumed agent goes on from.

The session is the authority on messages. What a request was to cost stands in it before the request is
made, so that one without a reply is known.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from msgspec import Struct, field
from msgspec.structs import replace

from pi_batch.messages import (
    AssistantMessage,
    Message,
    SystemMessage,
    TextBlock,
    ToolCall,
    ToolDeclaration,
    ToolResultMessage,
    Usage,
    UserMessage,
)
from pi_batch.session import (
    Entry,
    active_branch,
    context,
    current_system,
    message_from_json,
    prompt_of,
    read_session,
)
from pi_batch.session.context import Placed

CUSTOM_TYPE = "pi-batch"
"""Of this program's own entries."""

LOST_CALL = (
    "Interrupted: the run ended while this call was under way. What it had done by then is unknown, and it "
    "was not run again. Look at what is there before you repeat it."
)
"""The result of a call that has none."""
LOST_RESULT = (
    "Interrupted: this call came to its end, but the run ended before its result was recorded, so the result "
    "is lost. It was not run again. Look at what is there before you repeat it."
)
"""The same where the log knows that the call had ended."""


class OpenRequest(Struct, frozen=True):
    """A request that was begun, as it was reserved."""

    input_tokens: int
    output_tokens: int
    cost_usd: float

    @property
    def usage(self) -> Usage:
        """The most that it can have taken."""
        return Usage(self.input_tokens, self.output_tokens)


class RecordedConversation(Struct, frozen=True):
    """What was said, and what was left open."""

    history: tuple[Message, ...]
    """What goes to the model, without system messages."""
    entry_ids: tuple[str, ...]
    """Where each of them comes from."""
    recorded: tuple[tuple[str, Message], ...]
    """Every message on the branch with its entry's id, system messages left out."""
    system: str | None
    declarations: tuple[ToolDeclaration, ...]
    """The last recorded."""
    model: str
    """provider/model of the last `model_change`; empty without one."""
    attempt: int
    """Whose prompt was said last; 0 before any."""
    unanswered: tuple[OpenRequest, ...]
    """Requests of the last leg without a reply, in order."""
    first_prompt: str = ""
    counted_from: int = 0
    """Where in the history replies begin whose own count holds: earlier ones stood before a summary."""
    summary: str | None = None
    """What the latest compaction put in the place of earlier messages."""
    summary_details: Mapping[str, Any] = field(default_factory=dict)
    thinking: str | None = None
    """Of the last `thinking_level_change`; None without one."""
    selected: Mapping[str, Any] = field(default_factory=dict)
    """What a virtual model decided last, as `engine.router` records it; empty without any."""
    follow_ups: int = 0
    """How many of them were said."""

    @property
    def open_calls(self) -> tuple[ToolCall, ...]:
        """Calls of the last reply that have no result."""
        reply = self.last_reply
        results = {
            message.tool_call_id for message in self._after_reply() if isinstance(message, ToolResultMessage)
        }
        return tuple(call for call in reply.tool_calls if call.id not in results) if reply else ()

    @property
    def last_reply(self) -> AssistantMessage | None:
        """The last thing that the model said."""
        replies = (message for message in reversed(self.history) if isinstance(message, AssistantMessage))
        return next(replies, None)

    @property
    def ends_with_reply(self) -> bool:
        """True when nothing came after the last reply."""
        return bool(self.history) and isinstance(self.history[-1], AssistantMessage)

    @property
    def has_calls(self) -> bool:
        """True when anything was run."""
        return any(isinstance(message, ToolResultMessage) for message in self.history) or bool(
            self.open_calls
        )

    def _after_reply(self) -> tuple[Message, ...]:
        index = next(
            (at for at, message in reversed([*enumerate(self.history)]) if message is self.last_reply), -1
        )
        return self.history[index + 1 :]


def read_conversation(path: Path) -> RecordedConversation:
    """The conversation of a session file. Raises: UsageError where there is none to be read."""
    return conversation_of(active_branch(read_session(path)))


def conversation_of(branch: tuple[Entry, ...]) -> RecordedConversation:
    """The conversation on a branch."""
    state = _Reading()
    for entry in branch:
        state.take(entry)
    return state.conversation(context(branch))


class _Reading:
    """A branch while it is read, entry by entry."""

    def __init__(self) -> None:
        self._recorded: list[tuple[str, Message]] = []
        self._model = ""
        self._thinking: str | None = None
        self._selected: Mapping[str, Any] = {}
        self._follow_ups = 0
        self._is_follow_up = False
        self._attempt = self._next_attempt = 0
        self._open: OpenRequest | None = None
        self._unanswered: list[OpenRequest] = []
        self._compaction: Entry | None = None
        self._since: set[str] = set()
        """Entries after the latest compaction."""

    def take(self, entry: Entry) -> None:
        """Take the next entry."""
        self._since.add(entry.id)
        match entry.type:
            case "message":
                message = message_from_json(entry.fields.get("message"))
                if message is not None:
                    self._take_message(entry.id, message)
            case "model_change":
                self._model = f"{entry.fields.get('provider', '')}/{entry.fields.get('modelId', '')}"
            case "thinking_level_change":
                level = entry.fields.get("thinkingLevel")
                self._thinking = level if isinstance(level, str) else None
            case "compaction" | "usage":  # what a request came to that is no reply
                self._open = None
                if entry.type == "compaction":
                    self._compaction, self._since = entry, set()
            case "custom" if entry.fields.get("customType") == CUSTOM_TYPE:
                value = entry.fields.get("data")
                self._take_own(value if isinstance(value, Mapping) else {})
            case _:
                pass

    def conversation(self, shown: Sequence[Placed]) -> RecordedConversation:
        """Everything together; `shown` is what a model sees of the branch."""
        unanswered = [*self._unanswered, self._open] if self._open else self._unanswered
        system = current_system(one.message for one in shown)
        kept = [one for one in shown if not _is_left_out(one.message)]
        prompts = (message.text for _, message in self._recorded if isinstance(message, UserMessage))
        compaction = self._compaction
        details = compaction.fields.get("details") if compaction else None
        return RecordedConversation(
            tuple(one.message for one in kept),
            tuple(one.entry_id for one in kept),
            tuple(self._recorded),
            prompt_of(system) if system is not None else None,
            system.tools_added if system is not None else (),
            self._model,
            self._attempt,
            tuple(unanswered),
            next(prompts, ""),
            next((at for at, one in enumerate(kept) if one.entry_id in self._since), len(kept)),
            str(compaction.fields.get("summary", "")) if compaction else None,
            details if isinstance(details, Mapping) else {},
            self._thinking,
            self._selected,
            self._follow_ups,
        )

    def _take_message(self, entry_id: str, message: Message) -> None:
        if isinstance(message, SystemMessage):
            return
        if isinstance(message, AssistantMessage):
            self._open = None
        if isinstance(message, UserMessage) and self._next_attempt:
            self._attempt, self._next_attempt = self._next_attempt, 0
        if isinstance(message, UserMessage) and self._is_follow_up:
            self._follow_ups, self._is_follow_up = self._follow_ups + 1, False
        self._recorded.append((entry_id, message))

    def _take_own(self, value: Mapping[str, Any]) -> None:
        match value.get("kind"):
            case "workspace":  # a leg begins: what was open before has been counted
                self._unanswered, self._open = [], None
            case "model":
                self._selected = value
            case "follow_up":
                self._is_follow_up = True
            case "attempt":
                self._next_attempt = _whole(value.get("attempt"))
            case "request_start":
                if self._open is not None:
                    self._unanswered.append(self._open)
                cost = value.get("cost_usd")
                self._open = OpenRequest(
                    _whole(value.get("input_tokens")),
                    _whole(value.get("output_tokens")),
                    float(cost) if isinstance(cost, int | float) else 0.0,
                )
            case _:
                pass


def _is_left_out(message: Message) -> bool:
    """True for system messages, which travel beside the history, and for replies that never became one."""
    if isinstance(message, AssistantMessage):
        return message.stop_reason in ("error", "aborted")
    return isinstance(message, SystemMessage)


def _whole(value: object) -> int:
    return value if isinstance(value, int) and not isinstance(value, bool) and value > 0 else 0


def calls_with_results(history: Iterable[Message]) -> Iterator[tuple[ToolCall, ToolResultMessage]]:
    """Each call that has a result, with it, in the order of the results."""
    calls: dict[str, ToolCall] = {}
    for message in history:
        if isinstance(message, AssistantMessage):
            calls = {call.id: call for call in message.tool_calls}
        elif isinstance(message, ToolResultMessage) and message.tool_call_id in calls:
            yield calls[message.tool_call_id], message


def without_note(result: ToolResultMessage, note: str) -> ToolResultMessage:
    """A result without a line that was added at its end."""
    last = result.content[-1] if result.content else None
    is_there = isinstance(last, TextBlock) and last.text == note
    return replace(result, content=result.content[:-1]) if is_there else result


def cut_in_a_row(replies: Sequence[AssistantMessage]) -> int:
    """How many of the last replies were cut in the middle of a call."""
    whole = (
        count
        for count, reply in enumerate(reversed(replies))
        if not (reply.stop_reason == "length" and reply.tool_calls)
    )
    return next(whole, len(replies))
