"""grep: lines that match, in all files below a path."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Annotated, Any

from pi_batch.arguments import ToolArguments, said
from pi_batch.errors import ToolError
from pi_batch.messages import TextBlock
from pi_batch.protocols import ToolContext, ToolOutput
from pi_batch.spec import PathRules
from pi_batch.text import truncate_head
from pi_batch.tools.arguments import PATH_SPELLINGS, Limit
from pi_batch.tools.paths import printable
from pi_batch.tools.search import MAX_LIMIT, limit_of, refuse_cut, search
from pi_batch.tools.search_lines import MAX_LINE_CHARS
from pi_batch.tools.wording import with_notes

DEFAULT_LIMIT = 100
MAX_CONTEXT_LINES = 50


class GrepArguments(ToolArguments, frozen=True, kw_only=True):
    """What grep takes."""

    pattern: Annotated[
        str, said("Regular expression, matched line by line; or plain text with literal.", "query", "regex")
    ]
    path: Annotated[str, said("File or directory to search.", *PATH_SPELLINGS)] = "."
    glob: Annotated[
        str | None, said("Only files like this, as *.py or src/**/*.ts; !*.md leaves out.", "include")
    ] = None
    ignore_case: Annotated[
        bool, said("Match upper and lower case alike.", "ignoreCase", "case_insensitive", "-i")
    ] = False
    literal: Annotated[bool, said("Take the pattern as plain text.", "fixed_strings", "fixedStrings")] = False
    context: Annotated[
        int, said("Lines to show before and after each match.", "context_lines", "-C", ge=0)
    ] = 0
    limit: Annotated[
        Limit | None, said(f"Most matches to give. Left out: {DEFAULT_LIMIT}.", "max_results", "head_limit")
    ] = None


class Grep:
    """Searches with ripgrep where it is on the PATH, with Python's `re` otherwise: same form, same order.

    Paths are relative to the workspace, so that they can be used as they are in the next call. `value`:
    {path, line, text} of each match.
    """

    name = "grep"
    description = (
        "Search file contents. Gives path:line: text, sorted by path. Honours .gitignore, sees dot files, "
        f"never .git or binary files. At most {DEFAULT_LIMIT} matches unless limit says more; long lines "
        f"are cut to {MAX_LINE_CHARS} characters."
    )
    arguments = GrepArguments
    is_read_only = True
    returns = "list[dict]  # path: str, line: int, text: str"

    def __init__(self, rules: PathRules | None = None) -> None:
        self._rules = rules or PathRules()

    def written_paths(self, arguments: GrepArguments) -> tuple[str, ...]:
        """Nothing is written."""
        return ()

    async def run(self, arguments: GrepArguments, context: ToolContext) -> ToolOutput:
        """Search. No match is no error. Raises: ToolError quoting what is wrong with the pattern or path."""
        if not arguments.pattern:
            raise ToolError("pattern: is empty, and would match every line. Give what to look for.")
        limit = limit_of(arguments.limit, context, DEFAULT_LIMIT)
        found = await search(
            context,
            arguments.path,
            "grep",
            self._rules,
            {
                "pattern": arguments.pattern,
                "glob": arguments.glob or "",
                "ignore_case": arguments.ignore_case,
                "literal": arguments.literal,
                "context": min(arguments.context, MAX_CONTEXT_LINES),
                "limit": limit,
            },
        )
        matches = [_match(record) for record in found.records if record["is_match"]]
        notes = list(found.notes)
        if found.is_more:
            refuse_cut(context, arguments.limit, "matches")
            notes.insert(0, f"{limit} matches limit reached. Narrow the search, or use limit={limit * 2}")
        if not matches:
            return ToolOutput((TextBlock(with_notes("No matches found", notes)),), value=[])
        shown = truncate_head(
            "\n".join(_shown(found.records, has_context=arguments.context > 0)), MAX_LIMIT * 2
        )
        if shown.is_truncated:
            notes.append(f"Truncated: {shown.kept_lines} of {shown.total_lines} lines shown (50 KB limit)")
        details = {"matches": len(matches), "is_more": found.is_more, "is_truncated": shown.is_truncated}
        return ToolOutput((TextBlock(with_notes(shown.text, notes)),), details, value=matches)


def _match(record: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "path": printable(record["path"]),
        "line": record["line"],
        "text": _clean(record["text"]),
    }


def _shown(records: Sequence[Mapping[str, Any]], *, has_context: bool) -> Iterator[str]:
    """path:line: text for a match, path-line- text beside one, -- between places."""
    before: tuple[str, int] | None = None
    for record in records:
        path, number = record["path"], record["line"]
        if has_context and before is not None and before != (path, number - 1):
            yield "--"
        before = (path, number)
        mark = ":" if record["is_match"] else "-"
        yield f"{printable(path)}{mark}{number}{mark} {_clean(record['text'])}"


def _clean(text: str) -> str:
    return text.replace("\0", "\ufffd")
