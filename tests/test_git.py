"""git as it is run here: pinned, alone, in time."""

from __future__ import annotations

import asyncio
import os
import signal
from pathlib import Path

import pytest

from pi_batch import git as git_module
from pi_batch.errors import WorkspaceError
from pi_batch.git import Git, GitTimeout, Place, find_git
from tests.workspaces.repositories import make_repository, write


@pytest.fixture
def place(tmp_path: Path) -> Place:
    top = make_repository(tmp_path / "p", {"a.txt": "1\n"})
    return Place(top / ".git", top)


@pytest.fixture
def git(tmp_path: Path) -> Git:
    (tmp_path / "home").mkdir()
    return Git(find_git())


def script(directory: Path, body: str) -> Path:
    """A program in the place of git."""
    directory.mkdir(exist_ok=True)
    program = directory / "git"
    program.write_text(f"#!/bin/sh\n{body}\n")
    program.chmod(0o755)
    return program


async def test_a_command_gives_its_output(git: Git, place: Place) -> None:
    output = await git.run(place, "hash-object", "--stdin", stdin=b"x\n")
    assert output.stdout == b"587be6b4c3f93f93c489c0111bba5596147a26cb\n"
    assert output.stderr == b""


async def test_a_failure_is_an_error_with_the_command_the_place_and_gits_last_line(
    git: Git, place: Place
) -> None:
    with pytest.raises(WorkspaceError, match=r"git cat-file in '.*/p': Not a valid object name nothing"):
        await git.run(place, "cat-file", "-p", "nothing")


async def test_an_accepted_exit_code_is_no_failure(git: Git, place: Place) -> None:
    assert (await git.run(place, "config", "no.such", accepted=(0, 1))).stdout == b""


async def test_a_failure_without_words_names_the_exit_code(git: Git, place: Place) -> None:
    with pytest.raises(WorkspaceError, match="exit code 1"):
        await git.run(place, "config", "no.such")


async def test_a_place_that_is_gone_is_an_error(git: Git, tmp_path: Path) -> None:
    with pytest.raises(WorkspaceError, match="No such file"):
        await git.run(Place(tmp_path / "gone"), "version")


async def test_a_program_that_is_gone_is_an_error(place: Place, tmp_path: Path) -> None:
    with pytest.raises(WorkspaceError, match="No such file"):
        await Git("/nonexistent/git").run(place, "version")


