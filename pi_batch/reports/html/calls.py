"""Tool calls with their results: a line that says what was done, and behind it what came of it."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from pi_batch.encoders import plain_line
from pi_batch.messages import ImageBlock, JsonObject, ToolCall, ToolResultMessage
from pi_batch.reports.html.prose import shown
from pi_batch.reports.html.values import (
    Badge,
    Diff,
    DiffLine,
    Fact,
    Facts,
    Fold,
    Image,
    InnerCall,
    InnerCalls,
    Mark,
    Part,
    Pre,
    PreStyle,
)

IMAGE_TYPES = frozenset({"image/png", "image/jpeg", "image/gif", "image/webp"})
BASE64 = re.compile(r"[A-Za-z0-9+/]+={0,2}")
MAX_IMAGE_CHARS = 8_000_000
TITLE_CHARS = 160
MAX_DIFF_LINES = 2_000
MAX_INNER_CALLS = 500
TITLE_KEYS = ("path", "file_path", "pattern", "query", "url", "thought", "name")
"""Arguments that say what a call is about, the best first."""
STATUS_MARKS: Mapping[str, Mark] = {"ok": "good", "error": "bad"}
PATTERN_TOOLS = frozenset({"grep", "find"})


def call_fold(call: ToolCall, result: ToolResultMessage | None, result_id: str, label: str) -> Fold:
    """A call and its result, folded; `result_id` is the result's entry."""
    title = (
        "arguments are no JSON object" if call.arguments is None else call_title(call.name, call.arguments)
    )
    command = _text((call.arguments or {}).get("command")) if call.name == "bash" else ""
    parts = (*_asked(call, result), *_came(call.name, result, shown(command)))
    return Fold(
        plain_line(call.name, 60) or "(no name)",
        title,
        parts,
        id=result_id,
        label=label,
        badges=tuple(_badges(result)),
        is_code=True,
    )


def result_parts(result: ToolResultMessage) -> tuple[Part, ...]:
    """A result whose call is not at hand."""
    return tuple(_came(result.tool_name, result))


def result_badges(result: ToolResultMessage) -> tuple[Badge, ...]:
    """How a call ended."""
    return tuple(_badges(result))


def call_title(name: str, arguments: JsonObject) -> str:
    """What a call is about, on one line."""
    if name == "bash":
        return _first_line(_text(arguments.get("command")))
    if name == "codemode":
        script = _text(arguments.get("script") or arguments.get("code"))
        return f"{_first_line(script)} ({_count(script.strip().count(chr(10)) + 1, 'line')})"
    if name in PATTERN_TOOLS and arguments.get("pattern"):
        where = f" in {arguments['path']}" if arguments.get("path") else ""
        return _first_line(f"{arguments['pattern']}{where}")
    for key in TITLE_KEYS:
        if _text(arguments.get(key)):
            return _first_line(_text(arguments[key]))
    return plain_line(_json(arguments), TITLE_CHARS) if arguments else ""


def image(block: ImageBlock) -> Image:
    """An image inline, by the types that pages show."""
    size = f"{block.mime_type}, about {len(block.data) * 3 // 4:,} bytes"
    is_shown = block.mime_type in IMAGE_TYPES and len(block.data) <= MAX_IMAGE_CHARS
    if not is_shown or not BASE64.fullmatch(block.data):
        return Image("", plain_line(f"image not shown: {size}"))
    return Image(f"data:{block.mime_type};base64,{block.data}", size)


def diff(text: str) -> Diff:
    """A diff's lines by their signs."""
    lines = shown(text).split("\n")
    more = len(lines) - MAX_DIFF_LINES
    kept = [_diff_line(line) for line in lines[:MAX_DIFF_LINES]]
    return Diff((*kept, *([DiffLine(f"… {more:,} more lines", "at")] if more > 0 else [])))


def fields(arguments: JsonObject) -> Facts:
    """Names and values, texts as they are and the rest as JSON."""
    return Facts(
        tuple(
            Fact(plain_line(name, 60), shown(value if isinstance(value, str) else _json(value)))
            for name, value in arguments.items()
        )
    )


def _badges(result: ToolResultMessage | None) -> Iterator[Badge]:
    if result is None:
        yield Badge("no result", "warn")
        return
    code, duration = result.details.get("exit_code"), result.details.get("duration_s")
    if result.error_kind == "denied":
        yield Badge("denied", "warn")
    elif result.is_error:
        kind = (result.error_kind or "").replace("_", " ")
        yield Badge(f"error: {kind}" if kind and kind != "failed" else "error", "bad")
    if isinstance(code, int) and not isinstance(code, bool) and code:
        yield Badge(f"exit {code}", "bad")
    if result.details.get("timed_out") is True and result.error_kind != "timeout":
        yield Badge("timed out", "bad")
    if isinstance(duration, int | float) and not isinstance(duration, bool):
        yield Badge(f"{duration:.1f} s")


