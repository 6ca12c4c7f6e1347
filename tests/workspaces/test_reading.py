"""Files read into entries: exactly, and never through a link."""

from __future__ import annotations

import contextlib
import os
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from pi_batch.workspaces.boundary import Interrupted, never
from pi_batch.workspaces.objects import ObjectStore
from pi_batch.workspaces.reading import Entry, Reader
from tests.workspaces.repositories import shell, write


@contextlib.contextmanager
def unprivileged() -> Iterator[Path]:
    """A directory of somebody who is not root, while this process is that somebody."""
    with tempfile.TemporaryDirectory(prefix="pi-batch-test-") as directory:
        if os.geteuid() != 0:
            yield Path(directory)
            return
        os.chown(directory, 65534, 65534)
        os.seteuid(65534)
        try:
            yield Path(directory)
        finally:
            os.seteuid(0)


@pytest.fixture
def store(tmp_path: Path) -> ObjectStore:
    (tmp_path / "objects").mkdir()
    return ObjectStore(tmp_path / "objects", "sha1")


@pytest.fixture
def top(tmp_path: Path) -> Path:
    write(tmp_path / "top", {"a.txt": "1\n", "d/e/f": "2\n"})
    return tmp_path / "top"


def test_equal_files_are_stored_once(tmp_path: Path, store: ObjectStore) -> None:
    write(tmp_path / "equal", {f"{number}.txt": "same\n" for number in range(9)})
    found = Reader(store, {}).read(tmp_path / "equal", [b"%d.txt" % n for n in range(9)], never)
    assert len(found.entries) == 9
    assert found.added == {entry.oid for entry in found.entries.values()}
    assert len(found.added) == 1


def test_modes_links_and_contents_are_read(top: Path, store: ObjectStore) -> None:
    shell(top, "chmod +x a.txt; ln -s ../nowhere d/link")
    found = Reader(store, {}).read(top, [b"a.txt", b"d/e/f", b"d/link"], never)
    assert found.entries == {
        b"a.txt": Entry("100755", store.identify(b"1\n")),
        b"d/e/f": Entry("100644", store.identify(b"2\n")),
        b"d/link": Entry("120000", store.identify(b"../nowhere")),
    }
    assert len([path for path in store.path.rglob("*") if path.is_file()]) == 3


def test_what_is_stored_already_is_not_written(top: Path, store: ObjectStore) -> None:
    stored = {b"a.txt": Entry("100644", store.identify(b"1\n"))}
    Reader(store, stored).read(top, [b"a.txt"], never)
    assert list(store.path.iterdir()) == []


def test_what_is_not_there_is_left_out(top: Path, store: ObjectStore) -> None:
    found = Reader(store, {}).read(top, [b"gone", b"gone/deep", b"a.txt/x", b"d"], never)
    assert (found.entries, found.skipped) == ({}, {})


def test_a_top_that_is_gone_or_a_link_holds_nothing(top: Path, store: ObjectStore, tmp_path: Path) -> None:
    (tmp_path / "alias").symlink_to(top)
    for place in (tmp_path / "gone", tmp_path / "alias", top / "a.txt"):
        assert Reader(store, {}).read(place, [b"a.txt"], never).entries == {}


def test_no_link_is_followed_at_any_place_of_a_path(top: Path, store: ObjectStore, tmp_path: Path) -> None:
    write(tmp_path / "private", {"f": "secret", "e/f": "secret"})
    shell(top, f"rm -r d/e; ln -s '{tmp_path}/private' d/e; ln -s '{tmp_path}/private' g")
    found = Reader(store, {}).read(top, [b"d/e/f", b"g/e/f", b"g/f"], never)
    assert found.entries == {}


