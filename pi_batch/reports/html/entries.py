"""A session's entries as items of a page, branch by branch."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from msgspec.structs import replace

from pi_batch.encoders import plain_line
from pi_batch.messages import (
    AssistantMessage,
    ImageBlock,
    Message,
    SystemMessage,
    TextBlock,
    ThinkingBlock,
    ToolCall,
    ToolResultMessage,
    UserMessage,
)
from pi_batch.reports.html.calls import call_fold, call_title, image, result_badges, result_parts
from pi_batch.reports.html.prose import prose, shown
from pi_batch.reports.html.values import Badge, Fact, Facts, Fold, Item, Part, Pre
from pi_batch.session import Entry, content_from_json, message_from_json

OUTLINE_CHARS = 64
STOPS = {"length": "cut at the output limit", "content_filter": "withheld", "aborted": "cancelled"}
"""How a reply ended that is no plain end; an error is shown with its words."""
QUIET = frozenset({"request_start", "request_end"})
"""Custom entries of ours that a reply right behind them makes redundant."""

Said = Sequence[tuple[Entry, Message | None]]


def read(entries: Sequence[Entry]) -> Said:
    """Each entry with its message; None for what holds none of ours."""
    return [
        (entry, message_from_json(entry.fields.get("message")) if entry.type == "message" else None)
        for entry in entries
    ]


class BranchItems:
    """Makes the items of one branch; a call's result is folded into the reply that made the call."""

    def __init__(self, said: Said, labels: Mapping[str, str]) -> None:
        self._said = said
        self._labels = labels
        self._results: dict[tuple[str, str], tuple[Entry, ToolResultMessage]] = {}
        """(reply's entry id, call id) -> the result."""
        self._taken: set[str] = set()
        self._pair()

    def items(self) -> Iterator[Item]:
        """The branch's items in order."""
        for at, (entry, message) in enumerate(self._said):
            if entry.id in self._taken or self._is_quiet(at):
                continue
            item = self._of_message(entry, message) if message is not None else _of_entry(entry)
            yield _placed(item, entry, self._labels)

    def _pair(self) -> None:
        """Give each result to its call: one of the last reply before it."""
        open_calls: dict[str, str] = {}
        for entry, message in self._said:
            match message:
                case AssistantMessage():
                    open_calls = {call.id: entry.id for call in message.tool_calls}
                case ToolResultMessage() if message.tool_call_id in open_calls:
                    reply_id = open_calls.pop(message.tool_call_id)
                    self._results[reply_id, message.tool_call_id] = (entry, message)
                    self._taken.add(entry.id)
                case _:
                    pass

    def _is_quiet(self, at: int) -> bool:
        """True for a note that a request began, where its reply follows."""
        entry = self._said[at][0]
        state = entry.fields.get("data")
        if entry.type != "custom" or not isinstance(state, Mapping) or state.get("kind") not in QUIET:
            return False
        return at + 1 < len(self._said) and isinstance(self._said[at + 1][1], AssistantMessage)

    def _of_message(self, entry: Entry, message: Message) -> Item:
        match message:
            case SystemMessage():
                return _system(entry, message)
            case UserMessage():
                text = "\n".join(block.text for block in message.content if isinstance(block, TextBlock))
                images = (image(block) for block in message.content if isinstance(block, ImageBlock))
                outline = plain_line(text, OUTLINE_CHARS)
                return Item(
                    entry.id, "user", "User", outline=outline or "image", parts=(prose(text), *images)
                )
            case AssistantMessage():
                return self._reply(entry, message)
            case ToolResultMessage():
                title = f"Result of {plain_line(message.tool_name, 60)}"
                parts = result_parts(message)
                return Item(entry.id, "tool", title, badges=result_badges(message), parts=parts)

    def _reply(self, entry: Entry, message: AssistantMessage) -> Item:
        badges = []
        if message.stop_reason == "error":
            badges.append(Badge("error", "bad"))
        elif message.stop_reason in STOPS:
            badges.append(Badge(STOPS[message.stop_reason], "bad"))
        parts = tuple(part for block in message.content for part in self._block(entry, block))
        if message.error_message:
            parts += (Pre(shown(message.error_message)),)
        model = "/".join(part for part in (message.provider, message.model) if part)
        title = plain_line(model, 80) or "Assistant"
        return Item(
            entry.id, "assistant", title, badges=tuple(badges), outline=_reply_line(message), parts=parts
        )

    def _block(self, entry: Entry, block: TextBlock | ThinkingBlock | ToolCall) -> Iterator[Part]:
        match block:
            case TextBlock():
                if block.text.strip():
                    yield prose(block.text)
            case ThinkingBlock():
                note = "redacted" if block.is_redacted else plain_line(block.thinking, 100)
                yield Fold("Thinking", note, (prose(block.thinking),) if block.thinking.strip() else ())
            case ToolCall():
                found = self._results.get((entry.id, block.id))
                if found is None:
                    yield call_fold(block, None, "", "")
                else:
                    label = self._labels.get(found[0].id, "")
                    yield call_fold(block, found[1], found[0].id, label)


def _placed(item: Item, entry: Entry, labels: Mapping[str, str]) -> Item:
    """The item with what its entry says beside it."""
    return replace(item, time=plain_line(entry.timestamp, 40), label=plain_line(labels.get(entry.id, ""), 80))


def _reply_line(message: AssistantMessage) -> str:
    """A reply in the outline: what it says, else what it does."""
    text = plain_line(message.text, OUTLINE_CHARS)
    if text or not message.tool_calls:
        return text or plain_line(message.error_message or "(no text)", OUTLINE_CHARS)
    first = message.tool_calls[0]
    title = call_title(first.name, first.arguments or {})
    more = len(message.tool_calls) - 1
    return plain_line(f"{first.name} {title}{f' +{more}' if more else ''}", OUTLINE_CHARS)


