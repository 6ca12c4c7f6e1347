"""The walk: one order, no link followed, nothing that could block."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from pi_batch.tools.search_walk import Walk


def make(root: Path, *names: str) -> None:
    for name in names:
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("")


def walked(root: Path, workspace: Path | None = None) -> list[str]:
    entries = Walk(str(root), str(workspace or root)).entries()
    return [entry.path.removeprefix(f"{root}/") + ("/" if entry.is_dir else "") for entry in entries]


def test_entries_come_in_order_of_their_paths(tmp_path: Path) -> None:
    make(tmp_path, "b", "a/z", "a/b/c", "a.txt", "A", "a-b")
    assert walked(tmp_path) == ["A", "a/", "a/b/", "a/b/c", "a/z", "a-b", "a.txt", "b"]


def test_kinds_are_told_without_following_links(tmp_path: Path) -> None:
    make(tmp_path, "file", "dir/inside")
    (tmp_path / "to-file").symlink_to("file")
    (tmp_path / "to-dir").symlink_to("dir")
    (tmp_path / "dead").symlink_to("nowhere")
    os.mkfifo(tmp_path / "pipe")
    kinds = {
        entry.path.removeprefix(f"{tmp_path}/"): (entry.is_file, entry.is_dir)
        for entry in Walk(str(tmp_path), str(tmp_path)).entries()
    }
    assert kinds == {
        "file": (True, False),
        "dir": (False, True),
        "dir/inside": (True, False),
        "to-file": (False, False),
        "to-dir": (False, False),
        "dead": (False, False),
        "pipe": (False, False),
    }


def test_the_one_file_that_is_named_is_all_there_is(tmp_path: Path) -> None:
    make(tmp_path, "a.log", "b")
    (tmp_path / ".gitignore").write_text("*.log\n")
    (entry,) = Walk(str(tmp_path / "a.log"), str(tmp_path)).entries()
    assert (entry.path, entry.is_file, entry.is_dir) == (str(tmp_path / "a.log"), True, False)


def test_git_is_never_walked_be_it_directory_or_file(tmp_path: Path) -> None:
    make(tmp_path, ".git/config", "module/.git", "module/a", ".gitx")
    assert walked(tmp_path) == [".gitx", "module/", "module/a"]


def test_a_repository_within_has_its_own_exclude_file(tmp_path: Path) -> None:
    make(tmp_path, "module/.git/info/exclude", "module/a.tmp", "a.tmp")
    (tmp_path / "module/.git/info/exclude").write_text("*.tmp\n")
    assert walked(tmp_path) == ["a.tmp", "module/"]


@pytest.mark.parametrize("kind", ["pipe", "directory", "dead link"])
def test_an_ignore_file_that_is_no_file_is_passed_over(tmp_path: Path, kind: str) -> None:
    make(tmp_path, "a")
    ignore = tmp_path / ".gitignore"
    if kind == "pipe":
        os.mkfifo(ignore)
    elif kind == "directory":
        ignore.mkdir()
    else:
        ignore.symlink_to("nowhere")
    assert "a" in walked(tmp_path)


def test_rules_between_the_top_and_the_start_hold(tmp_path: Path) -> None:
    make(tmp_path, "src/deep/a.log", "src/deep/b.tmp", "src/deep/c")
    (tmp_path / ".gitignore").write_text("*.log\n")
    (tmp_path / "src/.gitignore").write_text("/deep/*.tmp\n")
    assert walked(tmp_path / "src/deep", tmp_path) == ["c"]


def test_a_directory_that_vanishes_is_counted(tmp_path: Path) -> None:
    make(tmp_path, "a/x", "b/y")
    walk = Walk(str(tmp_path), str(tmp_path))
    seen = []
    for entry in walk.entries():
        seen.append(entry.path.removeprefix(f"{tmp_path}/"))
        if seen[-1] == "a":
            (tmp_path / "a/x").unlink()
            (tmp_path / "a").rmdir()
    assert seen == ["a", "b", "b/y"]
    assert walk.unreadable == 1


def test_a_start_that_is_gone_is_no_file(tmp_path: Path) -> None:
    (entry,) = Walk(str(tmp_path / "gone"), str(tmp_path)).entries()
    assert not entry.is_file
