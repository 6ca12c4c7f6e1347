"""What a branch of a session shows to a model: compactions, edits and other programs' messages applied.

Source: "Context Building" in docs/session-format.md and docs/message-types.md of
@earendil-works/pi-coding-agent 1.6.0.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from pi_batch.messages import (
    AssistantMessage,
    Message,
    SystemMessage,
    ToolDeclaration,
    ToolResultMessage,
    UserMessage,
    user_text,
)
from pi_batch.session.file import Entry
from pi_batch.session.from_json import content_from_json, message_from_json, reply_content_from_json, whole
from pi_batch.times import iso_ms

PROMPT_SECTION = "prompt"
"""Where our own prompt stands among the sections of a system message."""
FROM_EXTENSIONS = frozenset({"custom", "hookMessage"})
"""Roles of extensions' messages that a model sees; the second is version 2's name of the first."""


class Placed(Struct, frozen=True):
    """A message that a model sees, and the entry that it comes from."""

    entry_id: str
    message: Message


def context_entries(branch: Sequence[Entry]) -> tuple[Entry, ...]:
    """What the latest compaction leaves of a branch: itself, what it kept, and what came after it.

    Kept is what stands from its `firstKeptEntryId` on, older compactions and system messages left out:
    its `systemMessage` stands for the latter. A compaction of an older version has none: the system
    messages before it then come first, as they were. A branch without a compaction is whole.
    """
    position = max((at for at, entry in enumerate(branch) if entry.type == "compaction"), default=None)
    if position is None:
        return tuple(branch)
    compaction, before = branch[position], branch[:position]
    first = compaction.fields.get("firstKeptEntryId")
    start = next((at for at, entry in enumerate(before) if entry.id == first), position)
    has_checkpoint = isinstance(compaction.fields.get("systemMessage"), Mapping)
    systems = () if has_checkpoint else tuple(entry for entry in before if _is_system(entry))
    kept = tuple(entry for entry in before[start:] if entry.type != "compaction" and not _is_system(entry))
    return (*systems, compaction, *kept, *branch[position + 1 :])


def context(branch: Sequence[Entry]) -> tuple[Placed, ...]:
    """The messages that a model sees of a branch, each with its entry; summaries are user messages."""
    entries = context_entries(branch)
    edits = {
        target: entry.fields.get("replacement")
        for entry in entries
        if entry.type == "context_edit" and isinstance(target := entry.fields.get("targetId"), str)
    }
    placed = (Placed(entry.id, message) for entry in entries for message in _shown(entry))
    return tuple(_edited(placed, edits))


def context_messages(branch: Sequence[Entry]) -> tuple[Message, ...]:
    """The messages that a model sees of a branch, in order, system messages among them."""
    return tuple(placed.message for placed in context(branch))


def current_system(said: Iterable[Message]) -> SystemMessage | None:
    """All system messages as one: texts appended, sections patched by name, tools added and removed."""
    found = [message for message in said if isinstance(message, SystemMessage)]
    if not found:
        return None
    sections: dict[str, Any] = {}
    tools: dict[str, ToolDeclaration] = {}
    for message in found:
        for name, text in message.sections.items():
            sections.pop(name, None) if text is None else sections.update({name: text})
        for name in message.tools_removed:
            tools.pop(name, None)
        tools.update({tool.name: tool for tool in message.tools_added})
    text = "\n\n".join(message.content for message in found if message.content)
    return SystemMessage(text, tuple(tools.values()), sections, timestamp_ms=found[0].timestamp_ms)


def system_change(
    prompt: str,
    tools: Sequence[ToolDeclaration],
    *,
    before: str | None = None,
    tools_before: Sequence[ToolDeclaration] = (),
    timestamp_ms: int = 0,
) -> SystemMessage | None:
    """The message that takes a prompt and tools in force to these; None where nothing changes.

    The prompt is a section, as sections alone can be replaced; a changed tool is taken away and added.
    """
    old = {tool.name: tool for tool in tools_before}
    added = tuple(tool for tool in tools if old.get(tool.name) != tool)
    kept = {tool.name for tool in tools} - {tool.name for tool in added}
    removed = tuple(name for name in old if name not in kept)
    sections = {} if prompt == before else {PROMPT_SECTION: prompt}
    if not (sections or added or removed):
        return None
    return SystemMessage("", added, sections, timestamp_ms, tools_removed=removed)


def prompt_of(system: SystemMessage) -> str:
    """The whole prompt in force, given all system messages as one (`current_system`)."""
    sections = (str(text) for text in system.sections.values() if text)
    return "\n\n".join([*([system.content] if system.content else []), *sections])


def compaction_message(summary: str, timestamp_ms: int = 0) -> UserMessage:
    """How a model is told what a compaction left out."""
    text = "What came before was left out to save room. This summary of it stands in its place:"
    return user_text(f"{text}\n\n<summary>\n{summary}\n</summary>", timestamp_ms)


def branch_message(summary: str, timestamp_ms: int = 0) -> UserMessage:
    """How a model is told of a branch that was left."""
    text = "The conversation tried another way before, and came back. What was done there:"
    return user_text(f"{text}\n\n<summary>\n{summary}\n</summary>", timestamp_ms)


def _is_system(entry: Entry) -> bool:
    message = entry.fields.get("message")
    return entry.type == "message" and isinstance(message, Mapping) and message.get("role") == "system"


def _shown(entry: Entry) -> Iterator[Message]:
    """The messages that an entry shows to a model."""
    fields, at_ms = entry.fields, iso_ms(entry.timestamp)
    match entry.type:
        case "message":
            message = _said(fields.get("message"))
            if message is not None:
                yield message
        case "custom_message":
            yield UserMessage(content_from_json(fields.get("content")), at_ms)
        case "branch_summary":
            if _text(fields.get("summary")):
                yield branch_message(_text(fields.get("summary")), at_ms)
        case "compaction":
            checkpoint = message_from_json(fields.get("systemMessage"))
            if checkpoint is not None:
                yield checkpoint
            yield compaction_message(_text(fields.get("summary")), at_ms)


def _said(value: object) -> Message | None:
    """A message entry's message as a model sees it: pi's other roles are the user's words."""
    message = message_from_json(value)
    if message is not None or not isinstance(value, Mapping):
        return message
    at_ms = whole(value.get("timestamp"))
    summary = _text(value.get("summary"))
    match value.get("role"):
        case "bashExecution" if not value.get("excludeFromContext"):
            return user_text(_command_text(value), at_ms)
        case "branchSummary":
            return branch_message(summary, at_ms)
        case "compactionSummary":
            return compaction_message(summary, at_ms)
        case role if role in FROM_EXTENSIONS:
            return UserMessage(content_from_json(value.get("content")), at_ms)
        case _:
            return None


def _command_text(value: Mapping[str, Any]) -> str:
    """A command that a person ran beside the model."""
    output = _text(value.get("output")).strip("\n") or "(no output)"
    code = value.get("exitCode")
    end = ""
    if value.get("cancelled"):
        end = "\nIt was cancelled."
    elif isinstance(code, int) and code:
        end = f"\nIt exited with code {code}."
    return f"The user ran this command:\n\n{_text(value.get('command'))}\n\nIts output:\n\n{output}{end}"


def _edited(placed: Iterable[Placed], edits: Mapping[str, Any]) -> Iterator[Placed]:
    """Messages as `context_edit` entries left them: without content they are left out."""
    for one in placed:
        if one.entry_id not in edits or isinstance(one.message, SystemMessage):
            yield one
            continue
        edit = edits[one.entry_id]
        content = edit.get("content") if isinstance(edit, Mapping) else None
        match one.message:
            case _ if content is None:
                continue
            case AssistantMessage():
                yield replace(one, message=replace(one.message, content=reply_content_from_json(content)))
            case UserMessage() | ToolResultMessage():
                yield replace(one, message=replace(one.message, content=content_from_json(content)))


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""
