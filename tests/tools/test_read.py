"""read as a model meets it."""

from __future__ import annotations

import base64
import os
import re
import subprocess
from pathlib import Path
from typing import Any

import pytest

from pi_batch.errors import ToolError
from pi_batch.messages import ImageBlock
from pi_batch.protocols import ToolOutput
from pi_batch.spec import PathRules
from pi_batch.tools.edit import Edit
from pi_batch.tools.read import IMAGE_BASE64_BYTES, Read, ReadArguments
from pi_batch.tools.read_text import MAX_BYTES, MAX_WHOLE_BYTES
from tests.tools.context import FakeContext, call, failure, text_of
from tests.tools.pictures import gif, jpeg, png, webp

READ = Read()


async def read(context: FakeContext, content: bytes, **arguments: Any) -> ToolOutput:
    (Path(context.workspace) / "f.txt").write_bytes(content)
    return await call(READ, context, path="f.txt", **arguments)


async def read_text(context: FakeContext, content: bytes, **arguments: Any) -> str:
    return text_of(await read(context, content, **arguments))


# --- text -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "content",
    [
        b"one\ntwo\n",
        b"no final newline",
        b"crlf\r\nlines\r\n",
        b"lone\rreturns\r\n",
        b"form\x0cfeed \xc2\x85 \xe2\x80\xa8 separators\n",
        "日本語, é, 😀\n".encode(),
        b"\ttabs and   blanks  \n\n\nblank lines\n",
        b"\x1b[31mescapes\x1b[0m\n",
    ],
)
async def test_text_is_given_as_it_is_so_that_an_edit_can_name_it(
    context: FakeContext, workspace: Path, content: bytes
) -> None:
    output = await read(context, content)
    assert text_of(output) == content.decode()
    assert output.value == content.decode()
    await call(Edit(), context, path="f.txt", old_string=text_of(output), new_string="replaced")
    assert (workspace / "f.txt").read_bytes() == b"replaced"


async def test_a_byte_order_mark_is_kept_out_of_the_text(context: FakeContext) -> None:
    assert await read_text(context, b"\xef\xbb\xbfone\ntwo\n") == "one\ntwo\n"
    assert "one" not in await read_text(context, b"\xef\xbb\xbfone\ntwo\n", offset=2)


async def test_a_mark_before_a_file_of_more_than_one_chunk_shifts_nothing(context: FakeContext) -> None:
    lines = b"".join(b"%06d\n" % number for number in range(1, 300_001))
    assert await read_text(context, b"\xef\xbb\xbf" + lines, offset=299_999) == "299999\n300000\n"


@pytest.mark.parametrize("codec", ["utf-16-le", "utf-16-be", "utf-32-le", "utf-32-be"])
async def test_wide_text_is_converted_and_said(context: FakeContext, codec: str) -> None:
    text = await read_text(context, "\ufeffeins\nzwei €\n".encode(codec))
    assert text.startswith("eins\nzwei €\n\n[The file is UTF-")
    assert "zwei" not in await read_text(context, "\ufeffeins\nzwei\n".encode(codec), limit=1)


async def test_undecodable_bytes_are_replaced_and_said(context: FakeContext) -> None:
    text = await read_text(context, b"na\xefve caf\xe9\n")
    assert text.startswith("na\ufffdve caf\ufffd\n")
    assert "2 bytes not valid in UTF-8" in text


async def test_real_replacement_characters_are_not_counted(context: FakeContext) -> None:
    assert await read_text(context, "a \ufffd b\n".encode()) == "a \ufffd b\n"


async def test_a_nul_behind_the_start_of_a_text_does_not_reach_the_model(context: FakeContext) -> None:
    text = await read_text(context, b"x" * 9000 + b"\0\n")
    assert "\0" not in text
    assert "\ufffd" in text


