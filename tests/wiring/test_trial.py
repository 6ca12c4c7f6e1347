"""One trial of a run that is spread over a cluster, as a worker carries it out."""

from __future__ import annotations

import json
import threading
from pathlib import Path

import pytest

from pi_batch.claims import Claim
from pi_batch.errors import UsageError
from pi_batch.event_log import read_log
from pi_batch.events import BatchStart, TaskStart
from pi_batch.redact import Masker
from pi_batch.results import BudgetAmounts
from pi_batch.wiring.distributing import prepare_trial
from pi_batch.wiring.options import RunOptions
from pi_batch.wiring.planning import make_plan
from pi_batch.wiring.run_lock import held
from pi_batch.wiring.stored_plan import Origin, Storing, write_plan
from pi_batch.wiring.surroundings import Surroundings
from pi_batch.wiring.trial import run_trial
from tests.cases.turns import say, write_session

SUITE = """tasks:
  - {id: a, prompt: Go., workspace: {isolation: none}, verify: ["true"]}
  - {id: b, prompt: Go., workspace: {isolation: none}, verify: ["false"]}
"""
CLAIM = Claim(BudgetAmounts(), 0)


@pytest.fixture
def run_dir(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A run directory as the program makes it before the first trial."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "suite.yaml").write_text(SUITE, encoding="utf-8")
    write_session(tmp_path / "s.jsonl", [say("done")])
    around, options = Surroundings(tmp_path, {}), RunOptions(models=("replay/s.jsonl",), sandbox="none")
    plan = make_plan(("suite.yaml",), options, around)
    made = tmp_path / "out"
    made.mkdir()
    storing = Storing("r1", tmp_path, Origin("run", ("suite.yaml",)), options, {}, Masker(()))
    write_plan(made, storing.of(plan, tmp_path / "pi-batch-x"))
    for key in ("a", "b"):
        prepare_trial(made, key)
    return made


def starts(run_dir: Path, key: str) -> list[TaskStart]:
    records = read_log(run_dir / "trials" / key / "events.jsonl")
    return [record.event for record in records if isinstance(record.event, TaskStart)]


def test_a_trial_runs_alone_and_a_second_execution_asks_for_nothing_again(run_dir: Path) -> None:
    batch = run_trial(run_dir, "a", CLAIM)
    assert [(result.key, result.outcome) for result in batch.results] == [("a", "passed")]
    assert (run_dir / "tasks/a/session.jsonl").is_file()
    assert sorted(path.name for path in (run_dir / "tasks").iterdir()) == ["a"]
    assert not list((run_dir / "trials/a").glob("pi-batch-*"))
    claim = json.loads((run_dir / "trials/a/claim.json").read_text(encoding="utf-8"))
    assert (claim["key"], claim["claim"]["records"], claim["pid"] > 0) == ("a", 0, True)
    assert run_trial(run_dir, "a", CLAIM).totals.num_turns == batch.totals.num_turns == 1
    assert len(starts(run_dir, "a")) == 1


def test_what_a_claim_asks_anew_is_done_once_however_often_it_is_executed(run_dir: Path) -> None:
    run_trial(run_dir, "b", CLAIM)
    log = run_dir / "trials/b/events.jsonl"
    records = sum(record.key is not None for record in read_log(log))
    again = Claim(BudgetAmounts(), records, rerun=("failed",))
    run_trial(run_dir, "b", again)
    run_trial(run_dir, "b", again)
    assert [start.is_rerun for start in starts(run_dir, "b")] == [False, True]


def test_a_part_of_the_budget_that_is_used_up_lets_nothing_begin(run_dir: Path) -> None:
    batch = run_trial(run_dir, "a", Claim(BudgetAmounts(tokens=1), 0))
    assert (batch.results[0].outcome, batch.results[0].num_turns) == ("skipped", 0)
    (start,) = [
        record.event
        for record in read_log(run_dir / "trials/a/events.jsonl")
        if isinstance(record.event, BatchStart)
    ]
    assert start.budget == BudgetAmounts(tokens=1)


def test_specs_that_are_not_those_of_the_run_are_refused_unless_forced(run_dir: Path, tmp_path: Path) -> None:
    (tmp_path / "suite.yaml").write_text(SUITE.replace("Go.", "Stop."), encoding="utf-8")
    with pytest.raises(UsageError, match="a: the specs on this worker are not those of the run"):
        run_trial(run_dir, "a", CLAIM)
    with pytest.raises(UsageError, match="c: the specs on this worker"):
        run_trial(run_dir, "c", CLAIM)
    assert not (run_dir / "trials/a/plan.json").exists()
    assert run_trial(run_dir, "a", Claim(BudgetAmounts(), 0, is_forced=True)).totals.passed == 1


def test_a_run_directory_that_is_not_shared_is_said(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="has to be shared with every worker"):
        run_trial(tmp_path, "a", CLAIM)


def test_an_execution_that_still_runs_is_waited_for_and_not_run_beside(run_dir: Path) -> None:
    trial_dir = run_dir / "trials/a"
    with held(trial_dir), pytest.raises(UsageError, match="in use by another process"):
        run_trial(run_dir, "a", CLAIM, wait_s=0)
    entered, let_go = threading.Event(), threading.Event()

    def another() -> None:
        with held(trial_dir):
            entered.set()
            let_go.wait(20)

    thread = threading.Thread(target=another)
    thread.start()
    entered.wait(20)
    threading.Timer(0.05, let_go.set).start()
    assert run_trial(run_dir, "a", CLAIM).totals.passed == 1
    thread.join()
