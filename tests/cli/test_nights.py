"""Nights in a row over bare repositories: run, apply, remember; killed in the middle, and two at once."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from tests.cases.turns import say, turn, write, write_session
from tests.cli.calling import Called, Desk
from tests.workspaces.mirroring import Forge
from tests.workspaces.repositories import git

pytestmark = pytest.mark.slow

SUITE = """
tasks:
  - id: mend
    prompt: Mend it.
    precheck: {{run: sh check.sh}}
    verify: [sh check.sh]
    {more}
matrix:
  repo: [{repos}]
repo_budget: {{turns: 5}}
"""
WAITS = "workspace: {{setup: ['if test -e waits && test -e {flag}; then sleep 1000; fi']}}"


class Nights:
    """Repositories, a suite over them, and a recording for each."""

    def __init__(self, desk: Desk, **repos: str) -> None:
        """`repos`: name -> what its model writes into a.txt, which should be `good`."""
        self.desk = desk
        self.number = 0
        self.forges = {name: Forge(desk.path, name) for name in repos}
        for name, content in repos.items():
            self.forges[name].push({"check.sh": 'test "$(cat a.txt)" = good\n'})
            self.record(name, content)
        self.suite()

    def suite(self, more: str = "attempts: {verify: 1}") -> None:
        repos = ", ".join(str(forge.bare) for forge in self.forges.values())
        self.desk.write("night.yaml", SUITE.format(repos=repos, more=more))

    def record(self, name: str, content: str) -> None:
        """What the model says to this repository's task from now on."""
        path = self.desk.path / "recorded" / f"mend--{name}.jsonl"
        path.parent.mkdir(exist_ok=True)
        write_session(path, [turn(write("a.txt", f"{content}\n")), say("done")])

    @property
    def words(self) -> tuple[str, ...]:
        self.number += 1
        output = ("--output", f"night{self.number}")
        return ("run", "night.yaml", "-m", "replay/recorded", "--state", "state", "--quiet", *output)

    def night(self, *words: str) -> dict[str, tuple[str, str | None]]:
        """One night: run and apply; key -> (outcome, what skipped it)."""
        self.called = self.desk.call(*self.words, *words)
        self.applied: Called = self.desk.call("apply", f"night{self.number}", "--as", "branch", "--push")
        return {one["key"]: (one["outcome"], one["skipped_by"]) for one in self.report()["results"]}

    def report(self) -> dict[str, Any]:
        found: dict[str, Any] = json.loads((self.desk.path / f"night{self.number}/run.json").read_text())
        return found

    def remembered(self) -> dict[str, dict[str, Any]]:
        path = self.desk.path / "state" / "state.json"
        tasks = json.loads(path.read_text())["tasks"] if path.is_file() else []
        return {one["name"].partition("/")[2]: one for one in tasks}


def test_four_nights_over_two_repositories(desk: Desk) -> None:
    nights = Nights(desk, a="good", b="bad")
    passed, failed = ("passed", None), ("failed", None)
    assert nights.night() == {"mend--a": passed, "mend--b": failed}
    assert (nights.called.code, nights.applied.code) == (1, 0)
    tip = git(nights.forges["a"].bare, "rev-parse", "pi-batch/mend--a")
    assert nights.night() == {"mend--a": passed, "mend--b": failed}
    assert "unchanged" in nights.applied.out
    assert git(nights.forges["a"].bare, "rev-parse", "pi-batch/mend--a") == tip
    git(nights.forges["a"].bare, "update-ref", "refs/heads/main", tip)  # merged
    assert nights.night() == {"mend--a": ("skipped", "precheck"), "mend--b": failed}
    assert nights.night() == {"mend--a": ("skipped", "precheck"), "mend--b": ("skipped", "left_alone")}
    assert nights.called.code == 0
    assert nights.remembered()["mend--b"]["failures"] == 3
    nights.record("b", "good")
    assert nights.night("--try-again")["mend--b"] == passed
    assert nights.remembered()["mend--b"]["failures"] == 0


