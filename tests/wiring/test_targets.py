"""`pi-batch apply` where tasks were about other repositories: each patch goes to its own."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from pi_batch.git import Place
from pi_batch.publishing.merge import NotPublished
from pi_batch.repository_address import address_of
from pi_batch.wiring.repositories import Repositories
from pi_batch.wiring.surroundings import Surroundings
from pi_batch.wiring.targets import Target, Targets
from tests.cli.calling import Called, Desk
from tests.cli.conftest import desk as desk  # noqa: PLC0414 -- the fixture
from tests.publishing.runs import patch_of, write_run
from tests.workspaces.mirroring import Forge
from tests.workspaces.repositories import git

BRANCH = ("--as", "branch", "--push")


class Night:
    """A run with one task about a bare repository."""

    def __init__(self, desk: Desk) -> None:
        self.desk = desk
        self.forge = Forge(desk.path)
        self.number = 0

    def apply(self, content: str, *words: str, ref: str = "", repo: str | None = None) -> Called:
        """Another night: the task changed a.txt to this; what `apply` says."""
        self.number += 1
        patch = patch_of(self.forge.work, {"a.txt": content})
        run = self.desk.path / f"run{self.number}"
        write_run(run, patch, "mend--r", repo=str(self.forge.bare) if repo is None else repo, ref=ref)
        return self.desk.call("apply", str(run), *(words or BRANCH))

    @property
    def published(self) -> dict[str, str]:
        """What the last call noted."""
        run = self.desk.path / f"run{self.number}"
        found: dict[str, str] = json.loads((run / "published.json").read_text())["tasks"][0]
        return found

    def shown(self, name: str = "pi-batch/mend--r") -> str:
        return git(self.forge.bare, "show", f"{name}:a.txt")


@pytest.fixture
def night(desk: Desk) -> Night:
    return Night(desk)


pytestmark = pytest.mark.slow


def test_a_branch_of_the_same_name_is_made_kept_and_updated_night_after_night(night: Night) -> None:
    first = night.apply("two\n")
    assert (first.code, night.shown()) == (0, "two")
    assert first.out.startswith(f"applied  mend--r: branch pi-batch/mend--r on {night.forge.bare} at ")
    tip = git(night.forge.bare, "rev-parse", "pi-batch/mend--r")
    assert night.published["state"] == "applied"
    assert (night.published["branch"], night.published["commit"]) == ("pi-batch/mend--r", tip)
    again = night.apply("two\n")
    assert (again.code, night.published["state"]) == (0, "unchanged")
    assert "unchanged" in again.out
    assert git(night.forge.bare, "rev-parse", "pi-batch/mend--r") == tip
    assert night.apply("three\n").code == 0
    assert night.shown() == "three"
    assert git(night.forge.bare, "rev-list", "--count", "main..pi-batch/mend--r") == "1"


def test_a_base_that_moved_is_merged_and_said(night: Night) -> None:
    patch_base = git(night.forge.work, "rev-parse", "HEAD")
    night.apply("two\n")
    moved = night.forge.push({"src/b.py": "x = 2\n"})
    git(night.forge.work, "reset", "-q", "--hard", patch_base)
    done = night.apply("two\n")
    assert done.code == 0
    assert f"the base moved from bbbbbbbbbbbb to {moved[:12]}" in done.out
    assert git(night.forge.bare, "rev-parse", "pi-batch/mend--r^") == moved


def test_a_conflict_leaves_the_branch_and_keeps_the_patch(night: Night) -> None:
    base = git(night.forge.work, "rev-parse", "HEAD")
    night.forge.push({"a.txt": "somebody else\n"})
    git(night.forge.work, "reset", "-q", "--hard", base)
    done = night.apply("two\n")
    assert done.code == 1
    assert "conflict with what was changed since the start: a.txt" in done.out
    assert night.published["state"] == "refused"
    assert git(night.forge.bare, "branch", "--list", "pi-batch/*") == ""


def test_a_push_that_is_rejected_is_a_refusal_with_the_servers_word(night: Night) -> None:
    hook = night.forge.bare / "hooks" / "pre-receive"
    hook.parent.mkdir(exist_ok=True)
    hook.write_text("#!/bin/sh\necho 'branches are frozen' >&2\nexit 1\n")
    hook.chmod(0o755)
    done = night.apply("two\n")
    assert done.code == 1
    assert "branches are frozen" in done.out


def test_what_people_pushed_to_the_branch_is_left_alone(night: Night) -> None:
    night.apply("two\n")
    theirs = night.forge.push({"a.txt": "mine\n"}, branch="pi-batch/mend--r")
    git(night.forge.work, "reset", "-q", "--hard", "HEAD^")
    done = night.apply("three\n")
    assert done.code == 1
    assert "commits that are not pi-batch's" in done.out
    assert git(night.forge.bare, "rev-parse", "pi-batch/mend--r") == theirs


def test_the_ref_of_the_task_is_what_patches_are_put_on(night: Night) -> None:
    stable = night.forge.push({"src/b.py": "stable\n"}, branch="stable")
    assert night.apply("two\n", ref="stable").code == 0
    assert git(night.forge.bare, "rev-parse", "pi-batch/mend--r^") == stable
    gone = night.apply("two\n", ref="removed-since")
    assert gone.code == 3
    assert "no branch, tag or commit 'removed-since'" in gone.err


@pytest.mark.parametrize("words", [("--as", "tree"), ("--as", "commit"), ("--as", "branch")])
def test_what_needs_a_checkout_is_refused_with_what_to_do(night: Night, words: tuple[str, ...]) -> None:
    done = night.apply("two\n", *words)
    assert done.code == 1
    assert "is not checked out here: --as branch --push, or --as pull-request" in done.out


def test_a_run_names_only_repositories_that_the_publisher_allows(night: Night) -> None:
    done = night.apply("two\n", *BRANCH, "--repo", "https://github.com/me/*")
    assert done.code == 1
    assert "is none of the repositories of --repo" in done.out
    assert night.apply("two\n", *BRANCH, "--repo", "https://x/*", "--repo", f"{night.desk.path}/*").code == 0


def test_an_address_of_a_run_directory_is_taken_for_no_better_than_one_of_a_spec(night: Night) -> None:
    done = night.apply("two\n", repo="ext::touch ran")
    assert done.code == 1
    assert "names no repository that can be pushed to" in done.out
    assert not Path("ran").exists()


def test_pull_requests_go_to_github_alone(night: Night) -> None:
    night.desk.setenv("GH_TOKEN", "t")
    done = night.apply("two\n", "--as", "pull-request")
    assert done.code == 1
    assert "pull requests are opened on https://github.com alone" in done.out


def test_one_repository_that_is_gone_does_not_keep_the_others_back(night: Night) -> None:
    patch = patch_of(night.forge.work, {"a.txt": "two\n"})
    gone = write_run(night.desk.path / "gone", patch, "mend--gone", repo="/nowhere/gone.git")
    there = write_run(night.desk.path / "both", patch, "mend--r", repo=str(night.forge.bare))
    lines = (gone / "events.jsonl").read_text().split("\n")[1:-1]
    with (there / "events.jsonl").open("a") as log:
        for number, line in enumerate(lines, 100):
            record = json.loads(line)
            log.write(json.dumps({**record, "seq": number}) + "\n")
    (gone / "tasks/mend--gone").rename(there / "tasks/mend--gone")
    done = night.desk.call("apply", str(there), *BRANCH)
    assert done.code == 3
    assert "applied  mend--r: " in done.out
    assert "error    mend--gone: /nowhere/gone.git: cannot be fetched" in done.out
    assert night.shown() == "two"


@pytest.mark.parametrize(
    ("address", "environ", "name"),
    [
        ("https://github.com/me/a.git", {}, "me/a"),
        ("git@github.com:me/a.git", {}, "me/a"),
        ("https://ghe.example/me/a", {"GITHUB_SERVER_URL": "https://ghe.example"}, "me/a"),
        ("https://gitlab.com/me/a", {}, None),
        ("https://github.com/too/many/parts", {}, None),
        ("/srv/me/a", {}, None),
    ],
)
async def test_the_forge_of_an_address(
    tmp_path: Path, address: str, environ: dict[str, str], name: str | None
) -> None:
    around = Surroundings(tmp_path, {"GH_TOKEN": "t", **environ})
    targets = Targets(around, Repositories(around, tmp_path), base="HEAD", remote="origin")
    there = Forge(tmp_path)
    local = Targets(
        Surroundings(there.work, {"GH_TOKEN": "t"}), Repositories(around, tmp_path), base="HEAD", remote="x"
    )
    remote = (await local._here()).remote
    target = Target(Place(tmp_path), "c" * 40, "main", remote, address_of(address))
    if name is None:
        with pytest.raises(NotPublished, match="alone"):
            targets.forge(target)
    else:
        assert targets.forge(target).name == name