def _system(entry: Entry, message: SystemMessage) -> Item:
    parts: list[Part] = []
    if message.content.strip():
        parts.append(Fold("System prompt", _size(message.content), (prose(message.content),)))
    for name, text in message.sections.items():
        if text is None:
            parts.append(Fold(f"Section {plain_line(name, 60)}", "taken out", ()))
        else:
            parts.append(Fold(f"Section {plain_line(name, 60)}", _size(str(text)), (prose(str(text)),)))
    if message.tools_added:
        tools = tuple(
            Fold(
                plain_line(tool.name, 60),
                plain_line(tool.description, 100),
                (prose(tool.description), Pre(shown(_json(tool.parameters, indent=2)))),
            )
            for tool in message.tools_added
        )
        names = plain_line(", ".join(tool.name for tool in message.tools_added), 160)
        parts.append(Fold(f"Tools ({len(tools)})", names, tools))
    if message.tools_removed:
        parts.append(Fold("Tools taken away", plain_line(", ".join(message.tools_removed), 160), ()))
    return Item(entry.id, "system", "System", parts=tuple(parts))


def _of_entry(entry: Entry) -> Item:
    """An item for an entry that holds no message of ours."""
    fields = entry.fields
    match entry.type:
        case "model_change":
            return _note(entry, f"Model: {fields.get('provider')}/{fields.get('modelId')}")
        case "thinking_level_change":
            return _note(entry, f"Thinking level: {fields.get('thinkingLevel')}")
        case "session_info":
            return _note(entry, f"Named: {fields.get('name')}")
        case "label":
            what = f"Label: {fields['label']}" if fields.get("label") else "Label taken away"
            return _note(entry, f"{what} (on {fields.get('targetId')})")
        case "usage":
            return _note(entry, f"Usage: {fields.get('kind')} {fields.get('provider')}/{fields.get('model')}")
        case "compaction" | "branch_summary":
            return _summary(entry)
        case "custom_message":
            return _of_extension(entry, fields)
        case "message" if isinstance(fields.get("message"), Mapping):
            return _other_message(entry, fields["message"])
        case "custom":
            state = fields.get("data")
            kind = state.get("kind") if isinstance(state, Mapping) else None
            named = f"{fields.get('customType')}{f': {kind}' if isinstance(kind, str) else ''}"
            note = " (no reply of it was recorded)" if kind == "request_start" else ""
            return _note(entry, f"{named}{note}", state)
        case _:
            return _note(entry, entry.type or "entry without a type", fields)


def _summary(entry: Entry) -> Item:
    text = str(entry.fields.get("summary", ""))
    badges: tuple[Badge, ...] = ()
    if entry.type == "branch_summary":
        title, rows = (
            "Came back from another branch",
            [Fact("that ended at", str(entry.fields.get("fromId")))],
        )
    else:
        before = entry.fields.get("tokensBefore")
        size = f" of {before:,} tokens" if isinstance(before, int) else ""
        title = f"Compaction{size}"
        badges = (Badge("the model no longer sees the dashed entries above"),)
        kept = str(entry.fields.get("firstKeptEntryId"))
        rows = [Fact("kept from", "nothing before it" if kept == entry.id else kept)]
    if entry.fields.get("details"):
        rows.append(Fact("details", _json(entry.fields["details"])))
    facts = Facts(tuple(Fact(row.name, shown(row.value)) for row in rows))
    fold = Fold("Summary", plain_line(text, 100), (prose(text), facts))
    return Item(entry.id, "summary", title, badges=badges, outline=title, parts=(fold,))


def _other_message(entry: Entry, message: Mapping[str, Any]) -> Item:
    """Pi's messages of other roles."""
    role = message.get("role")
    if role == "bashExecution":
        command = shown(str(message.get("command", "")))
        code = message.get("exitCode")
        badges = (Badge(f"exit {code}", "bad"),) if isinstance(code, int) and code else ()
        part = Pre(shown(str(message.get("output", ""))), "terminal", command)
        return Item(entry.id, "user", "Command of the user", badges=badges, parts=(part,))
    if role in ("custom", "hookMessage"):
        parts = [
            prose(block.text) if isinstance(block, TextBlock) else image(block)
            for block in content_from_json(message.get("content"))
        ]
        return Item(
            entry.id,
            "user",
            f"Message of {plain_line(str(message.get('customType')), 60)}",
            parts=tuple(parts),
        )
    return _note(entry, f"message of role {role}", message)


def _of_extension(entry: Entry, said: Mapping[str, Any]) -> Item:
    """What an extension of pi's said to the model."""
    blocks = content_from_json(said.get("content"))
    parts = (prose(block.text) if isinstance(block, TextBlock) else image(block) for block in blocks)
    title = f"Message of {plain_line(str(said.get('customType')), 60)}"
    return Item(entry.id, "user", title, outline=title, parts=tuple(parts))


def _note(entry: Entry, text: str, value: object = None) -> Item:
    """A line for what no model sees; its fields folded."""
    title = plain_line(text, 160)
    if value in (None, {}, []):
        return Item(entry.id, "note", title)
    return Item(entry.id, "note", "", parts=(Fold(title, "", (Pre(shown(_json(value, indent=2))),)),))


def _size(text: str) -> str:
    return f"{len(text):,} characters"


def _json(value: object, indent: int | None = None) -> str:
    try:
        return json.dumps(value, ensure_ascii=False, indent=indent, default=str)
    except (RecursionError, ValueError):
        return "(nested too deeply)"