async def test_offset_and_limit_choose_lines(context: FakeContext) -> None:
    """deepagents#5787: a form feed is no line end, so that grep's line 5 is read's line 5."""
    content = b"def a():\n    return 1\n\x0c\ndef b():\n    TARGET = 1\n    return 2\n"
    text = await read_text(context, content, offset=5, limit=1)
    assert text.startswith("    TARGET = 1\n\n[1 more line in the file. Use offset=6")
    assert "def b" not in text


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        ({"offset": 2}, "b\nc\n"),
        ({"offset": "2", "limit": "1"}, "b\n\n[1 more line in the file. Use offset=3 to continue.]"),
        ({"offset": 0, "limit": 1}, "a\n\n[2 more lines in the file. Use offset=2 to continue.]"),
        ({"offset": 3, "limit": 10}, "c\n"),
        ({"limit": 3}, "a\nb\nc\n"),
        ({"offset": None, "limit": None}, "a\nb\nc\n"),
    ],
)
async def test_windows(context: FakeContext, arguments: dict[str, Any], expected: str) -> None:
    assert await read_text(context, b"a\nb\nc\n", **arguments) == expected


async def test_a_script_gets_the_lines_without_the_notes(context: FakeContext) -> None:
    assert (await read(context, b"a\nb\n", limit=1)).value == "a\n"
    assert (await read(context, b"")).value == ""
    assert (await read(context, b"x\n" * 3000)).value is None  # cut by our limit: it must not pass unseen


async def test_a_long_file_says_what_was_left_out(context: FakeContext) -> None:
    output = await read(context, b"line\n" * 2500)
    assert text_of(output).endswith(
        "line\n\n[Truncated: showing lines 1-2000 of 2500 lines. Use offset=2001 to continue.]"
    )
    assert output.details["truncation"]["last_line"] == 2000


async def test_long_lines_are_cut_at_the_byte_limit(context: FakeContext) -> None:
    text = await read_text(context, (b"x" * 999 + b"\n") * 100)
    assert "showing lines 1-51 of 100 lines (50 KB limit). Use offset=52 to continue" in text


async def test_one_giant_line_gives_a_part_and_advice_that_makes_progress(
    context: FakeContext, workspace: Path
) -> None:
    """mateclaw#190: never the advice to read the same offset again."""
    content = ("[" + ",".join(map(str, range(60_000))) + "]").encode()
    text = await read_text(context, content)
    assert text.startswith("[0,1,2")
    assert "truncated" in text
    assert not re.search(r"offset=1\b", text)
    assert "offset=" not in text
    command = re.search(r"with bash: (.*)\.\]$", text)
    assert command
    rest = subprocess.run(["bash", "-c", command[1]], capture_output=True, check=True).stdout
    shown = text.partition("\n\n[Line 1")[0].encode()
    assert content.startswith(shown + rest)
    assert len(rest) == MAX_BYTES


async def test_advice_behind_a_byte_order_mark_counts_it(context: FakeContext) -> None:
    text = await read_text(context, b"\xef\xbb\xbf" + b"a" * MAX_BYTES + b"b" * 99)
    command = re.search(r"with bash: (.*)\.\]$", text)
    assert command
    assert subprocess.run(["bash", "-c", command[1]], capture_output=True, check=True).stdout == b"b" * 99


async def test_a_giant_line_among_others_can_be_passed(context: FakeContext) -> None:
    content = b"first\n" + b"y" * 200_000 + b"\nlast\n"
    first = await read_text(context, content)
    assert first.startswith("first\n\n[Truncated: showing lines 1-1 of 3 lines (50 KB limit). Use offset=2")
    second = await read_text(context, content, offset=2)
    assert "Use offset=3 for the lines after it" in second
    assert await read_text(context, content, offset=3) == "last\n"


# --- what is blank, missing or something else -----------------------------------------------------


async def test_empty_blank_missing_and_directory_each_say_so(context: FakeContext) -> None:
    """goose#1290."""
    assert text_of(await read(context, b"")) == "[f.txt is empty: 0 bytes.]"
    assert "1 blank line, nothing else" in text_of(await read(context, b"\n"))
    assert "no such file" in await failure(READ, context, path="absent.txt")
    assert "is a directory" in await failure(READ, context, path=".")


