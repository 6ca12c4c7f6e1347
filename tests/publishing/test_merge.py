"""A patch on a commit, in the object store alone."""

from __future__ import annotations

from pathlib import Path

import pytest

from pi_batch.git import Git, Place, find_git
from pi_batch.publishing.merge import NotPublished, changes, changes_in, merge
from pi_batch.publishing.policy import Change
from tests.publishing.runs import FILES, move_on, patch_of
from tests.workspaces.repositories import git, make_repository, state_of


@pytest.fixture
def top(tmp_path: Path) -> Path:
    return make_repository(tmp_path / "r", FILES)


def at(top: Path) -> tuple[Git, Place, str]:
    return Git(find_git()), Place(top / ".git", top), git(top, "rev-parse", "HEAD")


def lines(**changed: str) -> str:
    return "".join(f"{changed.get(f'n{number}', f'line {number}')}\n" for number in range(1, 21))


async def test_a_patch_becomes_a_tree_and_nothing_else_changes(top: Path) -> None:
    patch = patch_of(top, {"a.txt": lines(n3="three"), "new/ñ x.bin": b"\0\xff", "src/b.py": None})
    runner, place, head = at(top)
    before = {name: line for name, line in state_of(top).items() if ".git/objects" not in name}
    merged = await merge(runner, place, head, patch)
    after = {name: line for name, line in state_of(top).items() if ".git/objects" not in name}
    assert {name: line.split()[-1] for name, line in after.items() if name != ".git"} == {
        name: line.split()[-1] for name, line in before.items() if name != ".git"
    }
    assert set(merged.changes) == {
        Change("a.txt", "M", "100644"),
        Change("new/ñ x.bin", "A", "100644"),
        Change("src/b.py", "D", "000000"),
    }
    assert not merged.is_three_way
    assert git(top, "show", f"{merged.tree}:a.txt").split("\n")[2] == "three"


async def test_where_the_base_moved_it_is_merged_three_ways(top: Path) -> None:
    patch = patch_of(top, {"a.txt": lines(n10="ten")})
    move_on(top, {"a.txt": lines(n9="nine, moved", n1="one, moved").replace("line 8\n", "")})
    runner, place, head = at(top)
    with pytest.raises(NotPublished, match=r"conflict .*: a\.txt$"):
        await merge(runner, place, head, patch)
    move_on(top, {"a.txt": "first\n" + lines(n1="one, moved", n5="five, moved")})
    head = git(top, "rev-parse", "HEAD")
    merged = await merge(runner, place, head, patch)
    text = git(top, "show", f"{merged.tree}:a.txt")
    assert "ten" in text
    assert "five, moved" in text


async def test_a_patch_that_is_there_already_changes_nothing(top: Path) -> None:
    patch = patch_of(top, {"a.txt": lines(n3="three")})
    move_on(top, {"a.txt": lines(n3="three")})
    runner, place, head = at(top)
    merged = await merge(runner, place, head, patch)
    assert merged.changes == ()
    assert merged.is_three_way


async def test_a_patch_of_files_that_the_repository_never_had_is_refused(top: Path, tmp_path: Path) -> None:
    other = make_repository(tmp_path / "o", {"gone.txt": "x\n" * 9})
    patch = patch_of(other, {"gone.txt": "x\n" * 8 + "y\n"})
    runner, place, head = at(top)
    with pytest.raises(NotPublished, match=r"does not apply here"):
        await merge(runner, place, head, patch)


async def test_what_a_patch_changes_is_read_by_git_also_where_it_would_not_apply(top: Path) -> None:
    patch = patch_of(top, {"a.txt": lines(n3="three"), "x\ty": "new\n"})
    (top / "a.txt").write_text("something else\n")
    runner, place, _head = at(top)
    assert {change.path for change in await changes_in(runner, place, patch)} == {"a.txt", "x\ty"}


@pytest.mark.parametrize("mode", ["120000", "160000"])
async def test_special_modes_are_seen_in_a_patch(top: Path, mode: str) -> None:
    head = f"diff --git a/l b/l\nnew file mode {mode}\nindex 0000000..1111111\n"
    patch = f"{head}--- /dev/null\n+++ b/l\n@@ -0,0 +1 @@\n+t\n"
    runner, place, _head = at(top)
    assert [change.mode for change in await changes_in(runner, place, patch.encode())] == [mode]


async def test_a_special_mode_in_a_files_text_is_text(top: Path) -> None:
    patch = patch_of(top, {"a.txt": "new file mode 120000\n"})
    runner, place, _head = at(top)
    assert [change.mode for change in await changes_in(runner, place, patch)] == ["100644"]


async def test_rubbish_is_no_patch(top: Path) -> None:
    runner, place, head = at(top)
    with pytest.raises(NotPublished):
        await changes_in(runner, place, b"not a patch\n")
    with pytest.raises(NotPublished):
        await merge(runner, place, head, b"not a patch\n")


async def test_links_are_seen_in_a_tree(top: Path) -> None:
    (top / "l").symlink_to("/etc/passwd")
    git(top, "add", "-A")
    runner, place, head = at(top)
    tree = git(top, "write-tree")
    assert await changes(runner, place, head, tree) == (Change("l", "A", "120000"),)
