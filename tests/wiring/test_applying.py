"""`pi-batch apply` from end to end: run directory and repository in, one line a task out."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.calling import Desk
from tests.cli.conftest import desk as desk  # noqa: PLC0414 -- the fixture
from tests.publishing.runs import FILES, move_on, patch_of, write_run
from tests.workspaces.repositories import git, make_repository

CHANGED = "".join(f"line {number}\n" for number in range(1, 20)) + "last\n"


@pytest.fixture
def top(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> Path:
    top = make_repository(desk.path / "r", FILES)
    monkeypatch.chdir(top)
    return top


def test_a_patch_that_passed_goes_where_it_is_wanted(desk: Desk, top: Path) -> None:
    run = write_run(desk.path / "run", patch_of(top, {"a.txt": CHANGED}))
    dry = desk.call("apply", str(run), "--dry-run")
    assert dry.code == 0
    assert dry.out.startswith("checked  mend: 1 file would change (the base moved from bbbbbbbbbbbb to ")
    assert git(top, "status", "--porcelain") == ""
    branch = desk.call("apply", str(run), "--as", "branch", "--author", "Ann <ann@example.invalid>")
    assert branch.code == 0
    assert git(top, "show", "pi-batch/mend:a.txt") == CHANGED.rstrip("\n")
    assert git(top, "show", "-s", "--format=%an", "pi-batch/mend") == "Ann"
    tree = desk.call("apply", str(run))
    assert tree.code == 0
    assert tree.out.startswith("applied  mend: in the working files")
    assert (top / "a.txt").read_text() == CHANGED


def test_a_commit_twice_is_one_commit(desk: Desk, top: Path) -> None:
    run = write_run(desk.path / "run", patch_of(top, {"a.txt": CHANGED}))
    assert desk.call("apply", str(run), "--as", "commit").code == 0
    head = git(top, "rev-parse", "HEAD")
    again = desk.call("apply", str(run), "--as", "commit")
    assert again.code == 0
    assert "HEAD has it already" in again.out
    assert git(top, "rev-parse", "HEAD") == head


def test_a_base_that_moved_is_said(desk: Desk, top: Path) -> None:
    run = write_run(desk.path / "run", patch_of(top, {"a.txt": CHANGED}))
    move_on(top, {"src/b.py": "x = 3\n"})
    done = desk.call("apply", str(run), "--as", "commit")
    assert done.code == 0
    assert "the base moved from bbbbbbbbbbbb to " in done.out


def test_a_conflict_changes_nothing_and_keeps_the_patch(desk: Desk, top: Path) -> None:
    run = write_run(desk.path / "run", patch_of(top, {"a.txt": CHANGED}))
    head = move_on(top, {"a.txt": CHANGED.replace("last", "their last")})
    for target in ("tree", "commit", "branch"):
        done = desk.call("apply", str(run), "--as", target)
        assert done.code == 1
        assert done.out.startswith("refused  mend: ")
        assert "the patch is kept: " in done.out
        assert git(top, "rev-parse", "HEAD") == head
        assert git(top, "status", "--porcelain") == ""
    assert (run / "tasks/mend/changes.patch").is_file()


def test_a_workflow_file_is_refused_until_it_is_allowed(desk: Desk, top: Path) -> None:
    run = write_run(desk.path / "run", patch_of(top, {".github/workflows/ci.yml": "on: [push]\n"}))
    for target in ("tree", "commit", "branch"):
        done = desk.call("apply", str(run), "--as", target)
        assert done.code == 1
        assert "runs with rights of its own" in done.out
    assert git(top, "status", "--porcelain") == ""
    assert desk.call("apply", str(run), "--allow", "/.github/workflows/ci.yml").code == 0


def test_a_protected_path_is_refused(desk: Desk, top: Path) -> None:
    run = write_run(desk.path / "run", patch_of(top, {"src/b.py": "x = 9\n"}), touched=("src/b.py",))
    done = desk.call("apply", str(run))
    assert done.code == 1
    assert "protected by the task's own spec" in done.out


def test_what_did_not_pass_is_left_out_and_refused_when_it_is_named(desk: Desk, top: Path) -> None:
    run = write_run(desk.path / "run", patch_of(top, {"a.txt": CHANGED}), passed=False)
    left = desk.call("apply", str(run))
    assert (left.code, left.out) == (0, "")
    assert "nothing to apply" in left.err
    named = desk.call("apply", str(run), "mend")
    assert named.code == 1
    assert "outcome is failed" in named.out


def test_what_no_check_has_judged_needs_a_word(desk: Desk, top: Path) -> None:
    run = write_run(desk.path / "run", patch_of(top, {"a.txt": CHANGED}), has_checks=False)
    assert desk.call("apply", str(run)).code == 1
    assert desk.call("apply", str(run), "--unverified").code == 0


def test_a_patch_that_holds_a_secret_is_refused_and_not_shown(
    desk: Desk, top: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DEPLOY_TOKEN", "s3cr3t-of-the-job")
    run = write_run(desk.path / "run", patch_of(top, {"a.txt": "s3cr3t-of-the-job\n"}))
    done = desk.call("apply", str(run))
    assert done.code == 1
    assert "secret of this job" in done.out
    assert "s3cr3t" not in done.out + done.err


def test_a_patch_outside_of_the_run_directory_is_none(desk: Desk, top: Path) -> None:
    patch = patch_of(top, {"a.txt": CHANGED})
    run = write_run(desk.path / "run", patch)
    (desk.path / "elsewhere.patch").write_bytes(patch)
    (run / "tasks/mend/changes.patch").unlink()
    (run / "tasks/mend/changes.patch").symlink_to(desk.path / "elsewhere.patch")
    done = desk.call("apply", str(run))
    assert done.code == 1
    assert "no file of the run directory" in done.out


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("nowhere",), "no events.jsonl there"),
        (("{run}", "other"), "other: no such task in this run. Its tasks: mend"),
        (("{run}", "--base", "nope"), "--base nope: no such commit here"),
        (("{run}", "--as", "commit", "--author", "x"), "--author: got 'x', need 'Name <email>'"),
        (("{run}", "--as", "pull-request"), "needs GITHUB_REPOSITORY (owner/name) and GH_TOKEN"),
        (("{run}", "--as", "commit", "--title", "{{ x }}"), "--title: 'x' is undefined"),
    ],
)
def test_wrong_calls_are_one_line(desk: Desk, top: Path, words: tuple[str, ...], said: str) -> None:
    run = write_run(desk.path / "run", patch_of(top, {"a.txt": CHANGED}))
    done = desk.call("apply", *[word.replace("{run}", str(run)) for word in words])
    assert done.code == 2
    assert said in done.err
    assert len(done.lines) == 1


def test_outside_of_a_repository_nothing_can_be_applied(
    desk: Desk, top: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = write_run(desk.path / "run", patch_of(top, {"a.txt": CHANGED}))
    monkeypatch.chdir(desk.path)
    done = desk.call("apply", str(run))
    assert done.code == 2
    assert "no git repository" in done.err
