"""What of a person's repository is kept from being changed."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from pi_batch.sandboxes import own_git


def init(path: Path) -> Path:
    """A repository with a commit."""
    path.mkdir(parents=True)
    who = ("-c", "user.name=a", "-c", "user.email=a@b")
    for words in (("init", "-q"), (*who, "commit", "-q", "--allow-empty", "-m", "x")):
        subprocess.run(["git", *words], cwd=path, check=True)
    return path.resolve()


def test_a_repository_and_a_linked_work_tree_are_found_from_below(tmp_path: Path) -> None:
    top = init(tmp_path / "main")
    (top / "deep" / "er").mkdir(parents=True)
    assert own_git.repositories(str(top / "deep" / "er")) == (f"{top}/.git",)
    linked = tmp_path.resolve() / "linked"
    subprocess.run(["git", "worktree", "add", "-q", str(linked)], cwd=top, check=True)
    assert own_git.repositories(str(linked)) == (f"{top}/.git", f"{top}/.git/worktrees/linked")
    assert own_git.repositories("/proc") == ()
    (linked / ".git").write_text("gitdir: /nowhere\n", encoding="ascii")
    assert own_git.repositories(str(linked)) == ()


def test_the_work_tree_around_a_directory_is_shown_but_never_a_home(tmp_path: Path) -> None:
    top = init(tmp_path / "main")
    (top / "sub").mkdir()
    assert own_git.top_of(str(top / "sub"), "") == str(top)
    assert own_git.top_of(str(top), "") is None
    assert own_git.top_of(str(top / "sub"), str(top)) is None
    assert own_git.top_of("/proc", "") is None


def test_settings_and_hooks_of_submodules_are_protected_too(tmp_path: Path) -> None:
    git_dir = init(tmp_path / "main") / ".git"
    module = git_dir / "modules" / "lib"
    (module / "objects").mkdir(parents=True)
    (module / "HEAD").write_text("ref: refs/heads/main\n", encoding="ascii")
    protected = own_git.protected(str(git_dir))
    assert {f"{git_dir}/hooks", f"{git_dir}/config", f"{module}/config", f"{module}/hooks"} <= set(protected)


def without_hooks(top: Path) -> Path:
    """A git directory without a directory of hooks."""
    git_dir = init(top) / ".git"
    for hook in (git_dir / "hooks").glob("*"):
        hook.unlink()
    (git_dir / "hooks").rmdir()
    return git_dir


def test_places_are_held_and_given_back_and_git_does_not_mind(tmp_path: Path) -> None:
    git_dir = without_hooks(tmp_path / "main")
    held = own_git.HeldPlaces()
    held.hold(str(git_dir))
    held.hold(str(git_dir))
    assert (git_dir / "hooks").is_dir()
    for words in (["log", "--format=%s"], ["status", "--porcelain"]):
        subprocess.run(["git", *words], cwd=git_dir.parent, capture_output=True, check=True)
    held.give_back()
    assert not (git_dir / "hooks").exists()
    assert not (git_dir / "commondir").exists()
    held.give_back()


def test_the_last_of_several_sandboxes_gives_the_places_back(tmp_path: Path) -> None:
    git_dir = without_hooks(tmp_path / "main")
    first, second = own_git.HeldPlaces(), own_git.HeldPlaces()
    first.hold(str(git_dir))
    second.hold(str(git_dir))
    first.give_back()
    assert (git_dir / "commondir").exists(), "else the second could be led to other settings"
    second.give_back()
    assert not (git_dir / "commondir").exists()
    assert not (git_dir / "hooks").exists()


def test_what_a_killed_process_left_is_removed_by_the_next_one(tmp_path: Path) -> None:
    git_dir = without_hooks(tmp_path / "main")
    code = (
        "import os, sys; from pi_batch.sandboxes.own_git import HeldPlaces; held = HeldPlaces();"
        "held.hold(sys.argv[1]); os.kill(os.getpid(), 9)"
    )
    subprocess.run([sys.executable, "-c", code, str(git_dir)], check=False)
    assert (git_dir / "commondir").exists()
    held = own_git.HeldPlaces()
    held.hold(str(git_dir))
    held.give_back()
    assert sorted(path.name for path in git_dir.iterdir() if path.name in ("hooks", "commondir")) == []


def test_hooks_that_were_there_before_stay(tmp_path: Path) -> None:
    git_dir = without_hooks(tmp_path / "main")
    (git_dir / "hooks").mkdir()
    held = own_git.HeldPlaces()
    held.hold(str(git_dir))
    held.give_back()
    assert (git_dir / "hooks").is_dir()


def test_what_was_changed_meanwhile_is_left(tmp_path: Path) -> None:
    git_dir = init(tmp_path / "main") / ".git"
    held = own_git.HeldPlaces()
    held.hold(str(git_dir))
    (git_dir / "commondir").write_text("elsewhere\n", encoding="ascii")
    held.give_back()
    assert (git_dir / "commondir").exists()