def _asked(call: ToolCall, result: ToolResultMessage | None) -> Iterator[Part]:
    """What was asked, where the result does not show it."""
    arguments = call.arguments
    if arguments is None:
        yield Pre(shown(call.raw_arguments))
        return
    match call.name:
        case "bash":
            rest = {name: value for name, value in arguments.items() if name != "command"}
        case "codemode":
            yield Pre(shown(_text(arguments.get("script") or arguments.get("code"))))
            rest = {name: value for name, value in arguments.items() if name not in ("script", "code")}
        case "write":
            yield Diff(tuple(DiffLine(f"+{line}", "add") for line in _lines(arguments.get("content"))))
            rest = {name: value for name, value in arguments.items() if name not in ("path", "content")}
        case "edit":
            if result is None or not _recorded_diff(result):
                yield Diff(tuple(_edit_lines(arguments)))
            rest = {}
        case _:
            rest = dict(arguments)
    if rest and rest.keys() != {"path"}:
        yield fields(rest)


def _came(name: str, result: ToolResultMessage | None, command: str = "") -> Iterator[Part]:
    """What came of it, a command before its output."""
    if result is None:
        yield from [Pre("", "terminal", command)] if command else []
        return
    inner = result.details.get("nestedCalls")
    if isinstance(inner, Mapping):
        yield _inner_calls(inner)
    recorded = _recorded_diff(result)
    if recorded:
        yield diff(recorded)
    style: PreStyle = "terminal" if command or (name == "bash" and not result.is_error) else "code"
    if command or (result.text and (result.is_error or not recorded)):
        yield Pre(shown(result.text), style, command)
    for block in result.content:
        if isinstance(block, ImageBlock):
            yield image(block)
    path = result.details.get("full_output_path")
    if isinstance(path, str) and path:
        yield Facts((Fact("whole output", plain_line(path)),))


def _recorded_diff(result: ToolResultMessage) -> str:
    """The diff that an edit left: ours and pi's."""
    return _text(result.details.get("diff")) or _text(result.details.get("patch"))


def _edit_lines(arguments: JsonObject) -> Iterator[DiffLine]:
    """What an edit would have changed."""
    edits = arguments.get("edits")
    pieces = [edit for edit in edits if isinstance(edit, Mapping)] if isinstance(edits, list) else [arguments]
    for number, piece in enumerate(pieces, start=1):
        if len(pieces) > 1:
            yield DiffLine(f"@@ edit {number} @@", "at")
        for line in _lines(piece.get("old_string") or piece.get("oldText")):
            yield DiffLine(f"-{line}", "del")
        for line in _lines(piece.get("new_string") or piece.get("newText")):
            yield DiffLine(f"+{line}", "add")


def _lines(value: object) -> Sequence[str]:
    text = _text(value)
    lines = shown(text).split("\n") if text else []
    return [*lines[:MAX_DIFF_LINES], *(["…"] if len(lines) > MAX_DIFF_LINES else [])]


def _diff_line(line: str) -> DiffLine:
    if line.startswith(("+++", "---", "@@", "diff ", "index ")):
        return DiffLine(line, "at")
    if line.startswith("+"):
        return DiffLine(line, "add")
    return DiffLine(line, "del" if line.startswith("-") else "")


def _inner_calls(nested: Mapping[str, Any]) -> InnerCalls:
    """A script's calls; bars by time where the records have it."""
    calls = nested.get("calls")
    records = [call for call in calls if isinstance(call, Mapping)] if isinstance(calls, list) else []
    starts = [_number(record.get("startMs")) for record in records]
    ends = [start + _number(record.get("durationMs")) for start, record in zip(starts, records, strict=True)]
    whole = max(ends, default=0.0) or 1.0
    shown_records = records[:MAX_INNER_CALLS]
    rows = (_inner_call(record, start, whole) for record, start in zip(shown_records, starts, strict=False))
    note = _count(len(records), "call")
    if nested.get("complete") is False:
        note += ", and more that were not recorded"
    if len(records) > MAX_INNER_CALLS:
        note += f"; the first {MAX_INNER_CALLS} are shown"
    return InnerCalls(tuple(rows), note)


def _inner_call(record: Mapping[str, Any], start_ms: float, whole_ms: float) -> InnerCall:
    name, status = plain_line(_text(record.get("name")), 60), _text(record.get("status"))
    arguments, error = record.get("arguments"), _text(record.get("error"))
    title = call_title(name, arguments) if isinstance(arguments, Mapping) else ""
    duration = _number(record.get("durationMs"))
    return InnerCall(
        name,
        plain_line(f"{title} {error}".strip(), TITLE_CHARS),
        Badge(plain_line(status, 20) or "unknown", STATUS_MARKS.get(status, "warn")),
        f"{duration:,.0f} ms" if "durationMs" in record else "",
        round(100 * start_ms / whole_ms, 2),
        round(100 * duration / whole_ms, 2),
    )


def _number(value: object) -> float:
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return float(value) if is_number and 0 <= value < 1e12 else 0.0  # type: ignore[arg-type,operator]


def _first_line(text: str) -> str:
    lines = text.strip().split("\n")
    return plain_line(f"{lines[0]} …" if len(lines) > 1 else lines[0], TITLE_CHARS)


def _count(number: int, what: str) -> str:
    return f"{number:,} {what}{'' if number == 1 else 's'}"


def _json(value: object) -> str:
    try:
        return json.dumps(value, ensure_ascii=False, default=str)
    except (RecursionError, ValueError):
        return "(nested too deeply)"


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""
