"""Trials on a real Dask cluster: what is killed in mid-run loses nothing, and nothing is paid twice."""

from __future__ import annotations

import signal
from collections import Counter
from pathlib import Path

import pytest

from pi_batch.event_log import read_log
from tests.executors.cluster import KEY, LAST_TURN, TRIALS, Site, kill, site, until

pytest.importorskip("distributed")
pytestmark = [pytest.mark.slow, pytest.mark.timeout(240)]

EVERY_TURN_ONCE = Counter({(str(n), turn): 1 for n in range(1, TRIALS + 1) for turn in range(LAST_TURN + 1)})


def see_that_all_is_whole(one: Site) -> None:
    """Every trial passed, every turn was asked for once and every command ran once."""
    report = one.report()
    assert [result["outcome"] for result in report["results"]] == ["passed"] * TRIALS, one.said()
    assert one.asked == EVERY_TURN_ONCE
    effects = {path.name: path.read_text() for path in one.path.glob("did-*")}
    assert effects == {f"did-{n}-{turn}": "x\n" for n in range(1, TRIALS + 1) for turn in range(LAST_TURN)}
    numbers = [record.seq for record in read_log(one.path / "out/events.jsonl")]
    assert numbers == list(range(1, len(numbers) + 1))
    assert report["totals"]["num_turns"] == TRIALS * (LAST_TURN + 1)
    files = (path for path in (one.path / "out").rglob("*") if path.is_file())
    assert not [path for path in files if KEY.encode() in path.read_bytes()]
    until(lambda: not one.running(), "no process left", 20)


def test_a_killed_worker_loses_nothing_and_another_goes_on(tmp_path: Path) -> None:
    with site(tmp_path) as one:
        _, address = one.scheduler("scheduler")
        first, _ = one.worker(address, 2), one.worker(address, 1)
        program = one.run(address)
        until(lambda: one.are_waiting(TRIALS), "three trials in the middle of a command")
        kill(first)
        one.gate.touch()
        assert program.wait(120) == 0, one.said()
        see_that_all_is_whole(one)


def test_a_killed_scheduler_ends_the_run_and_another_one_goes_on_with_it(tmp_path: Path) -> None:
    with site(tmp_path) as one:
        scheduler, address = one.scheduler("first")
        one.worker(address, TRIALS)
        program = one.run(address)
        until(lambda: one.are_waiting(TRIALS), "three trials in the middle of a command")
        kill(scheduler)
        assert program.wait(60) == 3
        assert f"--scheduler {address}: lost it" in one.said()
        assert one.report()["status"] == "interrupted"
        one.gate.touch()
        _, second = one.scheduler("second")
        one.worker(second, 2)
        program = one.run(second, "resume", "out")
        assert program.wait(120) == 0, one.said()
        see_that_all_is_whole(one)


def test_a_signal_to_the_program_ends_every_trials_process_tree(tmp_path: Path) -> None:
    with site(tmp_path) as one:
        _, address = one.scheduler("scheduler")
        one.worker(address, TRIALS)
        program = one.run(address)
        until(lambda: one.are_waiting(TRIALS), "three trials in the middle of a command")
        assert one.running()
        program.send_signal(signal.SIGTERM)
        assert program.wait(60) == 143
        until(lambda: not one.running(), "no process left", 20)
        report = one.report()
        assert [result["error"]["kind"] for result in report["results"]] == ["cancelled"] * TRIALS
        assert [result["num_turns"] for result in report["results"]] == [2] * TRIALS
        refused = one.start("-m", "pi_batch", "resume", "out", log="refused.log")
        assert refused.wait(60) == 2
        assert "its trials are on a cluster's workers" in one.said("refused.log")
