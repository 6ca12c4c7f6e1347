"""Which files count."""

from __future__ import annotations

from pathlib import Path

import pytest

from pi_batch.git import Git, Place, find_git
from pi_batch.workspaces.layout import Heads, write_shadow
from pi_batch.workspaces.listing import IgnoreRules, list_checkout, list_ignored, list_others
from pi_batch.workspaces.reading import Entry
from tests.workspaces.repositories import git as run_git
from tests.workspaces.repositories import make_repository, shell, write


@pytest.fixture
def git(tmp_path: Path) -> Git:
    return Git(find_git())


@pytest.fixture
def top(tmp_path: Path) -> Path:
    return make_repository(tmp_path / "p", {"a.txt": "1\n", ".gitignore": "*.log\n"})


@pytest.fixture
def place(tmp_path: Path, top: Path) -> Place:
    """A shadow without a start, over the checkout."""
    write_shadow(tmp_path / "shadow.git", "sha1", Heads("ref: refs/heads/main"))
    return Place(tmp_path / "shadow.git", top, tmp_path / "shadow.git" / "start-index")


async def test_tracked_and_new_files_are_listed_with_what_is_stored(git: Git, top: Path) -> None:
    write(top, {"new": "", "x.log": "", "node_modules/x": ""})
    listing = await list_checkout(git, top, IgnoreRules())
    assert sorted(listing.names) == [b".gitignore", b"a.txt", b"new"]
    assert listing.stored[b"a.txt"] == Entry("100644", run_git(top, "rev-parse", "HEAD:a.txt"))


async def test_a_file_in_conflict_is_listed_once_and_is_not_stored(git: Git, top: Path) -> None:
    shell(
        top,
        "git checkout -qb side; echo s > a.txt; git commit -qam s; git checkout -q main;"
        "echo m > a.txt; git commit -qam m; git merge side || true",
    )
    listing = await list_checkout(git, top, IgnoreRules())
    assert set(listing.names) == {b".gitignore", b"a.txt"}
    assert b"a.txt" not in listing.stored


async def test_a_repository_inside_is_one_entry_that_is_left_out(git: Git, top: Path) -> None:
    make_repository(top / "vendor", {"v": ""})
    listing = await list_checkout(git, top, IgnoreRules())
    assert listing.left_out == [b"vendor/"]


async def test_directories_of_the_run_are_left_out_whatever_their_name(git: Git, top: Path) -> None:
    write(top, {"tmp [1]*/run/x": "", "tmp [1]*/other": "", "tmp 1/run/x": ""})
    listing = await list_checkout(git, top, IgnoreRules(directories=(b"tmp [1]*/run",)))
    assert {name for name in listing.names if name.startswith(b"tmp")} == {b"tmp [1]*/other", b"tmp 1/run/x"}


async def test_the_users_own_rules_count_when_they_are_asked_for(git: Git, top: Path, tmp_path: Path) -> None:
    write(tmp_path / "home", {".config/git/ignore": ".idea/\n"})
    write(top, {".idea/x": "", "new": ""})
    without = await list_checkout(git, top, IgnoreRules())
    with_them = await list_checkout(git, top, IgnoreRules(user_home=tmp_path / "home"))
    assert set(without.names) - set(with_them.names) == {b".idea/x"}


async def test_others_are_found_in_repositories_inside_under_all_rules(
    git: Git, place: Place, top: Path
) -> None:
    shell(
        top,
        "mkdir -p in/er; cd in; git init -q; echo '/own' > .gitignore;"
        "touch own x.log y.pyc ok ':magic' ./-dash;"
        "cd er; git init -q; touch deep deep.log",
    )
    found = await list_others(git, place, IgnoreRules())
    assert {name for name in found.names if name.startswith(b"in/")} == {
        b"in/.gitignore",
        b"in/:magic",
        b"in/-dash",
        b"in/ok",
        b"in/er/deep",
    }


async def test_a_repository_inside_that_is_empty_is_nothing(git: Git, place: Place, top: Path) -> None:
    shell(top, "git init -q in")
    found = await list_others(git, place, IgnoreRules())
    assert set(found.names) == {b".gitignore", b"a.txt"}


async def test_what_is_ignored_is_listed_file_by_file_without_by_products(
    git: Git, place: Place, top: Path
) -> None:
    write(top, {"x.log": "", "d/y.log": "", "d/z": "", "e/only.log": "", "node_modules/q": "", "a.pyc": ""})
    assert set(await list_ignored(git, place, IgnoreRules())) == {b"x.log", b"d/y.log", b"e/only.log"}
