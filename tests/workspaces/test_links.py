"""Links from one tree into another."""

from __future__ import annotations

from pathlib import Path

import pytest

from pi_batch.workspaces.links import (
    inner_links,
    inner_target,
    links_back,
    portable_target,
    with_portable_links,
)
from pi_batch.workspaces.objects import ObjectStore
from pi_batch.workspaces.reading import Entry

ROOTS = (b"/w/top", b"/alias/top")


@pytest.mark.parametrize(
    ("link", "target", "inside"),
    [
        (b"l", b"a/b", b"a/b"),
        (b"d/l", b"../a", b"a"),
        (b"d/l", b".", b"d"),
        (b"d/l", b"..", b""),
        (b"l", b"/w/top/a", b"a"),
        (b"l", b"/w/top", b""),
        (b"l", b"/w/top/", b""),
        (b"l", b"/alias/top/a//b/../c", b"a/c"),
        (b"l", b"../top/a", b"a"),
        (b"d/l", b"../../top/a", b"a"),
        (b"l", b"/w/topple/a", None),
        (b"l", b"/etc", None),
        (b"l", b"..", None),
        (b"l", b"../other", None),
        (b"d/l", b"../../../x", None),
    ],
)
def test_where_a_link_leads_by_its_text(link: bytes, target: bytes, inside: bytes | None) -> None:
    assert inner_target(link, target, ROOTS) == inside


@pytest.mark.parametrize(
    ("link", "target", "portable"),
    [
        (b"l", b"a/../b", b"a/../b"),
        (b"l", b"/w/top/a", b"a"),
        (b"d/e/l", b"/w/top/a", b"../../a"),
        (b"d/l", b"/w/top", b".."),
        (b"l", b"/w/top", b"."),
        (b"d/l", b"../../top/d/x", b"x"),
        (b"l", b"/etc/passwd", b"/etc/passwd"),
        (b"l", b"../other", b"../other"),
    ],
)
def test_a_link_into_the_tree_becomes_relative(link: bytes, target: bytes, portable: bytes) -> None:
    assert portable_target(link, target, ROOTS) == portable


def test_a_tree_at_the_top_of_the_disk_is_a_tree_too() -> None:
    assert portable_target(b"d/l", b"/etc/x", (b"/",)) == b"../etc/x"


def test_links_that_stay_inside_are_known_with_what_they_name() -> None:
    links = {b"a": b"b", b"d/up": b"../c/./x", b"out": b"../y", b"abs": b"/w/top/z", b"d/self": b"."}
    assert inner_links(links) == {b"a": b"b", b"d/up": b"c/x", b"d/self": b"d"}


def test_links_that_come_back_over_a_stepping_stone_are_found(tmp_path: Path) -> None:
    root, other = tmp_path / "w" / "top", tmp_path / "else"
    root.mkdir(parents=True)
    other.mkdir()
    (tmp_path / "stone").symlink_to(root)
    for name, target in (("a", tmp_path / "stone" / "x"), ("b", other), ("c", Path("d"))):
        (root / name).symlink_to(target)
    links = {name.encode(): bytes((root / name).readlink()) for name in "abc"}
    assert links_back(root, links, (tmp_path / "w",)) == (b"a",)
    assert links_back(root, links, (other,)) == (b"b",)


def test_a_tree_with_portable_links_keeps_all_else(tmp_path: Path) -> None:
    store = ObjectStore(tmp_path, "sha1")
    entries = {
        b"f": Entry("100644", "1" * 40),
        b"in": Entry("120000", "2" * 40),
        b"out": Entry("120000", "3" * 40),
    }
    changed = with_portable_links(entries, {b"in": b"/w/top/f", b"out": b"/etc"}, ROOTS, store)
    assert changed == {**entries, b"in": Entry("120000", store.identify(b"f"))}