@pytest.mark.parametrize("content", [b"", b"\n", b"\n\n\n", b" \t \n", b"\r\n", b"\xc2\xa0\n", b"\x0c"])
async def test_content_is_never_blank(context: FakeContext, content: bytes) -> None:
    assert (await read_text(context, content)).strip()


async def test_a_file_that_holds_only_its_mark_is_empty(context: FakeContext) -> None:
    assert "is empty" in await read_text(context, b"\xef\xbb\xbf")
    assert "is empty" in await read_text(context, b"\xff\xfe")


@pytest.mark.parametrize(("content", "lines"), [(b"a\nb\n", "2 lines"), (b"a", "1 line"), (b"", "0 lines")])
async def test_an_offset_beyond_the_end_is_an_error_with_the_number_of_lines(
    context: FakeContext, content: bytes, lines: str
) -> None:
    with pytest.raises(ToolError, match=rf"offset 9 is beyond the end of the file, which has {lines}"):
        await read(context, content, offset=9)


async def test_a_pipe_is_refused_and_not_waited_for(context: FakeContext, workspace: Path) -> None:
    """headlong#115."""
    os.mkfifo(workspace / "q")
    assert "not a regular file" in await failure(READ, context, path="q")


async def test_a_link_is_read_where_it_leads_within_the_workspace(
    context: FakeContext, workspace: Path
) -> None:
    (workspace / "real").mkdir()
    (workspace / "real/n.md").write_text("there\n")
    (workspace / "memo").symlink_to("real")
    assert text_of(await call(READ, context, path="memo/n.md")) == "there\n"


@pytest.mark.parametrize("path", ["../victim.txt", "/etc/passwd", "link.txt", "sub/../../victim.txt"])
async def test_nothing_outside_the_workspace_is_read(
    context: FakeContext, workspace: Path, path: str
) -> None:
    (workspace.parent / "victim.txt").write_text("secret")
    (workspace / "link.txt").symlink_to("../victim.txt")
    assert "secret" not in await failure(READ, context, path=path)


async def test_outputs_may_be_read(context: FakeContext, workspace: Path) -> None:
    (workspace.parent / "outputs/whole.txt").write_text("all of it\n")
    assert text_of(await call(READ, context, path=f"{context.outputs_dir}/whole.txt")) == "all of it\n"


async def test_a_dead_link_is_no_such_file(context: FakeContext, workspace: Path) -> None:
    (workspace / "dead").symlink_to("nowhere")
    assert "no such file" in await failure(READ, context, path="dead")


async def test_a_file_below_a_file_is_no_such_file(context: FakeContext, workspace: Path) -> None:
    (workspace / "a.txt").write_text("x")
    assert "no such file" in await failure(READ, context, path="a.txt/b.txt")


async def test_a_near_name_is_proposed(context: FakeContext, workspace: Path) -> None:
    (workspace / "src").mkdir()
    (workspace / "src/settings.py").write_text("x")
    assert "Did you mean 'src/settings.py'?" in await failure(READ, context, path="src/setings.py")
    assert "directory 'lib' does not exist" in await failure(READ, context, path="lib/x.py")


@pytest.mark.parametrize(
    ("content", "kind"),
    [
        (b"\x7fELF\x02\x01\x01\0\0\0", "ELF program of 10 bytes"),
        (b"PK\x03\x04\x14\0\0\0", "zip archive"),
        (b"\x1f\x8b\x08\0\0", "gzip data"),
        (b"SQLite format 3\0", "SQLite database"),
        (b"text and\0 a nul", "binary file"),
    ],
)
async def test_a_binary_file_is_described_and_not_dumped(
    context: FakeContext, content: bytes, kind: str
) -> None:
    with pytest.raises(ToolError, match=kind):
        await read(context, content)


