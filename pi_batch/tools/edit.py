"""edit: exact text replaced in one file, and not a byte besides."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence

from pi_batch.errors import ToolError
from pi_batch.messages import TextBlock
from pi_batch.protocols import ToolContext, ToolOutput
from pi_batch.text import truncate_head
from pi_batch.tools.edit_arguments import Change, EditArguments
from pi_batch.tools.edit_diff import Replacement, replaced, unified_diff
from pi_batch.tools.edit_hint import missing_hint
from pi_batch.tools.edit_match import (
    MAX_PLACES,
    MAX_REPLACED,
    Coding,
    Places,
    coding_of,
    new_bytes,
    places_of,
)
from pi_batch.tools.paths import regular_file, said_of
from pi_batch.tools.wording import count_of, size_of
from pi_batch.tools.write import utf8
from pi_batch.wording import quoted

MAX_FILE_BYTES = 64 * 1024 * 1024
"""The largest file that is edited; it is held in memory whole."""
SHOWN_DIFF_LINES = 120
SHOWN_DIFF_BYTES = 8 * 1024
"""What the model sees of the diff; `details` has up to 50 KB of it."""
SHOWN_PLACES = 10


class Edit:
    """Replaces text that stands in the file exactly once, or every place when asked.

    The file is read afresh, so an edit holds whenever its text is there, whatever happened to the rest.
    All replacements of a call are matched against the same content and made together or not at all.
    """

    name = "edit"
    description = (
        "Replace exact text in a file: old_string must stand in it exactly once (or set replace_all). "
        "Copy it from the file, indentation included, without line numbers. Several replacements go into "
        "edits. Gives a diff."
    )
    arguments = EditArguments
    is_read_only = False
    returns = "str"

    def written_paths(self, arguments: EditArguments) -> tuple[str, ...]:
        """The file."""
        return (arguments.path,)

    async def run(self, arguments: EditArguments, context: ToolContext) -> ToolOutput:
        """Replace. Raises: ToolError, and then the file is as it was."""
        changes = arguments.changes
        _refuse_empty(changes)
        file = await regular_file(context, arguments.path, for_writing=True)
        if file.stat.size_bytes > MAX_FILE_BYTES:
            raise ToolError(
                f"{file.shown}: {size_of(file.stat.size_bytes)}, more than the {size_of(MAX_FILE_BYTES)} "
                "that edit takes. Use sed or python with bash."
            )
        with said_of(file.shown):
            content = await context.sandbox.read(file.path)
        coding = coding_of(content)
        found = [_found(file.shown, content, coding, change, label) for label, change in _labelled(changes)]
        replacements = _in_order(file.shown, found)
        after = replaced(content, replacements)
        if after == content:
            raise ToolError(f"{file.shown}: the new text is the same as what is there. Nothing was changed.")
        with said_of(file.shown):
            await context.sandbox.write(file.path, after)
        loose = any(part.ignores_blanks for part in found)
        return _output(file.shown, content, replacements, coding, ignores_blanks=loose)


class _Found:
    """One change with the spans that it replaces."""

    def __init__(self, label: str, replacements: list[Replacement], *, ignores_blanks: bool) -> None:
        self.label = label
        self.replacements = replacements
        self.ignores_blanks = ignores_blanks


def _labelled(changes: Sequence[Change]) -> Iterator[tuple[str, Change]]:
    """Each change with how errors call its old text."""
    for position, change in enumerate(changes):
        yield ("old_string" if len(changes) == 1 else f"edits[{position}].old_string"), change


def _refuse_empty(changes: Sequence[Change]) -> None:
    for label, change in _labelled(changes):
        utf8(change.old_string, label)
        utf8(change.new_string, label.replace("old_", "new_"))
        if not change.old_string:
            raise ToolError(
                f"{label}: is empty, and would be found everywhere. Give the text to replace; "
                "use write for a new file or to replace the whole content."
            )
        if change.old_string == change.new_string:
            raise ToolError(f"{label}: is the same as the new text, so nothing would change.")


def _found(shown: str, content: bytes, coding: Coding, change: Change, label: str) -> _Found:
    """The spans of one change. Raises: ToolError when there is none, or more than may be."""
    places = places_of(content, change.old_string, coding, is_all=change.replace_all)
    spans = places.spans
    if not spans or (places.ignores_blanks and len(spans) > 1):
        raise ToolError(_not_found(shown, content, coding, change.old_string, label))
    if len(spans) > 1 and not change.replace_all:
        raise ToolError(_ambiguous(shown, content, places, label))
    if len(spans) >= MAX_REPLACED:
        raise ToolError(f"{shown}: {label} stands in {MAX_REPLACED} places or more. Use sed with bash.")
    replacements = []
    for start, end in spans:
        new = new_bytes(content, (start, end), change.old_string, change.new_string, places)
        if new is None:
            raise ToolError(
                f"{shown}: is not valid UTF-8, and the new text holds characters beyond ASCII that its "
                "encoding may not have. Nothing was changed. Use python or iconv with bash."
            )
        replacements.append(Replacement(start, end, new))
    return _Found(label, replacements, ignores_blanks=places.ignores_blanks)


def _in_order(shown: str, found: Sequence[_Found]) -> list[Replacement]:
    """All replacements by position. Raises: ToolError when two overlap."""
    placed = sorted(
        ((replacement, part.label) for part in found for replacement in part.replacements),
        key=lambda pair: (pair[0].start, pair[0].end),
    )
    for (before, one), (after, other) in itertools.pairwise(placed):
        if after.start < before.end:
            raise ToolError(
                f"{shown}: {one} and {other} overlap. Nothing was changed. Merge them into one edit."
            )
    return [replacement for replacement, _ in placed]


def _not_found(shown: str, content: bytes, coding: Coding, old: str, label: str) -> str:
    hint = missing_hint(coding.decoded(content), old) if content else "The file is empty."
    return f"{shown}: {label} not found: {quoted(old)}. Nothing was changed. {hint}".rstrip()


def _ambiguous(shown: str, content: bytes, places: Places, label: str) -> str:
    newline = "\n".encode(places.coding.codec)
    lines, counted_to, line = [], 0, 1
    for start, _ in places.spans[:SHOWN_PLACES]:
        line += content.count(newline, counted_to, start)
        counted_to = start
        lines.append(str(line))
    count = len(places.spans)
    number = f"{count} or more" if count >= MAX_PLACES else str(count)
    more = ", …" if count > SHOWN_PLACES else ""
    return (
        f"{shown}: {label} stands in {number} places (at lines {', '.join(lines)}{more}), so it is not clear "
        "which is meant. Nothing was changed. Add lines around it until it is unique, or set replace_all."
    )


def _output(
    shown: str, content: bytes, replacements: list[Replacement], coding: Coding, *, ignores_blanks: bool
) -> ToolOutput:
    diff = unified_diff(shown, content, replacements, coding.codec)
    seen = truncate_head(diff.text, SHOWN_DIFF_LINES, SHOWN_DIFF_BYTES)
    cut = "" if diff.is_complete and not seen.is_truncated else "\n[The diff is longer.]"
    how = " (blanks at line ends ignored)" if ignores_blanks else ""
    text = f"Edited {shown}: {count_of(len(replacements), 'replacement')}{how}.\n{seen.text}{cut}"
    details = {
        "diff": truncate_head(diff.text).text,
        "first_changed_line": diff.first_changed_line,
        "replacements": len(replacements),
    }
    return ToolOutput((TextBlock(text),), details)
