"""Who carries trials out, and where they are left for workers."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import pytest

from pi_batch.errors import UsageError
from pi_batch.event_log import encode_record, header_line
from pi_batch.protocols import Trial
from pi_batch.results import BudgetAmounts
from pi_batch.wiring.distributing import check_executor, make_executor, prepare_trial, seen_records
from pi_batch.wiring.options import RunOptions
from tests.shards import plan_of
from tests.streams import Stream

DASK = RunOptions(executor="dask", scheduler="tcp://127.0.0.1:1", rerun=("failed",))


@pytest.mark.parametrize(
    "options",
    [RunOptions(executor="dask"), RunOptions(scheduler="x"), RunOptions(executor="local", scheduler="x")],
)
def test_an_executor_and_its_scheduler_go_together(options: RunOptions, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="--executor dask and --scheduler ADDRESS: give both, or none"):
        check_executor(options, tmp_path, is_begun=False)


def test_a_run_is_gone_on_with_where_its_trials_are(tmp_path: Path) -> None:
    check_executor(RunOptions(), tmp_path, is_begun=True)
    check_executor(DASK, tmp_path, is_begun=False)
    with pytest.raises(UsageError, match="was begun without --executor"):
        check_executor(DASK, tmp_path, is_begun=True)
    (tmp_path / "trials").mkdir()
    check_executor(DASK, tmp_path, is_begun=True)
    with pytest.raises(UsageError, match="its trials are on a cluster's workers"):
        check_executor(RunOptions(), tmp_path, is_begun=True)


def test_without_options_this_process_carries_trials_out(tmp_path: Path) -> None:
    assert make_executor(RunOptions(), plan_of("a"), tmp_path).name == "local"
    assert not (tmp_path / "trials").exists()


def test_a_cluster_is_told_where_the_run_is_and_nothing_secret(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-secret-0123456789")
    executor = make_executor(DASK, plan_of("a"), tmp_path)
    assert (executor.name, executor.is_remote) == ("dask", True)
    post = executor._post  # type: ignore[attr-defined]

    async def here() -> None:
        raise AssertionError

    claim = post.claim(Trial("a", BudgetAmounts(turns=2), here, lambda _record: None), 4)
    assert "sk-secret" not in claim
    assert json.loads(claim)["rerun"] == ["failed"]
    assert json.loads(claim)["limit"]["turns"] == 2
    assert post.module == "pi_batch.wiring.trial"


def test_a_trials_directory_shows_the_tasks_of_the_run(tmp_path: Path) -> None:
    made = prepare_trial(tmp_path, "a")
    assert prepare_trial(tmp_path, "a") == made == tmp_path / "trials" / "a"
    (made / "tasks" / "a").mkdir()
    assert (tmp_path / "tasks" / "a").is_dir()


def test_what_a_runs_log_has_of_each_trial_is_counted(tmp_path: Path) -> None:
    log = tmp_path / "events.jsonl"
    assert seen_records(log) == {}
    records = Stream("a").start("a").end("a").records
    text = "".join(f"{encode_record(record, live=False)}\n" for record in records)
    log.write_text(f"{header_line()}\n{text}", encoding="utf-8")
    keyed = [record for record in records if record.key]
    assert seen_records(log) == {"a": Counter((record.at, record.event.type) for record in keyed)}
