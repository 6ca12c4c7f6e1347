"""What write takes, in every spelling that models use for it."""

from __future__ import annotations

from pydantic import AliasChoices, Field

from pi_batch.tools.arguments import PATH_SPELLINGS, ToolArguments


class WriteArguments(ToolArguments):
    """What write takes."""

    path: str = Field(
        validation_alias=PATH_SPELLINGS, description="File to write, relative to the workspace or absolute."
    )
    content: str = Field(
        validation_alias=AliasChoices("content", "contents", "text", "file_text"),
        description="The whole new content; an empty string empties the file.",
    )
