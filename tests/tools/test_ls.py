"""ls as a model meets it."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from pi_batch.spec import PathRules
from pi_batch.tools.ls import Ls
from tests.tools.context import FakeContext, call, failure, text_of

LS = Ls()


def touch(workspace: Path, *names: str) -> None:
    for name in names:
        (workspace / name).parent.mkdir(parents=True, exist_ok=True)
        (workspace / name).write_text("x\n")


async def listed(context: FakeContext, /, **arguments: object) -> str:
    return text_of(await call(LS, context, **arguments))


async def test_names_are_in_one_order_with_directories_marked(context: FakeContext, workspace: Path) -> None:
    touch(workspace, "b.txt", "A.txt", "a.txt", "src/x", ".hidden")
    output = await call(LS, context)
    assert text_of(output) == ".hidden\nA.txt\na.txt\nb.txt\nsrc/"
    assert output.value == [".hidden", "A.txt", "a.txt", "b.txt", "src/"]
    assert await listed(context, path="src") == "x"
    assert await listed(context, path=str(workspace / "src")) == "x"
    assert await listed(context, path="") == text_of(output)


async def test_links_show_where_they_point_and_dead_ones_are_marked(
    context: FakeContext, workspace: Path
) -> None:
    """opencode#24972."""
    touch(workspace, "here.txt", "dir/x")
    (workspace / "dead.txt").symlink_to("/nowhere/at/all")
    (workspace / "good").symlink_to("here.txt")
    (workspace / "to-dir").symlink_to("dir")
    (workspace / "loop").symlink_to("loop")
    os.mkfifo(workspace / "pipe")
    output = await call(LS, context)
    assert text_of(output) == (
        "dead.txt@ -> /nowhere/at/all (dead link)\ndir/\ngood@ -> here.txt\nhere.txt\n"
        "loop@ -> loop (dead link)\npipe (pipe, socket or device)\nto-dir@ -> dir"
    )
    assert output.value == ["dead.txt", "dir/", "good", "here.txt", "loop", "pipe", "to-dir/"]


async def test_an_empty_directory_says_so(context: FakeContext, workspace: Path) -> None:
    (workspace / "none").mkdir()
    assert await listed(context, path="none") == "none: empty directory"
    assert await listed(context) == "none/"
    assert (await call(LS, context, path="none")).value == []


async def test_what_git_ignores_is_named_apart(context: FakeContext, workspace: Path) -> None:
    touch(
        workspace, ".git/HEAD", "node_modules/x", "a.log", "keep.log", "a.py", "src/.gitignore", "src/gen.py"
    )
    (workspace / ".gitignore").write_text("node_modules/\n*.log\n!keep.log\n")
    (workspace / "src/.gitignore").write_text("gen.py\n")
    assert await listed(context) == (
        ".gitignore\na.py\nkeep.log\nsrc/\n\n[Left out as ignored by git: .git/, a.log, node_modules/.]"
    )
    assert await listed(context, path="src") == ".gitignore\n\n[Left out as ignored by git: gen.py.]"
    assert await listed(context, path="node_modules") == "x"


async def test_rules_of_the_repository_above_hold(context: FakeContext, workspace: Path) -> None:
    touch(workspace.parent, ".git/info/exclude")
    (workspace.parent / ".git/info/exclude").write_text("*.tmp\n")
    touch(workspace, "a.tmp", "b")
    assert await listed(context) == "b\n\n[Left out as ignored by git: a.tmp.]"


async def test_only_ignored_entries_are_not_an_empty_directory(context: FakeContext, workspace: Path) -> None:
    touch(workspace, "out/a.log")
    (workspace / ".gitignore").write_text("*.log\n")
    assert await listed(context, path="out") == (
        "out: nothing to show\n\n[Left out as ignored by git: a.log.]"
    )


async def test_a_pipe_for_an_ignore_file_is_not_waited_for(context: FakeContext, workspace: Path) -> None:
    os.mkfifo(workspace / ".gitignore")
    assert "pipe" in await listed(context)


async def test_the_limit_is_said(context: FakeContext, workspace: Path) -> None:
    touch(workspace, *(f"{number}.txt" for number in range(6)))
    assert (await listed(context, limit=2)) == (
        "0.txt\n1.txt\n\n[2 of 6 entries shown. Use limit=6 for all.]"
    )
    assert "limit" not in await listed(context, limit=6)


async def test_a_huge_directory_is_bounded(context: FakeContext, workspace: Path) -> None:
    touch(workspace, *("n" * 200 + str(number) for number in range(600)))
    text = await listed(context, limit=600)
    assert len(text.encode()) < 52 * 1024
    assert "entries shown (50 KB limit)" in text
    assert "500 of 600 entries shown" in await listed(context)


async def test_denied_entries_are_left_out(context: FakeContext, workspace: Path) -> None:
    touch(workspace, "key.pem", "src/a.py", "docs/x.md", "readme.md")
    denied = Ls(PathRules(deny=("*.pem", "docs/")))
    text = text_of(await call(denied, context))
    assert text == "docs/\nreadme.md\nsrc/\n\n[1 entry left out by permissions.read.]"
    assert "left out" in text_of(await call(denied, context, path="docs"))
    allowed = Ls(PathRules(allow=("src/**",)))
    assert (await call(allowed, context)).value == ["docs/", "src/"]
    named = Ls(PathRules(deny=("docs",)))
    assert "docs" not in (await call(named, context)).value


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("a.txt", "is a file (2 bytes), not a directory"),
        ("absent", "no such file"),
        ("../x", "outside"),
        ("a\0b", "NUL"),
    ],
)
async def test_what_is_no_directory_is_refused(
    context: FakeContext, workspace: Path, path: str, expected: str
) -> None:
    touch(workspace, "a.txt")
    assert expected in await failure(LS, context, path=path)


async def test_names_that_are_no_text_are_escaped(context: FakeContext, workspace: Path) -> None:
    touch(workspace, os.fsdecode(b"b\xff"), "new\nline", "\x1b[31m")
    text = await listed(context)
    assert text == "\\x1b[31m\nb\\xff\nnew\\nline"
    text.encode()


async def test_a_script_gets_every_name(context: FakeContext, workspace: Path) -> None:
    for number in range(520):
        (workspace / f"{number:04}").touch()
    assert len((await call(LS, context)).value) == 500
    context.is_inner = True
    assert len((await call(LS, context)).value) == 520
