"""What grep takes, in every spelling that models use for it."""

from __future__ import annotations

from typing import Annotated

from pydantic import AliasChoices, Field

from pi_batch.tools.arguments import PATH_SPELLINGS, Limit, ToolArguments
from pi_batch.tools.grep import DEFAULT_LIMIT


class GrepArguments(ToolArguments):
    """What grep takes."""

    pattern: str = Field(
        validation_alias=AliasChoices("pattern", "query", "regex"),
        description="Regular expression, matched line by line; or plain text with literal.",
    )
    path: str = Field(
        default=".", validation_alias=PATH_SPELLINGS, description="File or directory to search."
    )
    glob: str | None = Field(
        default=None,
        validation_alias=AliasChoices("glob", "include"),
        description="Only files like this, as *.py or src/**/*.ts; !*.md leaves out.",
    )
    ignore_case: bool = Field(
        default=False,
        validation_alias=AliasChoices("ignore_case", "ignoreCase", "case_insensitive", "-i"),
        description="Match upper and lower case alike.",
    )
    literal: bool = Field(
        default=False,
        validation_alias=AliasChoices("literal", "fixed_strings", "fixedStrings"),
        description="Take the pattern as plain text.",
    )
    context: Annotated[int, Field(ge=0)] = Field(
        default=0,
        validation_alias=AliasChoices("context", "context_lines", "-C"),
        description="Lines to show before and after each match.",
    )
    limit: Limit | None = Field(
        default=None,
        validation_alias=AliasChoices("limit", "max_results", "head_limit"),
        description=f"Most matches to give. Left out: {DEFAULT_LIMIT}.",
    )
