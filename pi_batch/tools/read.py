"""read: a text file's lines as plain text, or an image as a block."""

from __future__ import annotations

import base64
import codecs
import shlex
from typing import Annotated

from msgspec.structs import replace

from pi_batch.arguments import ToolArguments, said
from pi_batch.errors import ToolError
from pi_batch.messages import ImageBlock, TextBlock
from pi_batch.permissions import check_path
from pi_batch.protocols import ToolContext, ToolOutput
from pi_batch.spec import PathRules
from pi_batch.tools.arguments import PATH_SPELLINGS, Limit, from_one
from pi_batch.tools.images import image_facts, image_mime_type
from pi_batch.tools.paths import RegularFile, regular_file, said_of, variant, workspace_path
from pi_batch.tools.read_notes import text_output
from pi_batch.tools.read_text import (
    CHUNK_BYTES,
    MAX_BYTES,
    MAX_LINES,
    MAX_WHOLE_BYTES,
    Fetch,
    read_window,
    whole_text,
)
from pi_batch.tools.wording import size_of

SNIFF_BYTES = 8192
"""A NUL within so many bytes makes a file binary."""
IMAGE_BASE64_BYTES = 5 * 1024 * 1024
"""What services take for one image, counted as base64; the file may have three quarters of it."""
IMAGE_MAX_PX = 8000
WIDE_TEXT_BYTES = 32 * 1024 * 1024
"""The largest UTF-16 or UTF-32 file that is converted whole."""

_BOMS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
_BINARY_KINDS = (
    (b"\x7fELF", "ELF program"),
    (b"PK\x03\x04", "zip archive"),
    (b"\x1f\x8b", "gzip data"),
    (b"%PDF", "PDF document"),
    (b"SQLite format 3\0", "SQLite database"),
    (b"BM", "BMP image"),
)


class ReadArguments(ToolArguments, frozen=True, kw_only=True):
    """What read takes."""

    path: Annotated[str, said("File to read, relative to the workspace or absolute.", *PATH_SPELLINGS)]
    offset: Annotated[
        Limit | None, said("Line to start at, from 1.", "start_line", "line", "startLine", coerce=from_one)
    ] = None
    limit: Annotated[Limit | None, said("Most lines to give.", "max_lines", "num_lines", "lines")] = None


class Read:
    """Gives a file as it is: line text without numbers, so that it can be copied into an edit.

    The path is tried as given; only when nothing is there, a name that differs in blanks, quotes or
    Unicode form, or by a leading @, is taken (and checked against the rules again). ~ is not expanded.
    """

    name = "read"
    description = (
        f"Read a file: text as it is (at most {MAX_LINES} lines or {MAX_BYTES // 1024} KB a call; use "
        "offset and limit to go on), or a PNG, JPEG, GIF or WebP image. Lines are counted from 1."
    )
    arguments = ReadArguments
    is_read_only = True
    returns = "str"

    def __init__(self, rules: PathRules | None = None) -> None:
        self._rules = rules or PathRules()

    def written_paths(self, arguments: ReadArguments) -> tuple[str, ...]:
        """Nothing is written."""
        return ()

    async def run(self, arguments: ReadArguments, context: ToolContext) -> ToolOutput:
        """Give the file's text or image. Raises: ToolError saying what is there instead."""
        file = await self._find(arguments.path, context)
        with said_of(file.shown):
            head = await context.sandbox.read(file.path, limit_bytes=CHUNK_BYTES)
            if image_mime_type(head) is not None and b"\0" in head:
                return await _image(context, file, head)
            bom, codec = next(((bom, codec) for bom, codec in _BOMS if head.startswith(bom)), (b"", "utf-8"))
            if codec == "utf-8":
                _refuse_binary(file, head)
                return await _text(context, file, head, len(bom), arguments)
            return await _wide_text(context, file, codec, arguments)

    async def _find(self, path: str, context: ToolContext) -> RegularFile:
        """The file at the path as given, else at the one that is spelled a little differently."""
        try:
            return await regular_file(context, path, for_writing=False)
        except ToolError as missing:
            with said_of(path):
                other = await variant(context, path)
            if other is None or other == path:
                raise
            file = await regular_file(context, other, for_writing=False)
            if check_path(self._rules, workspace_path(context, file.path)) is not None:
                raise missing from None
            return file


