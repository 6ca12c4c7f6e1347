"""find: files by name."""

from __future__ import annotations

from typing import Annotated

from pi_batch.arguments import ToolArguments, said
from pi_batch.errors import ToolError
from pi_batch.messages import TextBlock
from pi_batch.protocols import ToolContext, ToolOutput
from pi_batch.spec import PathRules
from pi_batch.text import truncate_head
from pi_batch.tools.arguments import PATH_SPELLINGS, Limit
from pi_batch.tools.paths import printable
from pi_batch.tools.search import MAX_LIMIT, limit_of, refuse_cut, search
from pi_batch.tools.wording import with_notes

DEFAULT_LIMIT = 1000


class FindArguments(ToolArguments, frozen=True, kw_only=True):
    """What find takes."""

    pattern: Annotated[
        str,
        said(
            "Glob: *.py looks at names, src/**/*.ts (with a slash) at paths; {a,b} and [abc] work.",
            "glob",
            "name",
            "query",
        ),
    ]
    path: Annotated[str, said("Directory to search.", *PATH_SPELLINGS)] = "."
    limit: Annotated[Limit | None, said(f"Most files to give. Left out: {DEFAULT_LIMIT}.", "max_results")] = (
        None
    )


class Find:
    """Lists files and links whose name or path fits, relative to the workspace, sorted.

    Directories are no results: where nothing else fits they are named in a note. `value`: the paths.
    """

    name = "find"
    description = (
        "Find files by glob. Gives paths relative to the workspace, sorted. Honours .gitignore, sees dot "
        f"files, never .git. At most {DEFAULT_LIMIT} files unless limit says more."
    )
    arguments = FindArguments
    is_read_only = True
    returns = "list[str]"

    def __init__(self, rules: PathRules | None = None) -> None:
        self._rules = rules or PathRules()

    def written_paths(self, arguments: FindArguments) -> tuple[str, ...]:
        """Nothing is written."""
        return ()

    async def run(self, arguments: FindArguments, context: ToolContext) -> ToolOutput:
        """Search. Nothing found is no error. Raises: ToolError saying what is wrong with the path."""
        if not arguments.pattern:
            raise ToolError("pattern: is empty. Give a glob, for example *.py or src/**.")
        limit = limit_of(arguments.limit, context, DEFAULT_LIMIT)
        found = await search(
            context, arguments.path, "find", self._rules, {"pattern": arguments.pattern, "limit": limit}
        )
        paths = [printable(record["path"]) for record in found.records if "path" in record]
        directories = [printable(record["directory"]) for record in found.records if "directory" in record]
        notes = list(found.notes)
        if found.is_more:
            refuse_cut(context, arguments.limit, "files")
            notes.insert(0, f"{limit} files limit reached. Narrow the search, or use limit={limit * 2}")
        if directories and not paths:
            notes.insert(0, f"Directories that match: {', '.join(f'{name}/' for name in directories)}")
        shown = truncate_head("\n".join(paths) or "No files found", MAX_LIMIT)
        if shown.is_truncated:
            notes.append(f"Truncated: {shown.kept_lines} of {shown.total_lines} paths shown (50 KB limit)")
        details = {"files": len(paths), "is_more": found.is_more, "is_truncated": shown.is_truncated}
        return ToolOutput((TextBlock(with_notes(shown.text, notes)),), details, value=paths)
