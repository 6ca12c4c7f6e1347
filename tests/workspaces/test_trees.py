"""Nested trees, as git itself would write them."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from pi_batch.errors import WorkspaceError
from pi_batch.workspaces.objects import ObjectStore
from pi_batch.workspaces.reading import Entry
from pi_batch.workspaces.trees import write_trees
from tests.workspaces.repositories import git

PARTS = st.sampled_from([b"a", b"b", b"a.b", b"a-b", b"a0", b"ab", b"z", b"\xff", "é".encode(), b" ", b"\n"])
PATHS = st.lists(PARTS, min_size=1, max_size=4).map(b"/".join)


@pytest.fixture
def store(tmp_path: Path) -> ObjectStore:
    git(tmp_path, "init", "-q", "--bare", "--template=", "r.git")
    return ObjectStore(tmp_path / "r.git" / "objects", "sha1")


def without_conflicts(paths: set[bytes]) -> set[bytes]:
    return {path for path in paths if not any(other.startswith(path + b"/") for other in paths)}


@settings(max_examples=15, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(paths=st.sets(PATHS, max_size=12).map(without_conflicts))
def test_git_gives_the_same_id_to_the_same_files(store: ObjectStore, paths: set[bytes]) -> None:
    repository = store.path.parent
    blob = store.add(b"content\n")
    entries = {path: Entry("100755" if path.endswith(b"b") else "100644", blob) for path in paths}
    lines = b"".join(b"%s %s\t%s\0" % (e.mode.encode(), e.oid.encode(), p) for p, e in entries.items())
    (repository / "index").unlink(missing_ok=True)
    git(repository, "update-index", "-z", "--index-info", stdin=lines)
    assert write_trees(entries, store, frozenset()).top == git(repository, "write-tree")


def test_an_empty_tree_is_gits_empty_tree(store: ObjectStore) -> None:
    assert write_trees({}, store, frozenset()).top == "4b825dc642cb6eb9a060e54bf8d69288fbee4904"


def test_git_accepts_what_is_written(store: ObjectStore) -> None:
    blob = store.add(b"x")
    names = (b"a", b"a.b/c", b"a-b/c", b"b/c/d")
    tree = write_trees({name: Entry("100644", blob) for name in names}, store, frozenset()).top
    git(store.path.parent, "fsck", "--strict")
    assert git(store.path.parent, "ls-tree", "-r", "--name-only", tree) == "a\na-b/c\na.b/c\nb/c/d"


def test_trees_that_are_stored_are_not_written_again(store: ObjectStore) -> None:
    blob = store.add(b"x")
    entries = {b"d/e/f": Entry("100644", blob)}
    written = write_trees(entries, store, frozenset())
    tree = written.top
    ids = git(store.path.parent, "ls-tree", "-r", "-t", "--format=%(objectname)", tree).split("\n")
    assert written.ids == {*ids[:2], tree}
    for oid in written.ids:
        (store.path / oid[:2] / oid[2:]).unlink()
    assert write_trees(entries, store, written.ids) == written
    assert not (store.path / tree[:2] / tree[2:]).exists()


def test_one_path_cannot_be_a_file_and_a_directory(store: ObjectStore) -> None:
    entry = Entry("100644", "0" * 40)
    with pytest.raises(WorkspaceError, match="'a' became a directory"):
        write_trees({b"a": entry, b"a/b": entry}, store, frozenset())
