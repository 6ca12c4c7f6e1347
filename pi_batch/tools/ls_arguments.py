"""What ls takes, in every spelling that models use for it."""

from __future__ import annotations

from pydantic import AliasChoices, Field

from pi_batch.tools.arguments import PATH_SPELLINGS, Limit, ToolArguments
from pi_batch.tools.ls import DEFAULT_LIMIT


class LsArguments(ToolArguments):
    """What ls takes."""

    path: str = Field(default=".", validation_alias=PATH_SPELLINGS, description="Directory to list.")
    limit: Limit | None = Field(
        default=None,
        validation_alias=AliasChoices("limit", "max_entries"),
        description=f"Most entries to give. Left out: {DEFAULT_LIMIT}.",
    )
