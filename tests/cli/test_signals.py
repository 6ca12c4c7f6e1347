"""Signals to a real process: the first ends the run in order, the second ends it now."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from tests.cases.project import BASE, Project
from tests.cases.turns import bash, say, turn, write_session
from tests.living import NAP, living

pytestmark = pytest.mark.slow

STUBBORN = (
    f"echo half > part.txt; trap '' TERM INT HUP; touch {{started}}; sleep {NAP}.{{n}}; sleep {NAP}.{{n}}"
)
CODES = {signal.SIGINT: 130, signal.SIGTERM: 143, signal.SIGHUP: 143}


@contextmanager
def started(project: Project, *more: str, **spec: Any) -> Iterator[subprocess.Popen[bytes]]:
    """A run that has come to what touches `started` beside the project; killed in the end."""
    spec_path = project.write_spec(**spec)
    words = [sys.executable, "-m", "pi_batch", "run", spec_path.name, *more]
    words += ["-m", "replay/model.jsonl", "--output", "out", "--sandbox", "none"]
    process = subprocess.Popen(
        words, cwd=project.base, env=project.environ(), stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    try:
        until_s = time.monotonic() + 30
        while not (project.base / "started").exists():
            assert process.poll() is None
            assert time.monotonic() < until_s
            time.sleep(0.01)
        yield process
    finally:
        process.kill()
        process.communicate()


def nothing_left(n: int) -> bool:
    """True when no process of the run lives."""
    return not living(f"sleep {NAP}.{n}")


def report(project: Project) -> dict[str, Any]:
    """run.json."""
    value: dict[str, Any] = json.loads((project.base / "out/run.json").read_bytes())
    return value


@pytest.mark.parametrize("signum", CODES)
def test_a_signal_ends_the_run_with_everything_on_disk(project: Project, signum: signal.Signals) -> None:
    project.shell(BASE)
    command = STUBBORN.format(started=project.base / "started", n=int(signum))
    write_session(project.base / "model.jsonl", [turn(bash(command, timeout=600), text="on it"), say("done")])
    with started(project, isolation="clone") as process:
        sent_s = time.monotonic()
        process.send_signal(signum)
        out, err = process.communicate(timeout=20)
        assert time.monotonic() - sent_s < 5
    assert process.returncode == CODES[signum]
    assert b"Traceback" not in err
    assert b"interrupted" in out
    found = report(project)
    (result,) = found["results"]
    assert (found["status"], found["exit_code"]) == ("interrupted", CODES[signum])
    assert (result["outcome"], result["error"]["kind"], result["stop"]) == ("error", "cancelled", "cancelled")
    assert b"+half" in (project.base / "out" / result["patch"]).read_bytes()
    assert result["patch"].endswith("changes.partial.patch")
    assert (project.base / "out/junit.xml").read_bytes().count(b"<error") == 1
    assert b"on it" in (project.base / "out" / result["session"]).read_bytes()
    assert nothing_left(int(signum))


def test_a_second_signal_ends_it_now_and_leaves_no_process(project: Project) -> None:
    command = STUBBORN.format(started=project.base / "started", n=77)
    write_session(project.base / "model.jsonl", [turn(bash(command, timeout=600)), say("done")])
    with started(project) as process:
        process.send_signal(signal.SIGTERM)
        time.sleep(0.05)
        sent_s = time.monotonic()
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=20)
        assert time.monotonic() - sent_s < 1.5
    assert process.returncode == 130
    assert nothing_left(77)


@pytest.mark.parametrize(
    "phase",
    [
        pytest.param({"workspace": {"setup": [f"touch {{}}; sleep {NAP}.5"]}}, id="setup"),
        pytest.param({"precheck": {"run": f"touch {{}}; sleep {NAP}.5"}}, id="precheck"),
        pytest.param({"verify": [f"touch {{}}; sleep {NAP}.5"]}, id="verify"),
    ],
)
def test_every_phase_can_be_ended(project: Project, phase: dict[str, Any]) -> None:
    write_session(project.base / "model.jsonl", [say("done")])
    spec = json.loads(json.dumps(phase).replace("{}", str(project.base / "started")))
    with started(project, **spec) as process:
        process.send_signal(signal.SIGTERM)
        process.communicate(timeout=5)
    assert process.returncode == 143
    assert report(project)["results"][0]["error"]["kind"] == "cancelled"
    assert nothing_left(5)


def test_tasks_that_have_not_begun_are_missing_and_not_passed(project: Project) -> None:
    command = STUBBORN.format(started=project.base / "started", n=8)
    write_session(project.base / "model.jsonl", [turn(bash(command, timeout=600)), say("done")])
    other = project.write_spec("later.yaml", id="later").name
    with started(project, other) as process:
        process.send_signal(signal.SIGTERM)
        process.communicate(timeout=20)
    totals = report(project)["totals"]
    assert (totals["planned"], totals["error"], totals["missing"], totals["passed"]) == (2, 1, 1, 0)
    log = (project.base / "out/events.jsonl").read_bytes()
    assert b'"batch_end"' in log.rstrip(b"\n").split(b"\n")[-1]