async def _text(
    context: ToolContext, file: RegularFile, head: bytes, skipped: int, arguments: ReadArguments
) -> ToolOutput:
    """Lines of a file whose line ends are single bytes, `skipped` bytes of byte order mark left out."""

    async def fetch(position: int, length: int) -> bytes:
        return await context.sandbox.read(file.path, offset=position + skipped, limit_bytes=length)

    if skipped and len(head) == CHUNK_BYTES:
        head += await fetch(CHUNK_BYTES - skipped, skipped)
    window = await read_window(fetch, head[skipped:], arguments.offset or 1, arguments.limit)
    output = text_output(file, window, skipped)
    return await _for_script(context, file, fetch, arguments, output)


async def _wide_text(
    context: ToolContext, file: RegularFile, codec: str, arguments: ReadArguments
) -> ToolOutput:
    """Lines of a UTF-16 or UTF-32 file, converted whole."""
    if file.stat.size_bytes > WIDE_TEXT_BYTES:
        raise ToolError(
            f"{file.shown}: {codec} text of {size_of(file.stat.size_bytes)}, too large to convert. "
            f"With bash: iconv -f {codec[:-3]} -t utf-8 {shlex.quote(file.path)} > copy.txt, then read that."
        )
    raw = await context.sandbox.read(file.path)
    body = raw.decode(codec, "replace").removeprefix("\ufeff").encode("utf-8", "replace")

    async def fetch(position: int, length: int) -> bytes:
        return body[position : position + length]

    window = await read_window(fetch, body[:CHUNK_BYTES], arguments.offset or 1, arguments.limit)
    output = text_output(file, window, None, f"The file is {codec[:-3].upper()}; an edit keeps that")
    return await _for_script(context, file, fetch, arguments, output)


async def _for_script(
    context: ToolContext, file: RegularFile, fetch: Fetch, arguments: ReadArguments, output: ToolOutput
) -> ToolOutput:
    """The output with all that was asked for as its value, where a model gets less. Raises: ToolError."""
    if not context.is_inner or output.value is not None:
        return output
    text = await whole_text(fetch, arguments.offset or 1, arguments.limit)
    if text is None:
        raise ToolError(
            f"{file.shown}: {size_of(file.stat.size_bytes)}, and a script gets at most "
            f"{size_of(MAX_WHOLE_BYTES)} a call. Read parts with offset and limit, or use grep."
        )
    return replace(output, value=text)


async def _image(context: ToolContext, file: RegularFile, head: bytes) -> ToolOutput:
    """An image block, or an error where a service would refuse it and every request after it."""
    size = file.stat.size_bytes
    if size > IMAGE_BASE64_BYTES // 4 * 3:
        raise ToolError(
            f"{file.shown}: image of {size_of(size)}, the limit is {size_of(IMAGE_BASE64_BYTES // 4 * 3)}. "
            "Make it smaller with bash first."
        )
    data = head if len(head) < CHUNK_BYTES else await context.sandbox.read(file.path)
    facts = image_facts(data)
    if facts is None or not facts.is_whole:
        raise ToolError(
            f"{file.shown}: starts like an image ({image_mime_type(head)}) but is damaged or cut."
        )
    if max(facts.width_px, facts.height_px) > IMAGE_MAX_PX:
        raise ToolError(
            f"{file.shown}: image of {facts.width_px}x{facts.height_px} pixels, the limit is "
            f"{IMAGE_MAX_PX} on each side. Make it smaller with bash first."
        )
    text = f"Read image file [{facts.mime_type}], {facts.width_px}x{facts.height_px} pixels, {size_of(size)}."
    block = ImageBlock(base64.b64encode(data).decode("ascii"), facts.mime_type)
    value = {"type": "image", "data": block.data, "mimeType": block.mime_type}
    return ToolOutput((TextBlock(text), block), value=value)


def _refuse_binary(file: RegularFile, head: bytes) -> None:
    if b"\0" not in head[:SNIFF_BYTES]:
        return
    kind = next((kind for magic, kind in _BINARY_KINDS if head.startswith(magic)), "binary file")
    raise ToolError(
        f"{file.shown}: {kind} of {size_of(file.stat.size_bytes)}, not text. "
        f"Look into it with bash, for example: file {shlex.quote(file.path)}; "
        f"xxd {shlex.quote(file.path)} | head"
    )