async def test_the_environment_is_made_from_scratch(
    place: Place, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GIT_DIR", "/outer")
    monkeypatch.setenv("SECRET_TOKEN", "s")
    program = script(tmp_path / "bin", "env")
    output = (await Git(str(program)).run(place, "x")).stdout.decode()
    variables = dict(line.split("=", 1) for line in output.split("\n") if "=" in line)
    assert "SECRET_TOKEN" not in variables
    assert variables["GIT_DIR"] == str(place.git_dir)
    assert variables["HOME"] == "/dev/null"
    assert (variables["GIT_CONFIG_GLOBAL"], variables["GIT_CONFIG_NOSYSTEM"]) == ("/dev/null", "1")
    assert variables["GIT_OPTIONAL_LOCKS"] == "0"
    assert "GIT_INDEX_FILE" not in variables


async def test_pinned_settings_outrank_the_repositorys(git: Git, place: Place) -> None:
    write(place.git_dir, {"config": "[core]\n\tbare = false\n\thooksPath = /evil\n\tfsmonitor = /evil\n"})
    for key, expected in (("core.hooksPath", b"/dev/null\n"), ("core.fsmonitor", b"false\n")):
        assert (await git.run(place, "config", key)).stdout == expected


async def test_the_users_own_config_is_seen_only_where_it_is_asked_for(
    git: Git, place: Place, tmp_path: Path
) -> None:
    write(tmp_path / "user", {".gitconfig": "[my]\n\tkey = value\n[core]\n\thooksPath = /evil\n"})
    without = await git.run(place, "config", "my.key", accepted=(0, 1))
    with_it = await git.run(place, "config", "my.key", user_home=tmp_path / "user")
    hooks = await git.run(place, "config", "core.hooksPath", user_home=tmp_path / "user")
    assert (without.stdout, with_it.stdout, hooks.stdout) == (b"", b"value\n", b"/dev/null\n")


async def test_a_call_out_of_time_gets_term_first_and_can_clean_up(place: Place, tmp_path: Path) -> None:
    program = script(
        tmp_path / "bin",
        f"trap 'touch {tmp_path}/cleaned; exit 1' TERM; touch {tmp_path}/up; sleep 60 & wait",
    )
    with pytest.raises(GitTimeout, match="not done after"):
        await Git(str(program)).run(place, "gc", timeout_s=0.5)
    assert (tmp_path / "cleaned").exists()


async def test_a_call_that_ignores_term_is_killed(
    place: Place, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(git_module, "GRACE_S", 0.2)
    program = script(tmp_path / "bin", f"trap '' TERM; echo $$ > {tmp_path}/pid; sleep 60; sleep 60")
    with pytest.raises(GitTimeout):
        await Git(str(program)).run(place, "gc", timeout_s=0.3)
    with pytest.raises(ProcessLookupError):
        os.kill(int((tmp_path / "pid").read_text()), 0)


async def test_a_cancelled_call_leaves_no_process(place: Place, tmp_path: Path) -> None:
    program = script(tmp_path / "bin", f"echo $$ > {tmp_path}/pid; exec sleep 60")
    task = asyncio.create_task(Git(str(program)).run(place, "gc"))
    while not (tmp_path / "pid").exists() or not (tmp_path / "pid").read_text():
        await asyncio.sleep(0.01)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    with pytest.raises(ProcessLookupError):
        os.kill(int((tmp_path / "pid").read_text()), 0)


async def test_a_signal_to_our_process_group_does_not_reach_git(place: Place, tmp_path: Path) -> None:
    program = script(tmp_path / "bin", "read -r line < /proc/$$/stat; set -- ${line##*) }; echo $3")
    output = await Git(str(program)).run(place, "x")
    assert int(output.stdout) != os.getpgid(0)
    assert signal.SIGTERM  # the group is git's own, so that ending it ends its children


def test_git_is_found_once() -> None:
    assert Path(find_git()).is_absolute()
    assert find_git() is find_git()


def test_a_missing_git_is_an_error_that_says_what_is_needed(tmp_path: Path) -> None:
    with pytest.raises(WorkspaceError, match=r"not found on PATH.*git >= 2\.31"):
        find_git(str(tmp_path))


@pytest.mark.parametrize("version", ["git version 2.30.9", "git version 1.8.3.1", "no version at all"])
def test_an_old_git_is_an_error_that_names_both_versions(tmp_path: Path, version: str) -> None:
    script(tmp_path / "bin", f"echo '{version}'")
    with pytest.raises(WorkspaceError, match=r"too old; need git >= 2\.31"):
        find_git(str(tmp_path / "bin"))


@pytest.mark.parametrize(
    "version", ["git version 2.31.0", "git version 2.47.1.windows.1", "git version 3.0.rc0"]
)
def test_a_new_git_is_taken(tmp_path: Path, version: str) -> None:
    program = script(tmp_path / "bin", f"echo '{version}'")
    assert find_git(str(tmp_path / "bin")) == str(program)


def test_a_git_in_the_current_directory_is_not_taken(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    script(tmp_path / "bin", "echo git version 2.40.0")
    monkeypatch.chdir(tmp_path / "bin")
    with pytest.raises(WorkspaceError, match="not found"):
        find_git(".")


def test_a_git_that_does_not_run_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "git").write_bytes(b"\x7fELF broken")
    (tmp_path / "bin" / "git").chmod(0o755)
    with pytest.raises(WorkspaceError, match="does not run"):
        find_git(str(tmp_path / "bin"))
