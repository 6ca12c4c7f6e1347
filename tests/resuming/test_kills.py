"""SIGKILL at two hundred moments: every file is whole, and the run comes to its end."""

from __future__ import annotations

import json
import random
import subprocess
import xml.etree.ElementTree as ET
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from pi_batch.event_log import read_log
from pi_batch.fold import fold
from pi_batch.session import read_session
from tests.resuming.kills import EFFECTS, Kill, Moment, Service, Trial, count_writes, in_child

MOMENTS: tuple[Moment, ...] = ("before", "half", "after")
BATCHES = 4
KILLS_PER_BATCH = 50
"""Two hundred in all, and some by the clock."""
TIMED_KILLS = 4
SPEC = """\
prompt: Go.
sandbox: none
workspace: {path: project, isolation: ISOLATION}
context_files: false
verify: ['true']
"""


@pytest.fixture
def trials(tmp_path: Path) -> Iterator[list[Trial]]:
    """Made one by one, each with a service of its own; all are stopped in the end."""
    made: list[Trial] = []
    yield made
    for trial in made:
        trial.service.stop()


def begin(path: Path, trials: list[Trial], isolation: str = "copy") -> Trial:
    for name in ("project", "tmp"):
        (path / name).mkdir(parents=True)
    (path / "project/a.txt").write_text("base\n")
    (path / "task.yaml").write_text(SPEC.replace("ISOLATION", isolation))
    if isolation == "clone":
        script = "git init -q; git add -A; git -c user.name=t -c user.email=t@e.invalid commit -qm base"
        subprocess.run(["sh", "-c", script], cwd=path / "project", check=True)
    trial = Trial(path, Service(path, path / "effects"))
    trials.append(trial)
    return trial


def look_at_what_is_left(trial: Trial) -> None:
    """Right after the kill: whole files only, but for the last line of a log."""
    for name in ("run.json", "plan.json"):
        if (trial.run_dir / name).exists():
            json.loads((trial.run_dir / name).read_bytes())
    if (trial.run_dir / "junit.xml").exists():
        ET.parse(trial.run_dir / "junit.xml")
    trial.entries()
    log = trial.run_dir / "events.jsonl"
    if log.exists():
        for line in log.read_bytes().split(b"\n")[:-1]:
            json.loads(line)


def finish(trial: Trial) -> None:
    """Go on with a killed run, and hold it to every promise."""
    look_at_what_is_left(trial)
    recorded, asked = len(trial.messages("assistant")), len(trial.service.asked)
    code = in_child(trial.run)
    assert code == 0
    assert all(said >= recorded for said in trial.service.asked[asked:]), (
        "a recorded reply was asked for again"
    )
    look_at_what_is_left(trial)
    report = json.loads((trial.run_dir / "run.json").read_bytes())
    (result,) = report["results"]
    assert (report["status"], result["outcome"]) == ("complete", "passed")
    check_effects(trial)
    check_spending(trial, result)
    check_log(trial, report)
    left = [path.name for path in trial.run_dir.rglob(".*") if path.is_file()]
    assert set(left) <= {".gitignore", ".lock"}
    assert list((trial.path / "tmp").glob("pi-batch-*")) == [], "the workspace is gone"


def check_effects(trial: Trial) -> None:
    """No call was carried out twice, and one that may not have been is an error in the history."""
    done = Counter(trial.side.read_text().split()) if trial.side.exists() else Counter()
    results = {message["toolCallId"]: message for message in trial.messages("toolResult")}
    for name in EFFECTS:
        assert done[name] <= 1, f"{name} was repeated"
        result = results[f"call_{name}"]
        if done[name] == 0:
            assert result["isError"]
        if result["isError"]:
            assert "Interrupted" in result["content"][0]["text"]
    calls = sum(message["stopReason"] == "toolUse" for message in trial.messages("assistant"))
    assert calls == 3


def check_spending(trial: Trial, result: dict[str, object]) -> None:
    """Recorded replies are counted once; each request without one is counted as it was reserved."""
    session = read_session(trial.run_dir / "tasks/task/session.jsonl")
    usages = [
        entry.fields["message"]["usage"]
        for entry in session.entries
        if entry.type == "message" and entry.fields["message"]["role"] == "assistant"
    ]
    assert result["num_turns"] == len(usages) == 4
    reported = result["usage"]
    assert isinstance(reported, dict)
    lost = len(trial.service.asked) - len(usages)
    extra = reported["output_tokens"] - sum(usage["output"] for usage in usages)
    assert extra >= 1024 * lost if lost > 0 else extra >= 0
    budget = result["budget"]
    assert isinstance(budget, dict)
    assert budget["used"]["tokens"] == sum(
        reported[name]
        for name in ("input_tokens", "output_tokens", "cache_read_tokens", "cache_write_tokens")
    )


def check_log(trial: Trial, report: dict[str, object]) -> None:
    """The log is gapless, and folds to what run.json says."""
    records = list(read_log(trial.run_dir / "events.jsonl"))
    assert [record.seq for record in records] == list(range(1, len(records) + 1))
    folded = fold(records)
    assert folded.legs == report["legs"]
    assert [one.usage.output_tokens for one in folded.results] == [
        one["usage"]["output_tokens"]
        for one in report["results"]  # type: ignore[attr-defined]
    ]


def test_a_run_is_killed_while_a_call_runs_and_goes_on(tmp_path: Path, trials: list[Trial]) -> None:
    trial = begin(tmp_path / "t", trials)
    assert in_child(trial.run, Kill(45, "after")) == -9
    finish(trial)


@pytest.mark.slow
@pytest.mark.timeout(300)
@pytest.mark.parametrize("batch", range(BATCHES))
def test_a_run_that_is_killed_anywhere_comes_to_its_end(
    tmp_path: Path, trials: list[Trial], batch: int
) -> None:
    rng = random.Random(batch)
    whole = begin(tmp_path / "whole", trials)
    writes = count_writes(whole.run, tmp_path / "count")
    for number in range(KILLS_PER_BATCH):
        isolation = "clone" if number % 10 == 0 else "copy"
        trial = begin(tmp_path / f"t{number}", trials, isolation)
        kill = Kill(rng.randint(1, writes), rng.choice(MOMENTS))
        code = in_child(trial.run, kill)
        if rng.random() < 0.2 and code == -9:  # and again while it is taken up
            in_child(trial.run, Kill(rng.randint(1, writes), rng.choice(MOMENTS)))
        finish(trial)
        trials.remove(trial)
        trial.service.stop()
    for number in range(TIMED_KILLS):
        trial = begin(tmp_path / f"clock{number}", trials)
        in_child(trial.run, after_s=rng.uniform(0.05, 0.5))
        finish(trial)
