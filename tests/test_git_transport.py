"""git as it talks to others: nothing asked, nothing run, nothing shown, never for ever."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from pi_batch.errors import WorkspaceError
from pi_batch.git import find_git
from pi_batch.git_transport import Login, Said, Transport

GIT = find_git()


def program(directory: Path, script: str) -> str:
    """A program in git's place."""
    path = directory / "git"
    path.write_text(f"#!/bin/sh\n{script}\n")
    path.chmod(0o755)
    return str(path)


async def test_variables_that_name_a_repository_or_ask_somebody_are_taken_out(tmp_path: Path) -> None:
    environ = {
        **os.environ,
        "GIT_DIR": "/elsewhere",
        "GIT_INDEX_FILE": "/elsewhere/index",
        "GIT_CONFIG_PARAMETERS": "'core.hooksPath=/x'",
        "GIT_ASKPASS": "/usr/bin/gui",
        "GIT_SSH_COMMAND": "ssh -i key",
        "GIT_TRACE": "1",
    }
    said = await Transport(program(tmp_path, "env"), environ).run(tmp_path, "fetch")
    found = dict(line.split("=", 1) for line in said.output.split("\n") if "=" in line)
    assert found["GIT_DIR"] == str(tmp_path)
    assert found["GIT_TERMINAL_PROMPT"] == "0"
    assert found["GIT_ASKPASS"] == "true"
    assert found["GIT_SSH_COMMAND"] == "ssh -i key"
    assert "ext" not in found["GIT_ALLOW_PROTOCOL"].split(":")
    assert not {"GIT_INDEX_FILE", "GIT_CONFIG_PARAMETERS", "GIT_TRACE"} & found.keys()
    settings = {found[f"GIT_CONFIG_KEY_{n}"]: found[f"GIT_CONFIG_VALUE_{n}"] for n in range(13)}
    assert settings["core.hooksPath"] == "/dev/null"
    assert settings["push.followTags"] == "false"
    assert int(found["GIT_CONFIG_COUNT"]) == 13


async def test_credentials_go_to_their_server_alone_and_on_no_command_line(tmp_path: Path) -> None:
    login = Login("https://h:8443", "me:hunter2")
    said = await Transport(program(tmp_path, 'echo "$*"; env'), {}, login).run(tmp_path, "fetch", "x")
    assert said.output.split("\n")[0] == "fetch x"
    assert "http.https://h:8443/.extraheader" in said.output
    assert "Authorization: Basic bWU6aHVudGVyMg==" in said.output
    assert "hunter2" not in said.output + repr(login)


@pytest.mark.slow
async def test_a_helper_that_hangs_is_killed_with_all_that_it_started(tmp_path: Path) -> None:
    script = "sleep 1000 & echo $! > helper; wait"
    transport = Transport(program(tmp_path, script), os.environ)
    with pytest.raises(WorkspaceError, match=r"git ls-remote: not done after 0.5 s"):
        await transport.run(tmp_path, "ls-remote", timeout_s=0.5)
    helper = Path("/proc", (tmp_path / "helper").read_text().strip(), "stat")
    assert not helper.exists() or helper.read_text().split()[2] == "Z"


async def test_programs_behind_an_address_are_not_started(tmp_path: Path) -> None:
    said = await Transport(GIT, os.environ).run(tmp_path, "ls-remote", "--", f"ext::touch {tmp_path}/ran")
    assert said.code != 0
    assert "'ext' not allowed" in said.last_line
    assert not (tmp_path / "ran").exists()


async def test_settings_of_the_user_cannot_turn_an_address_into_another_transport(tmp_path: Path) -> None:
    home = tmp_path / "home"
    home.mkdir()
    (home / ".gitconfig").write_text('[url "/"]\n\tinsteadOf = https://h/\n')
    transport = Transport(GIT, {**os.environ, "HOME": str(home)}, protocols="https:http:ssh")
    said = await transport.run(tmp_path, "ls-remote", "--", "https://h/srv/a.git")
    assert "'file' not allowed" in said.last_line


async def test_a_git_that_is_not_there_is_one_line(tmp_path: Path) -> None:
    with pytest.raises(WorkspaceError, match="No such file"):
        await Transport(str(tmp_path / "none"), {}).run(tmp_path, "fetch")


IDLE = "fatal: Could not read from remote repository.\n"


@pytest.mark.parametrize(
    ("output", "reason"),
    [
        (f"fatal: 'x' is no repository\n{IDLE}", "'x' is no repository"),
        (f"git@h: Permission denied.\n{IDLE}\nand the repository exists.\n", "git@h: Permission denied."),
        ("warning: a\nerror: b\nhint: c\n", "b"),
        (
            f"{IDLE}\nPlease make sure you have the correct access rights\n",
            "Could not read from remote repository.",
        ),
        ("", "exit code 1"),
    ],
)
def test_the_reason_that_git_gives_is_the_one_that_says_something(output: str, reason: str) -> None:
    assert Said(1, output).last_line == reason


@pytest.mark.slow
async def test_ssh_has_nobody_to_ask_and_the_users_own_command_is_kept(tmp_path: Path) -> None:
    asks = tmp_path / "ssh"
    asks.write_text(
        '#!/bin/sh\n(read answer < /dev/tty) 2>/dev/null && echo asked >&2\necho "I am $0" >&2\nexit 255\n'
    )
    asks.chmod(0o755)
    home = tmp_path / "home"
    home.mkdir()
    (home / ".gitconfig").write_text(f"[core]\n\tsshCommand = {asks}\n")
    environ = {"PATH": os.environ["PATH"], "HOME": str(home), "DISPLAY": ":0", "SSH_ASKPASS": "/usr/bin/gui"}
    said = await Transport(GIT, environ).run(tmp_path, "ls-remote", "--", "git@host.invalid:a", timeout_s=30)
    assert said.last_line == f"I am {asks}"
    assert "asked" not in said.output