# --- images ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("data", "mime_type"),
    [
        (png(), "image/png"),
        (jpeg(), "image/jpeg"),
        (gif(), "image/gif"),
        (webp("VP8X"), "image/webp"),
        (webp("VP8L"), "image/webp"),
        (webp("VP8"), "image/webp"),
    ],
)
async def test_an_image_is_a_block_by_its_bytes(context: FakeContext, data: bytes, mime_type: str) -> None:
    output = await read(context, data)
    block = output.content[1]
    assert isinstance(block, ImageBlock)
    assert block.mime_type == mime_type
    assert base64.b64decode(block.data) == data
    assert "2x3 pixels" in text_of(output)


@pytest.mark.parametrize("name", ["shot.jpg", "shot.png", "shot.gif", "shot.webp"])
async def test_a_picture_name_with_a_page_inside_is_text(
    context: FakeContext, workspace: Path, name: str
) -> None:
    """claude-code#19031: no image block, or the service refuses every later request."""
    (workspace / name).write_bytes(b"<!doctype html><p>404</p>\n")
    output = await call(READ, context, path=name)
    assert [type(block) for block in output.content] != [ImageBlock]
    assert text_of(output) == "<!doctype html><p>404</p>\n"


@pytest.mark.parametrize(
    "data", [png()[:-12], jpeg()[:-2], gif()[:-1], webp()[:-4], b"\x89PNG\r\n\x1a\n\0\0"]
)
async def test_a_damaged_image_is_an_error(context: FakeContext, data: bytes) -> None:
    with pytest.raises(ToolError, match="damaged or cut"):
        await read(context, data)


async def test_text_that_begins_like_an_image_is_text(context: FakeContext) -> None:
    text = "GIF89a is the name of a format;\n"
    assert await read_text(context, text.encode()) == text