def test_what_is_left_alone_is_tried_when_its_repository_moves(desk: Desk) -> None:
    nights = Nights(desk, a="bad")
    for _ in range(3):
        nights.night()
    assert nights.night() == {"mend--a": ("skipped", "left_alone")}
    nights.forges["a"].push({"other.txt": "x\n"})
    nights.record("a", "good")
    assert nights.night() == {"mend--a": ("passed", None)}


def test_only_if_changed_skips_a_night_without_commits(desk: Desk) -> None:
    nights = Nights(desk, a="good")
    nights.suite("only_if: {changed: ['**']}")
    assert nights.night() == {"mend--a": ("passed", None)}
    assert nights.night() == {"mend--a": ("skipped", "only_if")}
    assert nights.called.code == 0
    nights.forges["a"].push({"other.txt": "x\n"})
    assert nights.night() == {"mend--a": ("passed", None)}


def test_a_condition_on_the_last_night_without_a_memory_is_said(desk: Desk) -> None:
    nights = Nights(desk, a="good")
    nights.suite("only_if: {days: 7}")
    done = desk.call("run", "night.yaml", "-m", "replay/recorded", "--output", "out")
    assert done.code == 0
    assert "without --state nothing is remembered" in done.err


@pytest.fixture
def waiting(desk: Desk) -> tuple[Nights, subprocess.Popen[bytes]]:
    """A night whose first task has ended and whose second one waits in its setup."""
    nights = Nights(desk, a="good", b="good")
    flag = desk.path / "flag"
    flag.touch()
    nights.forges["b"].push({"waits": ""})
    nights.suite(f"sandbox: none\n    {WAITS.format(flag=flag)}")
    run = subprocess.Popen(
        [sys.executable, "-m", "pi_batch", *nights.words],
        cwd=desk.path,
        env={**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    deadline = time.monotonic() + 90
    while "mend--a" not in nights.remembered() and time.monotonic() < deadline:
        time.sleep(0.02)
    return nights, run


def test_a_night_killed_in_the_middle_forgets_nothing_that_had_ended(
    waiting: tuple[Nights, subprocess.Popen[bytes]],
) -> None:
    nights, run = waiting
    run.send_signal(signal.SIGKILL)
    run.wait()
    assert nights.remembered().keys() == {"mend--a"}
    (nights.desk.path / "flag").unlink()
    resumed = nights.desk.call("resume", f"night{nights.number}")
    assert resumed.code == 0
    assert nights.remembered().keys() == {"mend--a", "mend--b"}
    assert nights.night() == {"mend--a": ("passed", None), "mend--b": ("passed", None)}


def test_two_nights_at_once_are_one(waiting: tuple[Nights, subprocess.Popen[bytes]]) -> None:
    nights, run = waiting
    second = nights.desk.call(*nights.words)
    run.send_signal(signal.SIGTERM)
    run.wait()
    assert second.code == 2
    assert len(second.lines) == 1
    assert f"state: in use, locked by process {run.pid}" in second.err


def test_an_ad_hoc_prompt_remembers_nothing(desk: Desk) -> None:
    desk.setenv("PI_BATCH_STATE", "state")
    assert desk.call("exec", "Go.", "-m", "replay/session.jsonl").code == 0
    assert not (desk.path / "state").exists()


def test_the_state_is_no_run_directory(desk: Desk) -> None:
    nights = Nights(desk, a="good")
    done = desk.call(*nights.words[:-2], "--output", "state")
    assert done.code == 2
    assert "is the run directory: name another place" in done.err


def test_what_needs_one_process_is_refused_elsewhere_in_one_line(desk: Desk) -> None:
    nights = Nights(desk, a="good")
    words = ("run", "night.yaml", "-m", "replay/recorded", "--shard", "1/2")
    sharded = desk.call(*words)
    assert sharded.code == 2
    assert "repo_budget cannot be kept over several" in sharded.err
    spread = desk.call(*nights.words, "--executor", "dask", "--scheduler", "tcp://127.0.0.1:1")
    assert spread.code == 2
    assert len(spread.lines) == len(sharded.lines) == 1
