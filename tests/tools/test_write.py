"""write: exactly the given bytes, through links within the workspace, and nothing else."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from pi_batch.tools.write import Write, WriteArguments
from tests.tools.context import FakeContext, call, failure, text_of

WRITE = Write()


@pytest.mark.parametrize(
    "content",
    [
        "",
        "no newline",
        "one\n",
        "crlf\r\nstays\r\n",
        "\ufeffmark\n",
        "é € 😀\n",
        " \t\n\n",
        "a\0b",
        "\x1b[0m",
        "\u2028",
    ],
)
async def test_the_file_holds_exactly_the_given_bytes(
    context: FakeContext, workspace: Path, content: str
) -> None:
    (workspace / "f.txt").write_text("junk that is longer than the rest of it\n" * 3)
    await call(WRITE, context, path="f.txt", content=content)
    assert (workspace / "f.txt").read_bytes() == content.encode()


@given(content=st.text(max_size=60))
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
async def test_any_text_is_written_as_utf8(context: FakeContext, workspace: Path, content: str) -> None:
    await call(WRITE, context, path="f.txt", content=content)
    assert (workspace / "f.txt").read_bytes() == content.encode()


async def test_empty_content_empties_the_file(context: FakeContext, workspace: Path) -> None:
    """cline#4727."""
    (workspace / "todo.txt").write_text("junk\n")
    output = await call(WRITE, context, path="todo.txt", content="")
    assert (workspace / "todo.txt").read_bytes() == b""
    assert text_of(output) == "Overwrote todo.txt: 0 bytes, 0 lines."


async def test_missing_directories_are_made(context: FakeContext, workspace: Path) -> None:
    output = await call(WRITE, context, path="deep/er/x.txt", content="no newline")
    assert (workspace / "deep/er/x.txt").read_text() == "no newline"
    assert text_of(output) == "Created deep/er/x.txt: 10 bytes, 1 line."
    assert output.details == {"bytes": 10, "is_new": True}


@pytest.mark.parametrize(
    ("content", "expected"),
    [("a\nb\n", "4 bytes, 2 lines"), ("a\nb", "3 bytes, 2 lines"), ("é", "2 bytes, 1 line")],
)
async def test_the_result_counts_bytes_and_lines(context: FakeContext, content: str, expected: str) -> None:
    assert expected in text_of(await call(WRITE, context, path="f", content=content))


async def test_mode_and_links_survive(context: FakeContext, workspace: Path) -> None:
    """claude-code#20356."""
    script = workspace / "go.sh"
    script.write_text("#!/bin/sh\necho a\n")
    script.chmod(0o755)
    os.link(script, workspace / "twin.sh")
    (workspace / "link.sh").symlink_to("go.sh")
    await call(WRITE, context, path="link.sh", content="#!/bin/sh\necho c\n")
    assert stat.S_IMODE(script.stat().st_mode) == 0o755
    assert (workspace / "twin.sh").read_text() == script.read_text() == "#!/bin/sh\necho c\n"
    assert (workspace / "link.sh").is_symlink()


async def test_a_link_within_the_workspace_is_followed(context: FakeContext, workspace: Path) -> None:
    """openclaw#84913."""
    (workspace / "real").mkdir()
    (workspace / "memo").symlink_to("real")
    output = await call(WRITE, context, path="memo/n.md", content="ok\n")
    assert (workspace / "real/n.md").read_bytes() == b"ok\n"
    assert "real/n.md" in text_of(output)


@pytest.mark.parametrize(
    "path",
    ["notes.md", "../victim.txt", "outside/victim.txt", "sub/../../victim.txt", "dead.md", "loop/x"],
)
async def test_nothing_outside_the_workspace_is_written(
    context: FakeContext, workspace: Path, path: str
) -> None:
    """OpenBot#100: the last part of the path may be a link as well."""
    victim = workspace.parent / "victim.txt"
    victim.write_text("original\n")
    (workspace / "notes.md").symlink_to(victim)
    (workspace / "outside").symlink_to("..")
    (workspace / "dead.md").symlink_to("../not-there.txt")
    (workspace / "loop").symlink_to("loop")
    await failure(WRITE, context, path=path, content="owned\n")
    assert victim.read_text() == "original\n"
    assert not (workspace.parent / "not-there.txt").exists()


async def test_outputs_are_read_only(context: FakeContext) -> None:
    assert "outside" in await failure(WRITE, context, path=f"{context.outputs_dir}/x", content="")


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        (".", "is a directory"),
        ("sub", "is a directory"),
        ("q", "not a regular file"),
        ("", "expected the name of a file"),
        ("  ", "expected the name of a file"),
        ("new/", "expected the name of a file"),
        ("~/notes.txt", "~ is not expanded"),
        ("file.txt/below", "file.txt/below"),
        ("a\0b", "NUL"),
        ("x" * 300, "too long"),
    ],
)
async def test_what_cannot_be_a_file_is_refused(
    context: FakeContext, workspace: Path, path: str, expected: str
) -> None:
    (workspace / "sub").mkdir()
    (workspace / "file.txt").write_text("x")
    os.mkfifo(workspace / "q")
    before = sorted(workspace.iterdir())
    assert expected in await failure(WRITE, context, path=path, content="x")
    assert sorted(workspace.iterdir()) == before


@pytest.mark.parametrize("content", ["\ud83d", "ok \udfff ok"])
async def test_half_a_character_is_refused(context: FakeContext, workspace: Path, content: str) -> None:
    (workspace / "f.txt").write_text("as it was")
    error = await failure(WRITE, context, path="f.txt", content=content)
    assert "surrogate" in error
    error.encode()
    assert (workspace / "f.txt").read_text() == "as it was"


async def test_an_at_sign_is_part_of_the_name(context: FakeContext, workspace: Path) -> None:
    await call(WRITE, context, path="@types/x.d.ts", content="x")
    assert (workspace / "@types/x.d.ts").exists()


@pytest.mark.parametrize(
    "arguments",
    [
        {"file_path": "a.txt", "contents": "x"},
        {"filename": "a.txt", "text": "x"},
        {"path": "a.txt", "file_text": "x"},
    ],
)
async def test_other_spellings_are_taken(
    context: FakeContext, workspace: Path, arguments: dict[str, str]
) -> None:
    await call(WRITE, context, **arguments)
    assert (workspace / "a.txt").read_text() == "x"


async def test_content_that_is_left_out_is_an_error_and_no_empty_file(
    context: FakeContext, workspace: Path
) -> None:
    assert "content: missing" in await failure(WRITE, context, path="a.txt")
    assert "content: got null" in await failure(WRITE, context, path="a.txt", content=None)
    assert not (workspace / "a.txt").exists()


def test_write_names_what_it_writes() -> None:
    assert not WRITE.is_read_only
    assert WRITE.written_paths(WriteArguments(path="a/b", content="")) == ("a/b",)
