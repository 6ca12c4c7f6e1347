"""Names made printable, and paths relative to the workspace."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pi_batch.errors import ToolError
from pi_batch.tools.paths import printable, regular_file, said_of, shown_path, variant, workspace_path
from tests.tools.context import FakeContext


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("plain name.txt", "plain name.txt"),
        ("é 日本", "é 日本"),
        (os.fsdecode(b"a\xff\xfe"), "a\\xff\\xfe"),
        ("\ud800", "\\ud800"),
        ("a\nb\tc\x1b", "a\\nb\\tc\\x1b"),
        ("nb\u00a0sp", "nb\\xa0sp"),
        ("rtl\u202e", "rtl\\u202e"),
        ("", ""),
    ],
)
def test_names_are_printable(name: str, expected: str) -> None:
    assert printable(name) == expected


@given(st.text(st.characters()) | st.binary(max_size=20).map(os.fsdecode))
def test_any_name_becomes_one_line_of_valid_text(name: str) -> None:
    text = printable(name)
    text.encode()
    assert "\n" not in text
    assert text.isprintable()


async def test_paths_are_relative_inside_and_absolute_outside(context: FakeContext) -> None:
    root = context.workspace
    assert workspace_path(context, root) == "."
    assert workspace_path(context, f"{root}/a/b") == "a/b"
    assert workspace_path(context, f"{root}-other/a") == f"{root}-other/a"
    assert shown_path(context, f"{root}/new\nline") == "new\\nline"
    context.workspace = "/"
    assert workspace_path(context, "/a") == "a"
    assert workspace_path(context, "/") == "."


async def test_a_regular_file_has_its_path_name_and_size(context: FakeContext, workspace: Path) -> None:
    (workspace / "a.txt").write_text("abc")
    (workspace / "link").symlink_to("a.txt")
    file = await regular_file(context, "./link", for_writing=True)
    assert (file.path, file.shown, file.stat.size_bytes) == (f"{workspace}/a.txt", "a.txt", 3)


def test_a_refusal_of_the_system_is_said_of_the_path() -> None:
    with pytest.raises(ToolError, match=r"a\.txt: Permission denied\."), said_of("a.txt"):
        raise PermissionError(13, "Permission denied")
    with pytest.raises(ToolError, match=r"a\.txt: strange\."), said_of("a.txt"):
        raise OSError("strange")


@pytest.mark.parametrize("path", ["..", "../x", "/etc/passwd", "", ".", "a/../../b", "missing"])
async def test_there_is_no_variant_outside_or_of_nothing(context: FakeContext, path: str) -> None:
    assert await variant(context, path) is None


async def test_a_variant_may_be_given_as_an_absolute_path(context: FakeContext, workspace: Path) -> None:
    (workspace / "a\u202fb").write_text("x")
    assert await variant(context, f"{workspace}/a b") == "a\u202fb"
