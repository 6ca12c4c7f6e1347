"""Object stores: what git makes of what is written, and how stores are gathered."""

from __future__ import annotations

import errno
import os
from pathlib import Path

import pytest

from pi_batch.workspaces.boundary import never
from pi_batch.workspaces.objects import (
    ChangedWhileRead,
    ObjectStore,
    chunks_of,
    copy_file,
    gather_objects,
    link_or_copy,
    object_directories,
)
from tests.workspaces.repositories import commit, git, git_bytes, make_repository, write


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    return make_repository(tmp_path / "p", {"a.txt": "1\n"})


@pytest.mark.parametrize("content", [b"", b"text\n", b"\0\1\2" * 1000, b"a\r\nb"])
def test_git_reads_what_was_stored(repository: Path, content: bytes) -> None:
    store = ObjectStore(repository / ".git" / "objects", "sha1")
    oid = store.add(content)
    assert (
        oid
        == store.identify(content)
        == git(repository, "hash-object", "--no-filters", "--stdin", stdin=content)
    )
    assert git_bytes(repository, "cat-file", "blob", oid) == content
    git(repository, "fsck", "--strict")


def test_sha256_repositories_have_their_own_ids(tmp_path: Path) -> None:
    top = make_repository(tmp_path / "p", {"a": ""}, "--object-format=sha256")
    store = ObjectStore(top / ".git" / "objects", "sha256")
    assert git_bytes(top, "cat-file", "blob", store.add(b"x")) == b"x"


def test_storing_again_changes_nothing(repository: Path) -> None:
    store = ObjectStore(repository / ".git" / "objects", "sha1")
    assert store.add(b"same") == store.add(b"same")
    git(repository, "fsck", "--strict")


def test_a_stream_is_stored_like_its_content(repository: Path, tmp_path: Path) -> None:
    store = ObjectStore(repository / ".git" / "objects", "sha1")
    (tmp_path / "f").write_bytes(b"z" * 3_000_000)
    descriptor = os.open(tmp_path / "f", os.O_RDONLY)
    assert store.identify_stream(3_000_000, chunks_of(descriptor)) == store.identify(b"z" * 3_000_000)
    assert store.add_stream(3_000_000, chunks_of(descriptor)) == store.identify(b"z" * 3_000_000)
    os.close(descriptor)


@pytest.mark.parametrize("claimed", [2, 4])
def test_a_stream_of_another_size_is_refused_and_leaves_nothing(repository: Path, claimed: int) -> None:
    objects = repository / ".git" / "objects"
    before = sorted(objects.rglob("*"))
    with pytest.raises(ChangedWhileRead):
        ObjectStore(objects, "sha1").add_stream(claimed, [b"abc"])
    assert sorted(objects.rglob("*")) == before


def test_stores_that_are_borrowed_from_are_found_with_theirs(tmp_path: Path, repository: Path) -> None:
    git(tmp_path, "clone", "-q", "-s", str(repository), "b")
    git(tmp_path, "clone", "-q", "-s", str(tmp_path / "b"), "c")
    found = object_directories(tmp_path / "c" / ".git" / "objects")
    assert found == tuple(tmp_path / name / ".git" / "objects" for name in ("c", "b", "p"))


def test_circles_comments_and_dead_ends_of_borrowing_end(tmp_path: Path) -> None:
    write(tmp_path, {"a/info/alternates": f"# no\n\n../b\n{tmp_path}/gone\n", "b/info/alternates": "../a\n"})
    assert object_directories(tmp_path / "a") == (tmp_path / "a", tmp_path / "b")


@pytest.mark.parametrize("put", [copy_file, link_or_copy])
def test_loose_and_packed_objects_are_gathered(tmp_path: Path, repository: Path, put: object) -> None:
    git(repository, "gc", "-q")
    write(repository, {"b.txt": "2\n"})
    commit(repository, "loose")
    target = tmp_path / "target"
    git(tmp_path, "init", "-q", "--bare", "target")
    gather_objects([repository / ".git" / "objects"], target / "objects", put, never)  # type: ignore[arg-type]
    gather_objects([repository / ".git" / "objects"], target / "objects", put, never)  # type: ignore[arg-type]
    head = git(repository, "rev-parse", "HEAD")
    git(target, "update-ref", "refs/heads/main", head)
    git(target, "fsck", "--strict")
    assert git(target, "log", "--format=%s", "main") == "loose\nfirst"


def test_objects_that_move_while_they_are_gathered_are_found_again(tmp_path: Path, repository: Path) -> None:
    objects = repository / ".git" / "objects"
    target = tmp_path / "target"
    git(tmp_path, "init", "-q", "--bare", "target")
    seen: list[Path] = []

    def put(source: Path, destination: Path) -> None:
        if not seen:
            git(repository, "gc", "-q", "--prune=now")
        seen.append(source)
        copy_file(source, destination)

    gather_objects([objects], target / "objects", put, never)
    git(target, "update-ref", "refs/heads/main", git(repository, "rev-parse", "HEAD"))
    git(target, "fsck", "--strict")


def test_a_link_that_is_refused_becomes_a_copy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise OSError(errno.EXDEV, "Invalid cross-device link")

    monkeypatch.setattr(os, "link", refuse)
    (tmp_path / "a").write_text("x")
    (tmp_path / "a").chmod(0o444)
    link_or_copy(tmp_path / "a", tmp_path / "b")
    assert (tmp_path / "b").read_text() == "x"
    assert (tmp_path / "b").stat().st_mode & 0o777 == 0o444


def test_a_link_among_objects_is_followed(tmp_path: Path) -> None:
    write(tmp_path, {"store/a": "x"})
    (tmp_path / "b").symlink_to("store/a")
    (tmp_path / "deep").mkdir()
    link_or_copy(tmp_path / "b", tmp_path / "deep" / "c")
    assert (tmp_path / "deep" / "c").read_text() == "x"
    assert not (tmp_path / "deep" / "c").is_symlink()


def test_a_copy_never_overwrites(tmp_path: Path) -> None:
    write(tmp_path, {"a": "x", "b": "y"})
    for put in (copy_file, link_or_copy):
        with pytest.raises(FileExistsError):
            put(tmp_path / "a", tmp_path / "b")
    assert (tmp_path / "b").read_text() == "y"


def test_a_disk_without_the_fast_way_is_copied_to_byte_by_byte(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object) -> int:
        raise OSError(errno.EOPNOTSUPP, "not here")

    monkeypatch.setattr(os, "copy_file_range", refuse)
    content = os.urandom(2_500_000)
    (tmp_path / "a").write_bytes(content)
    copy_file(tmp_path / "a", tmp_path / "b")
    assert (tmp_path / "b").read_bytes() == content
