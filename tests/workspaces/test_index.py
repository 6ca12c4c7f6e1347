"""Index files, as git itself would write them."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from pi_batch.workspaces.index import index_of
from pi_batch.workspaces.objects import ObjectStore
from pi_batch.workspaces.reading import Entry
from pi_batch.workspaces.trees import write_trees
from tests.workspaces.repositories import git, git_bytes

NAMES = st.text("ab.-0zé \n", min_size=1, max_size=9).filter(lambda name: name.strip(".") != "")
LONG = b"d/" + b"n" * 200 + b"/" + b"m" * 200
LONGEST = b"/".join([b"n" * 200] * 24)


@pytest.fixture(params=["sha1", "sha256"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> ObjectStore:
    git(tmp_path, "init", "-q", "--bare", "--template=", f"--object-format={request.param}", "r.git")
    return ObjectStore(tmp_path / "r.git" / "objects", request.param)


def written_by_git(repository: Path, tree: str) -> bytes:
    """What git's index of a tree holds below its header, its extensions and its checksum left out."""
    git(repository, "read-tree", tree)
    return git_bytes(repository, "ls-files", "-z", "--stage", "--debug")


@settings(max_examples=8, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(names=st.sets(NAMES, max_size=6))
def test_git_reads_it_as_one_of_its_own(store: ObjectStore, names: set[str]) -> None:
    repository = store.path.parent
    blob = store.add(b"x")
    modes = ("100644", "100755", "120000")
    paths = [*(name.encode() for name in names), b"d/e", LONG, LONGEST]
    entries = {path: Entry(modes[at % 3], blob) for at, path in enumerate(paths)}
    expected = written_by_git(repository, write_trees(entries, store, frozenset()).top)
    (repository / "index").write_bytes(index_of(entries, store.algorithm))
    assert git_bytes(repository, "ls-files", "-z", "--stage", "--debug") == expected
    git(repository, "fsck", "--strict")


def test_one_of_no_files_is_one(store: ObjectStore) -> None:
    (store.path.parent / "index").write_bytes(index_of({}, store.algorithm))
    assert git(store.path.parent, "ls-files") == ""
