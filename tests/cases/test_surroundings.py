"""What a run meets around it: a CI runner that obeys text, a full disk, a terminal that is not read."""

from __future__ import annotations

import os
import re
import resource
import subprocess

import pytest

from tests.cases.project import Project
from tests.cases.turns import bash, say, turn, write
from tests.runner_lines import commands

pytestmark = pytest.mark.slow

COMMANDS = (
    r"printf '::set-output name=r::EVIL\n  ::error file=x::EVIL\n::add-mask::e\n##[error]EVIL\n"
    r"\r::warning::EVIL\nabc ##[add-path]EVIL\n'; echo '::stop-commands::EVIL'"
)
OBEYED = re.compile(rb"^\s*::[a-z-]+[^\n]*|##\[[a-z-]+\][^\n]*", re.MULTILINE)


@pytest.mark.parametrize(
    "flags",
    [
        (),
        ("--events",),
        ("--quiet",),
        *((name, "/dev/stdout") for name in ("--json", "--junit", "--markdown")),
    ],
    ids=" ".join,
)
def test_a_runner_obeys_nothing_that_a_model_or_tool_said(project: Project, flags: tuple[str, ...]) -> None:
    """hmarr/debug-action#5."""
    ran = project.run(
        turn(bash(COMMANDS), write("::error::EVIL", "x"), text="::error::EVIL from the model"),
        say("##[command]EVIL ##vso[x]EVIL\n::error::EVIL\r::error::EVIL"),
        env={"GITHUB_ACTIONS": "true", "CI": "true"},
        args=flags,
        verify=["echo '::error::EVIL'; echo '##[error]EVIL'; echo '##vso[task.complete]EVIL'; exit 1"],
        title="::error::EVIL",
    )
    assert ran.exit_code == 1
    for stream in (ran.stdout.decode(), ran.stderr):
        obeyed = commands(stream)
        ours = {"error", "warning", "group", "endgroup", "stop-commands"}  # foreign text is data in them
        assert {found.name for found in obeyed} <= ours
        assert not [found for found in obeyed if "EVIL" in str(found.properties.get("file", ""))]
        assert sum(found.name == "error" for found in obeyed) <= 1


def test_an_answer_on_stdout_is_no_command_either(project: Project) -> None:
    from tests.cases.turns import write_session

    session = write_session(
        project.base / "model.jsonl", [say("::error::EVIL\n##[group]EVIL\rx ::error::EVIL")]
    )
    ran = project.start(
        "exec", "Go.", "-m", f"replay/{session}", env={"GITHUB_ACTIONS": "true"}, popen={"cwd": project.root}
    )
    assert b"EVIL" in ran.stdout
    assert not [found for found in OBEYED.findall(ran.stdout.replace(b"\r", b"\n")) if b"EVIL" in found]


def test_stdin_is_never_read(project: Project) -> None:
    """openai/codex#20919: a pipe that nobody closes."""
    reader, writer = os.pipe()
    try:
        ran = project.run(turn(bash("cat; echo over")), popen={"stdin": reader})
    finally:
        os.close(reader)
        os.close(writer)
    assert ran.exit_code == 0
    assert ran.duration_s < 20


def test_a_closed_stdin_is_no_crash(project: Project) -> None:
    ran = project.run(turn(bash("cat; echo over")), popen={"preexec_fn": lambda: os.close(0), "stdin": None})
    assert ran.exit_code == 0
    assert "over" in ran.call(0).text


def test_a_session_that_cannot_be_written_ends_the_task_and_not_the_reports(project: Project) -> None:
    """MoonshotAI/kimi-code#2902: the session's file is a link to a full device."""
    task = project.base / "run-1" / "tasks" / "task"
    task.mkdir(parents=True)
    (task / "session.jsonl").symlink_to("/dev/full")
    ran = project.run(turn(bash("echo mark-a")))
    assert ran.exit_code == 3
    assert "space" in ran.stderr
    assert "Traceback" not in ran.stderr
    assert ran.junit_count("error") == 1
    assert "session.jsonl" in ran.reason


def test_a_full_disk_is_one_line_and_an_exit_code(project: Project) -> None:
    """Files of this process may grow to 24 KiB: the log reaches it in the middle of the run."""
    limit = 24 * 1024

    def small_files() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))

    ran = project.run(*[turn(bash(f"seq {n} 1500")) for n in range(12)], popen={"preexec_fn": small_files})
    assert ran.exit_code == 3
    assert "Traceback" not in ran.stderr
    assert re.search(r"too large|cannot be written", ran.stderr, re.IGNORECASE)
    assert ran.junit_count("error") == 1
    for name in ("run.json", "junit.xml"):
        assert not list(ran.run_dir.glob(f"{name}.*"))


def test_a_small_device_that_fills_up_is_survived(project: Project) -> None:
    device = project.base / "small"
    device.mkdir()
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=256k", "tmpfs", str(device)], capture_output=True, check=False
    )
    if mounted.returncode != 0:
        pytest.skip("no right to mount")
    try:
        (project.base / "run-1").symlink_to(device)
        ran = project.run(*[turn(bash(f"seq {n} 9000")) for n in range(12)])
        assert ran.exit_code == 3
        assert "Traceback" not in ran.stderr
        assert "space" in ran.stderr
    finally:
        subprocess.run(["umount", str(device)], check=True)
