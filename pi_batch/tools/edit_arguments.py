"""What edit takes, in every spelling that models use for it."""

from __future__ import annotations

import json
from typing import Annotated, Any

from msgspec.structs import replace

from pi_batch.arguments import ToolArguments, said
from pi_batch.tools.arguments import PATH_SPELLINGS

OLD_SPELLINGS = ("oldText", "old_text", "oldString", "old_str", "oldStr", "search")
NEW_SPELLINGS = ("newText", "new_text", "newString", "new_str", "newStr", "replace", "replacement")
ALL_SPELLINGS = ("replaceAll", "all")


class Change(ToolArguments, frozen=True, kw_only=True):
    """One replacement."""

    old_string: Annotated[
        str, said("Exact text to replace; must stand in the file exactly once.", *OLD_SPELLINGS)
    ]
    new_string: Annotated[str, said("Text to put in its place.", *NEW_SPELLINGS)]
    replace_all: Annotated[bool, said("Replace every place instead.", *ALL_SPELLINGS)] = False


def _from_json_text(value: Any) -> Any:
    """Some models send the list as JSON text, or the only edit without a list."""
    if isinstance(value, str):
        try:
            value = json.loads(value)
        except ValueError as error:
            raise ValueError(f"got text that is no JSON list ({error}), expected a list of edits") from error
    return [value] if isinstance(value, dict) else value


class EditArguments(ToolArguments, frozen=True, kw_only=True):
    """What edit takes: one replacement, or a list of them."""

    path: Annotated[str, said("File to edit, relative to the workspace or absolute.", *PATH_SPELLINGS)]
    old_string: Annotated[
        str | None,
        said(
            "Exact text to replace, line breaks and indentation included; must stand in the file "
            "exactly once.",
            *OLD_SPELLINGS,
        ),
    ] = None
    new_string: Annotated[str | None, said("Text to put in its place.", *NEW_SPELLINGS)] = None
    replace_all: Annotated[bool, said("Replace every place of old_string.", *ALL_SPELLINGS)] = False
    edits: Annotated[
        tuple[Change, ...] | None,
        said(
            "Several replacements at once, instead of old_string and new_string. Each is matched "
            "against the file as it is now; they must not overlap. All are made or none.",
            coerce=_from_json_text,
        ),
    ] = None

    def __post_init__(self) -> None:
        if (self.old_string is None) != (self.new_string is None):
            name = "new_string" if self.new_string is None else "old_string"
            raise ValueError(f"{name}: missing")
        if not self.changes:
            raise ValueError("nothing to do: give old_string and new_string, or edits")

    @property
    def changes(self) -> tuple[Change, ...]:
        """All replacements, in the order given."""
        changes = self.edits or ()
        if self.replace_all:
            changes = tuple(replace(change, replace_all=True) for change in changes)
        if self.old_string is None or self.new_string is None:
            return changes
        if changes and not self.old_string and not self.new_string:
            return changes  # filled in because the schema names them
        one = Change(old_string=self.old_string, new_string=self.new_string, replace_all=self.replace_all)
        return (*changes, one)
