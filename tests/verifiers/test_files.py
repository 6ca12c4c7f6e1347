"""Tests of output.files."""

from __future__ import annotations

from pathlib import Path

import pytest

from pi_batch.results import VerificationResult
from pi_batch.verifiers.files import Files
from tests.verifiers.rigs import context


async def judged(tmp_path: Path, *files: str) -> VerificationResult:
    async with context(tmp_path) as at:
        return (await Files().verify(files, at)).result


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    tree = tmp_path / "tree"
    (tree / "sub").mkdir(parents=True)
    (tree / "notes.md").write_text("text")
    (tree / "empty").write_text("")
    (tree / "sub" / "ü b.txt").write_text("x")
    (tree / "link").symlink_to("notes.md")
    (tree / "out").symlink_to("/etc/passwd")
    (tree / "dangling").symlink_to("nowhere")
    return tree


async def test_files_that_are_there_pass(tmp_path: Path, tree: Path) -> None:
    result = await judged(tmp_path, "notes.md", "sub/ü b.txt", "./link")
    assert (result.passed, result.message, result.command, result.exit_code) == (True, "", "", None)
    assert result.name == "output.files"


@pytest.mark.parametrize(
    ("path", "problem"),
    [
        ("gone.md", "'gone.md' is not there"),
        ("dangling", "'dangling' is not there"),
        ("sub", "'sub' is no regular file"),
        ("empty", "'empty' is empty"),
        ("out", "'out' leads out of the workspace"),
        ("../secret", "'../secret' leads out of the workspace"),
        ("/etc/passwd", "'/etc/passwd' leads out of the workspace"),
    ],
)
async def test_what_is_no_file_of_the_workspace_fails(
    tmp_path: Path, tree: Path, path: str, problem: str
) -> None:
    result = await judged(tmp_path, "notes.md", path)
    assert (result.passed, result.message) == (False, problem)


async def test_every_file_that_does_not_do_is_named(tmp_path: Path, tree: Path) -> None:
    assert (await judged(tmp_path, "a", "b")).message == "'a' is not there; 'b' is not there"