def test_a_directory_swapped_for_a_link_while_it_is_read_is_not_followed(
    top: Path, store: ObjectStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The race that an agent's background process can run, won at every step."""
    write(tmp_path / "private", {"e/f": "secret", "f": "secret"})
    real_open = os.open

    def swapping_open(path: Any, *arguments: Any, **keywords: Any) -> int:
        descriptor = real_open(path, *arguments, **keywords)
        if path == b"d":
            shell(top, f"mv d moved; ln -s '{tmp_path}/private' d")
        return descriptor

    monkeypatch.setattr(os, "open", swapping_open)
    found = Reader(store, {}).read(top, [b"d/e/f"], never)
    assert found.entries[b"d/e/f"].oid == store.identify(b"2\n")


def test_special_files_are_left_out(top: Path, store: ObjectStore) -> None:
    os.mkfifo(top / "pipe")
    assert Reader(store, {}).read(top, [b"pipe"], never).entries == {}


def test_modes_come_from_the_index_where_the_disk_has_none(top: Path, store: ObjectStore) -> None:
    shell(top, "chmod +x a.txt d/e/f; touch new; chmod +x new")
    stored = {b"a.txt": Entry("100644", "0" * 40), b"d/e/f": Entry("100755", "0" * 40)}
    found = Reader(store, stored, trusts_exec_bit=False).read(top, [b"a.txt", b"d/e/f", b"new"], never)
    assert [found.entries[path].mode for path in (b"a.txt", b"d/e/f", b"new")] == [
        "100644",
        "100755",
        "100644",
    ]


def test_large_files_are_read_in_pieces(top: Path, store: ObjectStore) -> None:
    content = b"0123456789abcdef" * (9 << 16)
    write(top, {"large": content})
    found = Reader(store, {}).read(top, [b"large"], never)
    assert found.entries[b"large"].oid == store.identify(content)


def test_a_file_over_the_limit_is_skipped_unless_it_is_stored(top: Path, store: ObjectStore) -> None:
    write(top, {"large": b"x" * (9 << 20)})
    oid = store.identify(b"x" * (9 << 20))
    limited = Reader(store, {}, max_new_bytes=8 << 20).read(top, [b"large"], never)
    assert limited.skipped == {b"large": "9 MB, more than 8 MB"}
    known = Reader(store, {b"large": Entry("100644", oid)}, max_new_bytes=8 << 20).read(
        top, [b"large"], never
    )
    assert known.entries[b"large"].oid == oid


def test_pointers_of_large_files_are_named(top: Path, store: ObjectStore) -> None:
    pointer = "version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 3\n"
    write(top, {"x.bin": pointer, "about.md": "see " + pointer})
    assert Reader(store, {}).read(top, [b"x.bin", b"about.md"], never).pointers == [b"x.bin"]


def test_what_may_not_be_read_is_skipped_with_the_reason() -> None:
    with unprivileged() as directory:
        write(directory, {"top/secret": "s", "top/closed/f": "s", "top/open": "o", "objects/info/x": ""})
        (directory / "top" / "secret").chmod(0)
        (directory / "top" / "closed").chmod(0)
        store = ObjectStore(directory / "objects", "sha1")
        found = Reader(store, {}).read(directory / "top", [b"secret", b"closed/f", b"open"], never)
        (directory / "top" / "closed").chmod(0o700)
    assert found.skipped == {b"secret": "Permission denied", b"closed/f": "Permission denied"}
    assert list(found.entries) == [b"open"]


def test_reading_ends_when_nobody_waits(top: Path, store: ObjectStore) -> None:
    def give_up() -> None:
        raise Interrupted

    with pytest.raises(Interrupted):
        Reader(store, {}).read(top, [b"a.txt"], give_up)


@pytest.mark.skipif(not Path("/proc/self/fd").exists(), reason="needs /proc")
def test_no_descriptor_is_left_open(top: Path, store: ObjectStore) -> None:
    before = len(list(Path("/proc/self/fd").iterdir()))
    Reader(store, {}).read(top, [b"a.txt", b"d/e/f", b"gone/x", b"d/e/gone", b"a.txt/x"], never)
    assert len(list(Path("/proc/self/fd").iterdir())) == before
