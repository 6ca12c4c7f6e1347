"""The private repository behind a workspace."""

from __future__ import annotations

from pathlib import Path

import pytest

from pi_batch.errors import WorkspaceError
from pi_batch.git import Git, Place, find_git
from pi_batch.workspaces.layout import Heads, write_shadow
from pi_batch.workspaces.reading import Entry
from pi_batch.workspaces.shadow import Shadow
from tests.workspaces.repositories import git


@pytest.fixture
def shadow(tmp_path: Path) -> Shadow:
    write_shadow(tmp_path / "s.git", "sha1", Heads("ref: refs/heads/main"))
    return Shadow(Git(find_git()), tmp_path / "s.git", "sha1")


async def test_a_tree_is_read_as_it_was_written(shadow: Shadow) -> None:
    blob, link = shadow.store.add(b"x"), shadow.store.add(b"target")
    entries = {
        b"a\nb": Entry("100755", blob),
        b"d/e/\xff": Entry("100644", blob),
        b"l": Entry("120000", link),
    }
    tree = (await shadow.write_tree(entries, frozenset())).top
    stored = await shadow.read_tree(tree)
    assert stored.entries == entries
    assert len(stored.trees) == 2
    assert await shadow.read_links(entries) == {b"l": b"target"}


async def test_blobs_are_read_whatever_is_in_them(shadow: Shadow) -> None:
    contents = [b"", b"\n", b"a\n" * 3, bytes(range(256)), b"0" * 100_000]
    oids = [shadow.store.add(content) for content in contents]
    assert await shadow.read_blobs([*oids, *oids]) == dict(zip(oids, contents, strict=True))
    assert await shadow.read_blobs([]) == {}


async def test_a_missing_blob_is_an_error_that_names_it(shadow: Shadow) -> None:
    with pytest.raises(WorkspaceError, match="1111"):
        await shadow.read_blobs(["1" * 40])


async def test_commits_are_the_same_for_the_same_files(shadow: Shadow) -> None:
    tree = (await shadow.write_tree({}, frozenset())).top
    first = shadow.write_commit(tree, None, None, "the start")
    assert shadow.write_commit(tree, None, None, "the start") == first
    second = shadow.write_commit(tree, first, 1_700_000_000, "more")
    assert git(shadow.git_dir, "log", "--format=%an %ae %ad %s", "--date=unix", second).split("\n") == [
        "pi-batch pi-batch@localhost 1700000000 more",
        "pi-batch pi-batch@localhost 946684800 the start",
    ]
    git(shadow.git_dir, "fsck", "--strict")


async def test_two_trees_are_compared(shadow: Shadow) -> None:
    old = (await shadow.write_tree({b"a": Entry("100644", shadow.store.add(b"1\n"))}, frozenset())).top
    new = (await shadow.write_tree({b"a": Entry("100644", shadow.store.add(b"2\n"))}, frozenset())).top
    difference = await shadow.compare(old, new, b"")
    assert difference.patch.endswith(b"--- a/a\n+++ b/a\n@@ -1 +1 @@\n-1\n+2\n")
    assert [(file.path, file.status, file.added, file.deleted) for file in difference.files] == [
        ("a", "modified", 1, 1)
    ]
    assert (await shadow.compare(new, new, b"")).patch == b""


async def test_files_are_written_raw_and_an_index_can_show_another_commit(
    shadow: Shadow, tmp_path: Path
) -> None:
    blob = shadow.store.add(b"a\r\n$Id$\n")
    attributes = shadow.store.add(b"* text eol=lf ident\n")
    entries = {b"f": Entry("100644", blob), b".gitattributes": Entry("100644", attributes)}
    tree = (await shadow.write_tree(entries, frozenset())).top
    (tmp_path / "out").mkdir()
    place = Place(shadow.git_dir, tmp_path / "out", tmp_path / "index")
    await shadow.check_out(tree, place)
    assert (tmp_path / "out" / "f").read_bytes() == b"a\r\n$Id$\n"
    await shadow.set_index(None, place)
    assert (await shadow.git.run(place, "ls-files")).stdout == b""
    await shadow.set_index(tree, place)
    assert (await shadow.git.run(place, "ls-files")).stdout == b".gitattributes\nf\n"
