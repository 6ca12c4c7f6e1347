"""Directory trees, copied."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from pi_batch.workspaces.boundary import Interrupted, never
from pi_batch.workspaces.copying import Copied, TreeCopy
from tests.workspaces.repositories import files_of, shell, write
from tests.workspaces.test_reading import unprivileged


def copy_of(source: Path, target: Path, skipped: tuple[bytes, ...] = ()) -> Copied:
    roots = (os.fsencode(source),)
    return TreeCopy(source, target, skipped, frozenset({b".pi-batch"}), roots).make(never)


def test_everything_is_copied_and_told(tmp_path: Path) -> None:
    write(
        tmp_path / "s",
        {"a": "1", "d/b": "2", ".git/x": "", "d/.git": "", ".pi-batch/x": "", "v/pyvenv.cfg": ""},
    )
    shell(tmp_path / "s", 'mkdir -p e/f .git; mkfifo pipe; ln -s "$PWD/a" abs; ln -s a rel; chmod 750 d')
    copied = copy_of(tmp_path / "s", tmp_path / "t")
    assert files_of(tmp_path / "t") == {
        "a": b"1", "d/b": b"2", "abs": b"-> a", "rel": b"-> a", "v/pyvenv.cfg": b"",
    }  # fmt: skip
    assert sorted(copied.files) == [b"a", b"abs", b"d/b", b"rel", b"v/pyvenv.cfg"]
    assert copied.empty_directories == [b"e/f"]
    assert copied.special == [b"pipe"]
    assert sorted(copied.repositories) == [b".git", b"d/.git"]
    assert copied.relinked == [b"abs"]
    assert copied.environments == [b"v"]
    assert (tmp_path / "t" / "d").stat().st_mode & 0o777 == 0o750


def test_a_directory_may_be_skipped_by_its_path(tmp_path: Path) -> None:
    write(tmp_path / "s", {"tmp/run/x": "", "tmp/y": "", "run/z": ""})
    copy_of(tmp_path / "s", tmp_path / "t", (b"tmp/run",))
    assert sorted(files_of(tmp_path / "t")) == ["run/z", "tmp/y"]


def test_times_and_modes_are_kept_and_special_bits_are_not(tmp_path: Path) -> None:
    write(tmp_path / "s", {"d/f": "x"})
    os.utime(tmp_path / "s" / "d" / "f", ns=(1, 123_456_789))
    (tmp_path / "s" / "d" / "f").chmod(0o4751)
    os.utime(tmp_path / "s" / "d", ns=(1, 987_654_321))
    copy_of(tmp_path / "s", tmp_path / "t")
    status = (tmp_path / "t" / "d" / "f").stat()
    assert (status.st_mtime_ns, status.st_mode & 0o7777) == (123_456_789, 0o751)
    assert (tmp_path / "t" / "d").stat().st_mtime_ns == 987_654_321


def test_files_that_share_content_on_disk_do_not_in_the_copy(tmp_path: Path) -> None:
    write(tmp_path / "s", {"a": "x"})
    (tmp_path / "s" / "b").hardlink_to(tmp_path / "s" / "a")
    copy_of(tmp_path / "s", tmp_path / "t")
    (tmp_path / "t" / "a").write_text("changed")
    assert (tmp_path / "t" / "b").read_text() == (tmp_path / "s" / "a").read_text() == "x"


def test_what_may_not_be_read_is_left_out_and_told() -> None:
    with unprivileged() as directory:
        write(directory, {"s/secret": "", "s/closed/x": "", "s/open": ""})
        (directory / "s" / "secret").chmod(0)
        (directory / "s" / "closed").chmod(0)
        copied = copy_of(directory / "s", directory / "t")
        (directory / "s" / "closed").chmod(0o700)
        assert sorted(copied.unreadable) == [b"closed", b"secret"]
        assert copied.files == [b"open"]


def test_copying_ends_when_nobody_waits(tmp_path: Path) -> None:
    def give_up() -> None:
        raise Interrupted

    write(tmp_path / "s", {"a": ""})
    with pytest.raises(Interrupted):
        TreeCopy(tmp_path / "s", tmp_path / "t", (), (), (b"/x",)).make(give_up)
