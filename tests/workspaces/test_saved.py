"""A start on disk, and workspaces taken up again."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
from msgspec.structs import replace

from pi_batch.errors import WorkspaceError
from pi_batch.workspaces import TABLE, open_workspace
from pi_batch.workspaces.saved import Start, forget_start, load_start, save_start
from tests.workspaces.repositories import files_of, make_repository, write

START = Start(
    isolation="clone",
    source="/home/u/proj/sub",
    source_root="/home/u/proj",
    path="/tmp/s/w/proj/sub",
    root="/tmp/s/w/proj",
    object_format="sha1",
    base_commit=None,
    commit="c" * 40,
    tree="d" * 40,
    empty_directories=("a", os.fsdecode(b"caf\xe9")),
)


def test_a_start_survives_the_disk(tmp_path: Path) -> None:
    save_start(tmp_path, START)
    assert load_start(tmp_path, "clone", "/home/u/proj/sub") == START


def test_there_is_none_before_one_was_saved_and_after_it_was_forgotten(tmp_path: Path) -> None:
    assert load_start(tmp_path, "clone", "/x") is None
    save_start(tmp_path, START)
    forget_start(tmp_path)
    forget_start(tmp_path)
    assert load_start(tmp_path, "clone", "/home/u/proj/sub") is None


def test_the_prefix_is_the_way_from_root_to_path() -> None:
    assert START.prefix == b"sub/"
    assert replace(START, path=START.root).prefix == b""


@pytest.mark.parametrize(("isolation", "source"), [("copy", "/home/u/proj/sub"), ("clone", "/elsewhere")])
def test_the_start_of_another_workspace_is_refused(tmp_path: Path, isolation: str, source: str) -> None:
    save_start(tmp_path, START)
    with pytest.raises(WorkspaceError, match="is the workspace of"):
        load_start(tmp_path, isolation, source)


@pytest.mark.parametrize(
    "content",
    ["not json", "[]", "{}", json.dumps({"version": 2}), json.dumps({"version": 1, "isolation": "clone"})],
)
def test_a_file_that_is_none_of_ours_is_refused(tmp_path: Path, content: str) -> None:
    (tmp_path / "workspace.json").write_text(content)
    with pytest.raises(WorkspaceError, match=r"workspace\.json"):
        load_start(tmp_path, "clone", "/x")


def test_a_directory_that_is_gone_cannot_be_written_to(tmp_path: Path) -> None:
    with pytest.raises(WorkspaceError, match="cannot be written"):
        save_start(tmp_path / "gone", START)


@pytest.mark.parametrize("isolation", sorted(TABLE))
async def test_a_kept_workspace_is_taken_up_by_a_later_process(
    isolation: str, tmp_path: Path, state_dir: Path
) -> None:
    source = make_repository(tmp_path / "p", {"a.txt": "1\n", "tests/t.py": "1\n"})
    write(source, {"new.txt": "n\n"})
    first = open_workspace(isolation, source, state_dir)
    await first.open()
    await first.close(keep=True)
    write(Path(first.path), {"a.txt": "2\n", "tests/t.py": "cheat\n"})
    if isolation != "none":
        write(source, {"a.txt": "the user went on\n"})
    second = open_workspace(isolation, source, state_dir)
    assert await second.open() == ()
    assert (second.path, second.base_commit, second.start_commit) == (
        first.path,
        first.base_commit,
        first.start_commit,
    )
    changes = await second.changes(["tests/**"])
    assert [file.path for file in changes.files] == ["a.txt", "tests/t.py"]
    copy = await second.clean_copy("patched", ["tests/**"])
    assert files_of(copy.path)["tests/t.py"] == b"1\n"
    await second.close(keep=False)
    assert list(state_dir.iterdir()) == []


async def test_a_kept_workspace_whose_directory_is_gone_is_an_error(tmp_path: Path, state_dir: Path) -> None:
    source = make_repository(tmp_path / "p", {"a.txt": "1\n"})
    first = open_workspace("clone", source, state_dir)
    await first.open()
    await first.close(keep=True)
    Path(first.path).rename(tmp_path / "away")
    with pytest.raises(WorkspaceError, match="start a new run"):
        await open_workspace("clone", source, state_dir).open()
