"""What read takes, in every spelling that models use for it."""

from __future__ import annotations

from pydantic import AliasChoices, Field

from pi_batch.tools.arguments import PATH_SPELLINGS, Limit, LineNumber, ToolArguments


class ReadArguments(ToolArguments):
    """What read takes."""

    path: str = Field(
        validation_alias=PATH_SPELLINGS, description="File to read, relative to the workspace or absolute."
    )
    offset: LineNumber | None = Field(
        default=None,
        validation_alias=AliasChoices("offset", "start_line", "line", "startLine"),
        description="Line to start at, from 1.",
    )
    limit: Limit | None = Field(
        default=None,
        validation_alias=AliasChoices("limit", "max_lines", "num_lines", "lines"),
        description="Most lines to give.",
    )
