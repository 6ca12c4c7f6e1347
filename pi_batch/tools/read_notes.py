"""What read says beside the lines: what was left out and how to get it, what is not text, what is blank."""

from __future__ import annotations

import shlex
from typing import Any

from pi_batch.errors import ToolError
from pi_batch.messages import TextBlock
from pi_batch.protocols import ToolOutput
from pi_batch.tools.paths import RegularFile
from pi_batch.tools.read_text import MAX_BYTES, Window
from pi_batch.tools.wording import count_of, size_of, with_notes
from pi_batch.wording import quoted


def text_output(file: RegularFile, window: Window, first_byte: int | None, note: str = "") -> ToolOutput:
    """The window with what the model has to know about it.

    first_byte: where the text begins in the file, behind a byte order mark; None for converted text,
    whose positions are not the file's. Raises: ToolError for an offset beyond the end.
    """
    if window.last_line < window.first_line:
        return _beyond_end(file, window)
    notes = [_blank(window)] if not window.text.strip() else []
    if window.stopped_by != "end":
        notes.append(_rest(file, window, first_byte))
    if window.replaced:
        notes.append(
            f"{count_of(window.replaced, 'byte')} not valid in UTF-8 text, shown as \ufffd; an edit of "
            "other text keeps them"
        )
    if note:
        notes.append(note)
    text = with_notes(window.text.removesuffix("\n"), notes) if notes else window.text
    is_as_asked = window.stopped_by in ("end", "limit")
    return ToolOutput((TextBlock(text),), _details(window), value=window.text if is_as_asked else None)


def _details(window: Window) -> dict[str, Any]:
    if window.stopped_by == "end":
        return {}
    return {
        "truncation": {
            "stopped_by": window.stopped_by,
            "first_line": window.first_line,
            "last_line": window.last_line,
            "total_lines": window.total_lines,
        }
    }


def _beyond_end(file: RegularFile, window: Window) -> ToolOutput:
    if not window.total_lines and window.first_line == 1:
        return ToolOutput((TextBlock(f"[{file.shown} is empty: 0 bytes.]"),), value="")
    raise ToolError(
        f"{file.shown}: offset {window.first_line} is beyond the end of the file, "
        f"which has {count_of(window.total_lines or 0, 'line')}."
    )


def _blank(window: Window) -> str:
    if window.text.strip("\n"):
        return f"Nothing but blanks: {quoted(window.text)}"
    return f"{count_of(window.last_line - window.first_line + 1, 'blank line')}, nothing else"


def _rest(file: RegularFile, window: Window, first_byte: int | None) -> str:
    """What was left out and how to get it; following the advice always makes progress."""
    following = window.last_line + 1
    if window.stopped_by == "line":
        return _rest_of_line(file, window, first_byte, following)
    if window.stopped_by == "limit" and window.total_lines is not None:
        left = window.total_lines - window.last_line
        return f"{count_of(left, 'more line')} in the file. Use offset={following} to continue"
    total = f"{window.total_lines} lines" if window.total_lines else size_of(file.stat.size_bytes)
    why = f" ({MAX_BYTES // 1024} KB limit)" if window.stopped_by == "bytes" else ""
    return (
        f"Truncated: showing lines {window.first_line}-{window.last_line} of {total}{why}. "
        f"Use offset={following} to continue"
    )


def _rest_of_line(file: RegularFile, window: Window, first_byte: int | None, following: int) -> str:
    rest = ""
    if first_byte is not None:
        position = window.end + first_byte + 1
        rest = f". Its rest with bash: tail -c +{position} {shlex.quote(file.path)} | head -c {MAX_BYTES}"
    is_last = window.total_lines == window.last_line
    after = "" if is_last else f". Use offset={following} for the lines after it"
    shown = size_of(len(window.text.encode("utf-8", "replace")))
    return f"Line {window.last_line} is too long: truncated to its first {shown}{rest}{after}"
