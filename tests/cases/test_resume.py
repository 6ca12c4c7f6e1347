"""Bug reports about runs that were cut and taken up again, on the real program."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.cases.project import Project
from tests.cases.turns import Turn, bash, say, turn, write_session
from tests.living import NAP, living

pytestmark = pytest.mark.slow


def exec_words(project: Project, prompt: str, *turns: Turn, more: tuple[str, ...] = ()) -> list[str]:
    """A call of `exec`; the recording holds the turns of all calls so far."""
    write_session(project.base / "model.jsonl", turns)
    words = [sys.executable, "-m", "pi_batch", "exec", prompt, "-m", "replay/model.jsonl"]
    return [*words, "--sandbox", "none", "--output", "out", *more]


def call(project: Project, words: list[str]) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        words,
        cwd=project.base,
        env=project.environ(),
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )


@contextmanager
def started(project: Project, words: list[str], sign: Path) -> Iterator[subprocess.Popen[bytes]]:
    """A process that has come so far that a file is there; killed in the end."""
    process = subprocess.Popen(
        words, cwd=project.base, env=project.environ(), stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    try:
        until_s = time.monotonic() + 30
        while not sign.exists():
            assert process.poll() is None
            assert time.monotonic() < until_s
            time.sleep(0.01)
        yield process
    finally:
        process.kill()
        process.communicate()


def session(project: Project, key: str = "exec") -> list[dict[str, Any]]:
    """Every line of the session, each whole JSON."""
    lines = (project.base / "out/tasks" / key / "session.jsonl").read_bytes().split(b"\n")
    return [json.loads(line) for line in lines if line]


def test_a_torn_line_is_set_aside_before_anything_is_appended(project: Project) -> None:
    """PrimeIntellect-ai/prime-agent#928: entries glued to a stump are lost at every later resume."""
    first = (turn(bash("echo mark-a")), say("done a"))
    assert call(project, exec_words(project, "one", *first)).returncode == 0
    path = project.base / "out/tasks/exec/session.jsonl"
    path.write_bytes(path.read_bytes()[:-15])
    second = (turn(bash("echo mark-a")), turn(bash("echo mark-b")), say("done b"))
    done = call(project, exec_words(project, "two", *second, more=("-c",)))
    assert done.returncode == 0
    assert "set aside" in done.stderr
    third = (*second, turn(bash("echo mark-c")), say("done c"))
    assert call(project, exec_words(project, "three", *third, more=("-c",))).returncode == 0
    text = json.dumps(session(project))
    assert all(mark in text for mark in ("mark-a", "mark-b", "mark-c"))


def test_a_second_process_is_refused_at_once_and_the_first_ends_well(project: Project) -> None:
    """anthropics/claude-code#39151: two processes write into one session."""
    first = (turn(bash("echo mark-a")), say("done a"))
    assert call(project, exec_words(project, "one", *first)).returncode == 0
    sign = project.base / "started"
    slow = (*first, turn(bash(f"touch {sign}; sleep 12; echo mark-b")), say("done b"))
    words = exec_words(project, "two", *slow, more=("-c",))
    with started(project, words, sign) as process:
        other = call(project, [*words[:4], "mark-x", *words[5:]])
        assert process.poll() is None, "it was refused at once"
        process.wait(timeout=60)
    assert process.returncode == 0
    assert other.returncode != 0
    assert re.search("(?i)lock|in use|already", other.stderr)
    assert len(other.stderr.rstrip().split("\n")) == 1
    assert "mark-x" not in json.dumps(session(project))


def test_a_call_that_was_cut_gets_a_result_that_says_so(project: Project) -> None:
    """paperclipai/paperclip#2358: a call without a result makes each later resume fail."""
    sign = project.base / "started"
    stuck = f"touch {sign}; sleep {NAP}.8"
    write_session(
        project.base / "model.jsonl",
        [turn(bash("echo first"), bash(stuck, timeout=600)), turn(bash("echo mark-b")), say("done b")],
    )
    spec = project.write_spec(sandbox="none").name
    words = [sys.executable, "-m", "pi_batch", "run", spec, "-m", "replay/model.jsonl", "--output", "out"]
    with started(project, words, sign) as process:
        process.kill()
        process.wait()
    assert living(f"sleep {NAP}.8"), "what a killed runner started lives on"
    done = call(project, [*words[:3], "resume", "out"])
    assert done.returncode == 0
    assert not living(f"sleep {NAP}.8")
    results = {
        entry["message"]["toolCallId"]: entry["message"]
        for entry in session(project, "task")
        if entry["type"] == "message" and entry["message"]["role"] == "toolResult"
    }
    assert results["t0c1"]["isError"]
    assert "Interrupted" in results["t0c1"]["content"][0]["text"]
    assert len(results) == 3


def test_a_run_that_a_signal_ended_goes_on_with_its_workspace(project: Project) -> None:
    sign = project.base / "started"
    stuck = f"echo half > half.txt; touch {sign}; sleep {NAP}.9"
    write_session(
        project.base / "model.jsonl",
        [turn(bash(stuck, timeout=600)), turn(bash("cat half.txt")), say("done")],
    )
    spec = project.write_spec(isolation="copy", sandbox="none", verify=["test -f half.txt"]).name
    words = [sys.executable, "-m", "pi_batch", "run", spec, "-m", "replay/model.jsonl", "--output", "out"]
    with started(project, words, sign) as process:
        process.terminate()
        _, err = process.communicate(timeout=20)
    assert process.returncode == 143
    assert b"to go on: pi-batch resume out (workspaces are kept in /" in err
    kept = Path(err.decode().rpartition("kept in ")[2].rstrip().removesuffix(")"))
    assert kept.is_dir()
    done = call(project, [*words[:3], "resume", "out"])
    assert done.returncode == 0
    assert not kept.exists()
    report = json.loads((project.base / "out/run.json").read_bytes())
    (result,) = report["results"]
    assert (report["status"], report["legs"], result["outcome"]) == ("complete", 2, "passed")
    assert not (project.base / "out/tasks/task/changes.partial.patch").exists()
    assert b"half" in (project.base / "out" / result["patch"]).read_bytes()
