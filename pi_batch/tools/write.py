"""write: a file that holds exactly the given text."""

from __future__ import annotations

from typing import Annotated

from pi_batch.arguments import ToolArguments, said
from pi_batch.errors import ToolError
from pi_batch.messages import TextBlock
from pi_batch.protocols import ToolContext, ToolOutput
from pi_batch.tools.arguments import PATH_SPELLINGS
from pi_batch.tools.paths import printable, refuse_other_kinds, said_of, shown_path
from pi_batch.tools.wording import count_of


class WriteArguments(ToolArguments, frozen=True, kw_only=True):
    """What write takes."""

    path: Annotated[str, said("File to write, relative to the workspace or absolute.", *PATH_SPELLINGS)]
    content: Annotated[
        str, said("The whole new content; an empty string empties the file.", "contents", "text", "file_text")
    ]


class Write:
    """Writes the bytes of the text in UTF-8 and nothing else: no newline is added, no line end changed.

    The path is taken as given. What is a link is written through, within the workspace; mode and hard
    links of an existing file stay.
    """

    name = "write"
    description = (
        "Write a whole file: create it, with missing directories, or replace its content. "
        "To change part of a file use edit."
    )
    arguments = WriteArguments
    is_read_only = False
    returns = "str"

    def written_paths(self, arguments: WriteArguments) -> tuple[str, ...]:
        """The file."""
        return (arguments.path,)

    async def run(self, arguments: WriteArguments, context: ToolContext) -> ToolOutput:
        """Write. Raises: ToolError, and then the file is as it was."""
        content = utf8(arguments.content, "content")
        path = arguments.path
        if not path.strip() or path.endswith("/"):
            raise ToolError(f"path: got {path!r}, expected the name of a file.")
        if path.startswith("~"):
            raise ToolError(
                f"{printable(path)}: a leading ~ is not expanded. Use a path relative to the workspace."
            )
        real = await context.resolve(path, for_writing=True)
        shown = shown_path(context, real)
        with said_of(shown):
            before = await context.sandbox.stat(real)
            if before is not None:
                refuse_other_kinds(shown, before)
            await context.sandbox.write(real, content)
        done = "Created" if before is None else "Overwrote"
        lines = arguments.content.count("\n") + (not arguments.content.endswith("\n") and bool(content))
        text = f"{done} {shown}: {count_of(len(content), 'byte')}, {count_of(lines, 'line')}."
        return ToolOutput((TextBlock(text),), {"bytes": len(content), "is_new": before is None})


def utf8(text: str, name: str) -> bytes:
    """The text's bytes. Raises: ToolError for half a surrogate pair, which is no character."""
    try:
        return text.encode()
    except UnicodeEncodeError as error:
        lone = text[error.start]
        raise ToolError(
            f"{name}: holds {lone!a} at character {error.start}, half of a surrogate pair and no "
            "character. Write the character itself."
        ) from error
