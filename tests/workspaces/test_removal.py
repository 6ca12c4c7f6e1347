"""Trees that are hard to remove, removed."""

from __future__ import annotations

from pathlib import Path

from pi_batch.workspaces.removal import remove_tree
from tests.workspaces.repositories import dig, write
from tests.workspaces.test_reading import unprivileged


def test_a_tree_is_removed(tmp_path: Path) -> None:
    write(tmp_path / "t", {"a/b/c": ""})
    remove_tree(tmp_path / "t")
    assert not (tmp_path / "t").exists()


def test_what_is_not_there_is_fine(tmp_path: Path) -> None:
    remove_tree(tmp_path / "absent")


def test_a_link_is_removed_and_not_what_it_names(tmp_path: Path) -> None:
    write(tmp_path / "kept", {"f": "", "d/g": ""})
    (tmp_path / "link").symlink_to(tmp_path / "kept")
    write(tmp_path / "t", {"x": ""})
    (tmp_path / "t" / "inner").symlink_to(tmp_path / "kept")
    remove_tree(tmp_path / "link")
    remove_tree(tmp_path / "t")
    assert not (tmp_path / "link").is_symlink()
    assert (tmp_path / "kept" / "d" / "g").exists()


def test_a_file_is_removed(tmp_path: Path) -> None:
    (tmp_path / "f").touch()
    remove_tree(tmp_path / "f")
    assert not (tmp_path / "f").exists()


def test_directories_that_nobody_may_write_or_enter_are_removed() -> None:
    with unprivileged() as directory:
        write(directory, {"t/mod/cache/f": "", "t/closed/in/f": ""})
        (directory / "t" / "mod" / "cache").chmod(0o555)
        (directory / "t" / "closed").chmod(0)
        remove_tree(directory / "t")
        assert not (directory / "t").exists()


def test_the_modes_of_files_are_left_alone() -> None:
    """One may be a hard link to a file that is to stay."""
    with unprivileged() as directory:
        write(directory, {"kept": "x", "t/d/e": ""})
        (directory / "kept").chmod(0o444)
        (directory / "t" / "d" / "f").hardlink_to(directory / "kept")
        (directory / "t" / "d").chmod(0o500)
        remove_tree(directory / "t")
        assert (directory / "kept").stat().st_mode & 0o777 == 0o444


def test_a_tree_of_any_depth_is_removed(tmp_path: Path) -> None:
    (tmp_path / "t").mkdir()
    dig(tmp_path / "t", 1500)
    remove_tree(tmp_path / "t")
    assert not (tmp_path / "t").exists()