async def test_a_large_image_is_refused_before_it_is_encoded(context: FakeContext) -> None:
    with pytest.raises(ToolError, match=r"the limit is 3\.8 MB"):
        await read(context, png(padding=IMAGE_BASE64_BYTES // 4 * 3))


async def test_an_image_of_more_than_one_chunk_is_whole(context: FakeContext) -> None:
    data = png(padding=2_000_000)
    block = (await read(context, data)).content[1]
    assert isinstance(block, ImageBlock)
    assert base64.b64decode(block.data) == data


async def test_an_image_of_too_many_pixels_is_refused(context: FakeContext) -> None:
    with pytest.raises(ToolError, match="9000x10 pixels"):
        await read(context, png(9000, 10))


# --- spellings of the path ------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("on_disk", "given"),
    [
        ("cap 3.00\u202fp.m..txt", "cap 3.00\u202fp.m..txt"),  # pi#8877: as given, first
        ("cap 3.00\u202fp.m..txt", "cap 3.00 p.m..txt"),
        ("cap 3.00 p.m..txt", "cap 3.00\u202fp.m..txt"),
        ("Screenshot 2026-01-01 at 9.41.00\u202fAM.png.txt", "Screenshot 2026-01-01 at 9.41.00 AM.png.txt"),
        ("Capture d\u2019e\u0301cran.txt", "Capture d'écran.txt"),
        ("cafe\u0301.txt", "café.txt"),
        ("café.txt", "cafe\u0301.txt"),
        ("a\u00a0b.txt", "a b.txt"),
        ("\u201cq\u201d.txt", '"q".txt'),
        ("plain.txt", "@plain.txt"),
        ("@real.txt", "@real.txt"),
        ("plain.txt", " plain.txt"),
        ("plain.txt", "plain.txt\n"),
        ("di\u0301r/x.txt", "dír/x.txt"),
        ("plain.txt", "./plain.txt"),
    ],
)
async def test_a_path_that_is_spelled_a_little_differently_is_found(
    context: FakeContext, workspace: Path, on_disk: str, given: str
) -> None:
    (workspace / on_disk).parent.mkdir(exist_ok=True)
    (workspace / on_disk).write_text("data\n")
    assert text_of(await call(READ, context, path=given)) == "data\n"


async def test_the_path_as_given_comes_before_its_variants(context: FakeContext, workspace: Path) -> None:
    (workspace / "a b.txt").write_text("blank\n")
    (workspace / "a\u202fb.txt").write_text("narrow\n")
    assert text_of(await call(READ, context, path="a b.txt")) == "blank\n"
    assert text_of(await call(READ, context, path="a\u202fb.txt")) == "narrow\n"


async def test_two_variants_are_none(context: FakeContext, workspace: Path) -> None:
    (workspace / "a\u00a0b.txt").write_text("1")
    (workspace / "a\u202fb.txt").write_text("2")
    assert "no such file" in await failure(READ, context, path="a b.txt")


async def test_a_variant_is_held_against_the_rules_again(context: FakeContext, workspace: Path) -> None:
    (workspace / "my\u202fkey.pem").write_text("secret\n")
    guarded = Read(PathRules(deny=("my\u202fkey.pem",)))
    assert "secret" not in await failure(guarded, context, path="my key.pem")
    assert text_of(await call(READ, context, path="my key.pem")) == "secret\n"


async def test_home_is_not_expanded(context: FakeContext) -> None:
    assert "~ is not expanded" in await failure(READ, context, path="~/.ssh/id_rsa")


@pytest.mark.parametrize("path", ["a\0b", "x" * 300, "a/" * 3000, "\ud800"])
async def test_impossible_paths_are_errors(context: FakeContext, path: str) -> None:
    await failure(READ, context, path=path)


@pytest.mark.parametrize("key", ["path", "file_path", "filePath", "filename", "file"])
async def test_other_names_of_the_path_are_taken(context: FakeContext, workspace: Path, key: str) -> None:
    (workspace / "a.txt").write_text("x\n")
    assert text_of(await call(READ, context, **{key: "a.txt"})) == "x\n"


async def test_a_name_that_is_no_text_is_read(context: FakeContext, workspace: Path) -> None:
    name = os.fsdecode(b"b\xff.txt")
    (workspace / name).write_text("x\n" * 3000)
    output = await call(READ, context, path=name)
    text_of(output).encode()


def test_read_writes_nothing() -> None:
    assert READ.is_read_only
    assert READ.written_paths(ReadArguments(path="a")) == ()


# --- scripts --------------------------------------------------------------------------------------


@pytest.mark.parametrize("content", [b"line\n" * 5000, b"x" * 200_000, b"\xef\xbb\xbf" + b"a b\n" * 40_000])
async def test_a_script_gets_the_whole_text(context: FakeContext, content: bytes) -> None:
    context.is_inner = True
    output = await read(context, content)
    assert output.value == content.decode("utf-8-sig")


async def test_a_script_gets_the_lines_that_it_asked_for_and_no_fewer(context: FakeContext) -> None:
    context.is_inner = True
    content = "".join(f"{n}\n" for n in range(1, 9001)).encode()
    assert (await read(context, content, offset=3, limit=4000)).value == "".join(
        f"{n}\n" for n in range(3, 4003)
    )


async def test_a_script_gets_all_of_a_wide_file(context: FakeContext) -> None:
    context.is_inner = True
    text = "grün\n" * 4000
    assert (await read(context, text.encode("utf-16"))).value == text


async def test_a_file_that_is_too_much_for_a_script_is_an_error(
    context: FakeContext,
) -> None:
    context.is_inner = True
    path = Path(context.workspace) / "big"
    path.write_bytes(b"line\n" * (MAX_WHOLE_BYTES // 5 + 1))
    assert "Read parts with offset and limit" in await failure(READ, context, path="big")
    assert (await call(READ, context, path="big", limit=3000)).value == "line\n" * 3000


async def test_an_image_is_a_value(context: FakeContext) -> None:
    data = png(2, 2)
    value = (await read(context, data)).value
    assert value == {"type": "image", "data": base64.b64encode(data).decode(), "mimeType": "image/png"}
