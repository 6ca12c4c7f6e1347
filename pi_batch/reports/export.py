"""A session as plain text: every entry, what was said, called and answered, and what it cost."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from pi_batch.encoders import visible
from pi_batch.messages import (
    AssistantMessage,
    ImageBlock,
    Message,
    SystemMessage,
    TextBlock,
    ThinkingBlock,
    ToolCall,
    ToolResultMessage,
    Usage,
    UserMessage,
)
from pi_batch.session import Entry, SessionFile, active_branch, message_from_json, messages, total_spent

INDENT = "  | "
"""No line of foreign text begins a line: a CI runner takes `::` there for a command, and `##[` anywhere."""


def export_text(session: SessionFile) -> str:
    """The whole session for a terminal or a text file, ending in one newline.

    Entries stand in the order of the file. `*` marks those of the branch that is alive, `-` the others;
    where an entry does not hang on the one above it, it says on which. Control characters of whatever was
    recorded are made visible.
    """
    alive = {entry.id for entry in active_branch(session)}
    lines = [*_head(session)]
    above: str | None = None
    for entry in session.entries:
        lines.append("")
        mark = "*" if entry.id in alive else "-"
        title, body = _entry(entry)
        lines.append(_line(f"{mark} [{entry.id}] {title}{_from(entry, above)}"))
        lines += [f"{INDENT}{line}".rstrip() for line in body]
        above = entry.id
    lines += ["", *_totals(session)]
    return "\n".join(lines) + "\n"


def _head(session: SessionFile) -> Iterator[str]:
    header = session.header
    yield _line(f"session {header.id} of {header.timestamp or 'an unknown time'}, format {header.version}")
    yield _line(f"directory: {header.cwd or 'unknown'}")
    for warning in session.warnings:
        yield _line(f"warning: {warning}")
    if session.torn is not None:
        yield f"warning: the last line is torn ({len(session.torn)} bytes) and left out"


def _from(entry: Entry, above: str | None) -> str:
    if entry.parent_id == above:
        return ""
    return f"  (branches off at {entry.parent_id})" if entry.parent_id else "  (a root of its own)"


def _entry(entry: Entry) -> tuple[str, list[str]]:
    """An entry's title and its lines."""
    message = message_from_json(entry.fields.get("message")) if entry.type == "message" else None
    if message is not None:
        return _title(message), list(_body(message))
    fields = entry.fields
    match entry.type:
        case "model_change":
            return f"model: {fields.get('provider')}/{fields.get('modelId')}", []
        case "thinking_level_change":
            return f"thinking level: {fields.get('thinkingLevel')}", []
        case "compaction" | "branch_summary":
            before = fields.get("tokensBefore")
            size = f" of {before} tokens" if before is not None else ""
            return f"{entry.type}{size}", _text_lines(str(fields.get("summary", "")))
        case "custom":
            return f"custom {fields.get('customType')}", _json_lines(fields.get("data"))
        case _:
            return entry.type or "entry without a type", _json_lines(fields)


def _title(message: Message) -> str:
    match message:
        case AssistantMessage():
            cost = "cost unknown" if message.cost_usd is None else f"${message.cost_usd:.4f}"
            usage = "usage unknown" if message.usage is None else _usage(message.usage)
            error = f", {message.error_message}" if message.error_message else ""
            model = f"{message.provider}/{message.model}"
            return f"assistant {model}: {message.stop_reason}{error}; {usage}, {cost}"
        case ToolResultMessage():
            kind = f" ({message.error_kind})" if message.error_kind else ""
            error = f": error{kind}" if message.is_error else ""
            return f"result of {message.tool_name} for {message.tool_call_id}{error}"
        case SystemMessage() | UserMessage():
            return message.role


def _body(message: Message) -> Iterator[str]:
    if isinstance(message, SystemMessage):
        yield from _text_lines(message.content)
        for name, text in message.sections.items():
            yield f"section {_line(name)}:"
            yield from _text_lines(str(text))
        if message.tools_added:
            yield f"tools: {_line(', '.join(tool.name for tool in message.tools_added))}"
        return
    for block in message.content:
        yield from _block(block)
    if isinstance(message, ToolResultMessage):
        yield from _details(message.details)


def _details(details: Mapping[str, Any]) -> Iterator[str]:
    """What logs see beside a result; of a script's calls one line each."""
    rest = {name: value for name, value in details.items() if name != "nestedCalls"}
    if rest:
        yield "details:"
        yield from (f"  {line}" for line in _json_lines(rest))
    nested = details.get("nestedCalls")
    calls = nested.get("calls") if isinstance(nested, Mapping) else None
    if isinstance(calls, list) and calls:
        yield "calls of the script:"
        for call in calls:
            known = call if isinstance(call, Mapping) else {}
            yield _line(f"  {known.get('name')} {known.get('id')}: {known.get('status')}")


def _block(block: TextBlock | ThinkingBlock | ImageBlock | ToolCall) -> Iterator[str]:
    match block:
        case TextBlock():
            yield from _text_lines(block.text)
        case ThinkingBlock():
            yield "thinking (redacted)" if block.is_redacted else "thinking:"
            yield from (f"  {line}" for line in _text_lines(block.thinking))
        case ImageBlock():
            yield _line(f"image {block.mime_type}, about {len(block.data) * 3 // 4} bytes")
        case ToolCall():
            yield _line(f"-> {block.name} {block.id}")
            if block.arguments is None:
                yield "  arguments that are no JSON object:"
                yield from (f"  {line}" for line in _text_lines(block.raw_arguments))
            else:
                yield from (f"  {line}" for line in _argument_lines(block.arguments))


def _argument_lines(arguments: Mapping[str, Any]) -> Iterator[str]:
    """One argument a line; texts of several lines below their name, as they are."""
    for name, value in arguments.items():
        if isinstance(value, str) and "\n" in value:
            yield f"{_line(name)}:"
            yield from (f"  {line}" for line in _text_lines(value))
        else:
            text = value if isinstance(value, str) else _json(value)
            yield f"{_line(name)}: {_line(text)}"


def _totals(session: SessionFile) -> Iterator[str]:
    """What the whole file cost, abandoned branches and summaries included."""
    replies = sum(isinstance(message, AssistantMessage) for message in messages(session.entries))
    spent = total_spent(session.entries)
    tokens = _usage(spent.usage)
    yield f"{len(session.entries)} entries, {replies} replies; {tokens}, ${spent.cost_usd:.4f}"
    if spent.unknown_costs:
        yield f"cost unknown for {spent.unknown_costs} of {spent.requests} requests"


def _usage(usage: Usage) -> str:
    parts = [f"{usage.input_tokens} in", f"{usage.output_tokens} out"]
    if usage.cache_read_tokens or usage.cache_write_tokens:
        parts += [f"{usage.cache_read_tokens} cache read", f"{usage.cache_write_tokens} cache write"]
    return f"tokens {', '.join(parts)}"


def _text_lines(text: str) -> list[str]:
    return visible(text).rstrip("\n").split("\n") if text.strip() else []


def _line(text: str) -> str:
    """Text on one line, newlines and tabs visible."""
    return visible(text).replace("\n", "\\n").replace("\t", "\\t")


def _json_lines(value: Any) -> list[str]:
    return [] if value in (None, {}) else _text_lines(_json(value, indent=2))


def _json(value: Any, indent: int | None = None) -> str:
    try:
        return json.dumps(value, ensure_ascii=False, indent=indent, default=str)
    except RecursionError:
        return "(nested too deeply)"
