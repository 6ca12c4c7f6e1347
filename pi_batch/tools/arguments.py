"""What the argument models of all tools share: strictness, pi's spellings, and tolerance for habits."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import AliasChoices, BaseModel, BeforeValidator, ConfigDict, Field

PATH_SPELLINGS = AliasChoices("path", "file_path", "filePath", "filename", "file", "directory", "dir")
"""Names that models use for a path; only the first is in the schema."""


class ToolArguments(BaseModel):
    """Base of the tools' argument models: frozen, no unknown keys.

    The description of a field is what the model reads; pydantic would take it from a docstring as well, but
    parses the source for that at every start (1 ms a model). Other spellings of a name go into a validation
    alias whose first choice is the name itself: accepted, not shown.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")


def _from_one(value: Any) -> Any:
    """Models that count from 0 mean the first line."""
    return 1 if value in (0, "0") and not isinstance(value, bool) else value


LineNumber = Annotated[int, Field(ge=1), BeforeValidator(_from_one)]
"""From 1; 0 is taken as 1."""

Limit = Annotated[int, Field(ge=1)]
"""At most so many."""
