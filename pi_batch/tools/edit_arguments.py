"""What edit takes, in every spelling that models use for it."""

from __future__ import annotations

import json
from typing import Any, Self

from pydantic import AliasChoices, Field, field_validator, model_validator

from pi_batch.tools.arguments import PATH_SPELLINGS, ToolArguments

OLD_SPELLINGS = AliasChoices("old_string", "oldText", "old_text", "oldString", "old_str", "oldStr", "search")
NEW_SPELLINGS = AliasChoices(
    "new_string", "newText", "new_text", "newString", "new_str", "newStr", "replace", "replacement"
)
ALL_SPELLINGS = AliasChoices("replace_all", "replaceAll", "all")


class Change(ToolArguments):
    """One replacement."""

    old_string: str = Field(
        validation_alias=OLD_SPELLINGS,
        description="Exact text to replace; must stand in the file exactly once.",
    )
    new_string: str = Field(validation_alias=NEW_SPELLINGS, description="Text to put in its place.")
    replace_all: bool = Field(
        default=False, validation_alias=ALL_SPELLINGS, description="Replace every place instead."
    )


class EditArguments(ToolArguments):
    """What edit takes: one replacement, or a list of them."""

    path: str = Field(
        validation_alias=PATH_SPELLINGS, description="File to edit, relative to the workspace or absolute."
    )
    old_string: str | None = Field(
        default=None,
        validation_alias=OLD_SPELLINGS,
        description="Exact text to replace, line breaks and indentation included; must stand in the file "
        "exactly once.",
    )
    new_string: str | None = Field(
        default=None, validation_alias=NEW_SPELLINGS, description="Text to put in its place."
    )
    replace_all: bool = Field(
        default=False, validation_alias=ALL_SPELLINGS, description="Replace every place of old_string."
    )
    edits: tuple[Change, ...] | None = Field(
        default=None,
        description="Several replacements at once, instead of old_string and new_string. Each is matched "
        "against the file as it is now; they must not overlap. All are made or none.",
    )

    @field_validator("edits", mode="before")
    @classmethod
    def _from_json_text(cls, value: Any) -> Any:
        """Some models send the list as JSON text, or the only edit without a list."""
        if isinstance(value, str):
            try:
                value = json.loads(value)
            except ValueError as error:
                raise ValueError(
                    f"got text that is no JSON list ({error}), expected a list of edits"
                ) from error
        return [value] if isinstance(value, dict) else value

    @model_validator(mode="after")
    def _has_a_change(self) -> Self:
        if (self.old_string is None) != (self.new_string is None):
            name = "new_string" if self.new_string is None else "old_string"
            raise ValueError(f"{name}: missing")
        if not self.changes:
            raise ValueError("nothing to do: give old_string and new_string, or edits")
        return self

    @property
    def changes(self) -> tuple[Change, ...]:
        """All replacements, in the order given."""
        changes = self.edits or ()
        if self.replace_all:
            changes = tuple(change.model_copy(update={"replace_all": True}) for change in changes)
        if self.old_string is None or self.new_string is None:
            return changes
        if changes and not self.old_string and not self.new_string:
            return changes  # filled in because the schema names them
        one = Change(old_string=self.old_string, new_string=self.new_string, replace_all=self.replace_all)
        return (*changes, one)
