"""A branch on a remote: pushed, unchanged, rejected, somebody else's."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from pi_batch.errors import WorkspaceError
from pi_batch.git_transport import Transport
from pi_batch.publishing.merge import NotPublished
from pi_batch.publishing.remote import Pushed, Remote
from tests.publishing.runs import FILES, patch_of
from tests.publishing.test_commit import Bench
from tests.workspaces.repositories import commit, git, make_repository, write

NAME = "pi-batch/mend"


class Pair(Bench):
    """A clone and its bare remote."""

    def __init__(self, base: Path) -> None:
        super().__init__(make_repository(base / "r", FILES))
        self.bare = base / "bare.git"
        git(base, "clone", "-q", "--bare", str(self.top), str(self.bare))
        git(self.top, "remote", "add", "origin", str(self.bare))
        environ = {"PATH": os.environ["PATH"], "HOME": str(base), "GIT_DIR": "/nowhere"}
        transport = Transport(self.git.program, environ, protocols=None)
        self.remote = Remote(self.git, self.place, "origin", transport)


@pytest.fixture
def pair(tmp_path: Path) -> Pair:
    return Pair(tmp_path)


async def test_a_branch_is_pushed_once_and_then_kept_up_to_date(pair: Pair) -> None:
    first = await pair.commit()
    assert await pair.remote.push(first, NAME) == Pushed(first, is_new=True)
    assert git(pair.bare, "rev-parse", NAME) == first
    assert await pair.remote.push(first, NAME) == Pushed(first, is_new=False)
    pair.patch = patch_of(pair.top, {"a.txt": "another change\n"})
    second = await pair.commit("again\n\nPi-Batch-Task: mend\n")
    assert await pair.remote.push(second, NAME) == Pushed(second, is_new=True)
    assert git(pair.bare, "rev-parse", NAME) == second
    assert git(pair.bare, "rev-parse", "main") == pair.head


async def test_the_same_change_another_night_is_not_pushed_again(pair: Pair) -> None:
    first = await pair.commit()
    await pair.remote.push(first, NAME)
    again = await pair.commit("other words\n\nPi-Batch-Task: mend\n")
    assert await pair.remote.push(again, NAME) == Pushed(first, is_new=False)
    assert git(pair.bare, "rev-parse", NAME) == first


async def test_commits_of_people_on_the_branch_are_left_alone(pair: Pair, tmp_path: Path) -> None:
    await pair.remote.push(await pair.commit(), NAME)
    person = tmp_path / "person"
    git(tmp_path, "clone", "-q", "-b", NAME, str(pair.bare), str(person))
    write(person, {"mine.txt": "mine\n"})
    git(person, "config", "user.name", "person")
    git(person, "config", "user.email", "p@example.invalid")
    commit(person, "mine")
    git(person, "push", "-q")
    theirs = git(person, "rev-parse", "HEAD")
    with pytest.raises(NotPublished, match="not pi-batch's"):
        await pair.remote.push(await pair.commit("again\n\nPi-Batch-Task: mend\n"), NAME)
    assert git(pair.bare, "rev-parse", NAME) == theirs


async def test_a_remote_that_says_no_is_a_refusal(pair: Pair) -> None:
    hook = pair.bare / "hooks" / "pre-receive"
    hook.parent.mkdir(exist_ok=True)
    hook.write_text("#!/bin/sh\necho 'policy says no' >&2\nexit 1\n")
    hook.chmod(0o755)
    with pytest.raises(NotPublished, match="did not take branch pi-batch/mend: policy says no"):
        await pair.remote.push(await pair.commit(), NAME)


async def test_a_remote_that_is_not_there_is_an_error(pair: Pair) -> None:
    git(pair.top, "remote", "set-url", "origin", "/nowhere/at/all")
    with pytest.raises(WorkspaceError, match="git ls-remote 'origin'"):
        await pair.remote.push(await pair.commit(), NAME)


async def test_the_checkouts_hooks_do_not_run_on_a_push(pair: Pair, tmp_path: Path) -> None:
    hook = pair.top / ".git" / "hooks" / "pre-push"
    hook.parent.mkdir(exist_ok=True)
    hook.write_text(f"#!/bin/sh\ntouch {tmp_path}/hooked\n")
    hook.chmod(0o755)
    assert (await pair.remote.push(await pair.commit(), NAME)).is_new
    assert not (tmp_path / "hooked").exists()


def test_what_is_shown_of_a_remote_holds_no_environment(pair: Pair) -> None:
    assert "nowhere" not in repr(pair.remote)
