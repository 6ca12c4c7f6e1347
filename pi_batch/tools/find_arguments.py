"""What find takes, in every spelling that models use for it."""

from __future__ import annotations

from pydantic import AliasChoices, Field

from pi_batch.tools.arguments import PATH_SPELLINGS, Limit, ToolArguments
from pi_batch.tools.find import DEFAULT_LIMIT


class FindArguments(ToolArguments):
    """What find takes."""

    pattern: str = Field(
        validation_alias=AliasChoices("pattern", "glob", "name", "query"),
        description="Glob: *.py looks at names, src/**/*.ts (with a slash) at paths; {a,b} and [abc] work.",
    )
    path: str = Field(default=".", validation_alias=PATH_SPELLINGS, description="Directory to search.")
    limit: Limit | None = Field(
        default=None,
        validation_alias=AliasChoices("limit", "max_results"),
        description=f"Most files to give. Left out: {DEFAULT_LIMIT}.",
    )
