"""A suite on several machines: plan, run --shard, merge, as a person or a CI job types them."""

from __future__ import annotations

import json

from tests.cli.calling import MODEL, Desk

SUITE = """tasks:
  - {id: a, prompt: Go., workspace: {isolation: none}, verify: ["true"]}
  - {id: b, prompt: Go., workspace: {isolation: none}, verify: ["false"]}
"""
HOW = (*MODEL, "--sandbox", "none")


def test_shards_of_a_suite_become_one_run_and_one_exit_code(desk: Desk) -> None:
    desk.write("suite.yaml", SUITE)
    planned = desk.call("plan", "suite.yaml", *HOW, "--shards", "2", "--manifest", "m.json")
    assert (planned.code, planned.out.count("1 result, 1,800 s expected")) == (0, 2)
    for shard, code in (("1/2", 0), ("2/2", 1)):
        words = ("--shard", shard, "--manifest", "m.json", "--output", f"s{shard[0]}")
        assert desk.call("run", "suite.yaml", *HOW, *words).code == code
    merged = desk.call("merge", "s1", "s2", "--output", "whole")
    assert merged.code == 1
    assert "1 passed, 1 failed" in merged.out
    report = json.loads((desk.path / "whole/run.json").read_text(encoding="utf-8"))
    assert report["totals"]["scored"] == report["totals"]["planned"] == 2
    assert (desk.path / "whole/tasks/a/session.jsonl").is_file()
    assert desk.call("report", "whole").code == 1
    assert desk.call("resume", "s1").code == 0


def test_a_shard_without_tasks_has_passed(desk: Desk) -> None:
    done = desk.call("run", "task.yaml", *MODEL, "--shard", "2/2", "--output", "s2")
    assert (done.code, done.out.split("\n")[0][:14]) == (0, "nothing to run")
    report = json.loads((desk.path / "s2/run.json").read_text(encoding="utf-8"))
    assert (report["status"], report["planned"], report["exit_code"]) == ("complete", [], 0)


def test_what_is_wrong_with_a_shard_is_one_line(desk: Desk) -> None:
    done = desk.call("run", "task.yaml", *MODEL, "--shard", "3/2")
    assert done.code == 2
    assert len(done.lines) == 1
    assert desk.call("plan", "task.yaml", *MODEL, "--manifest", "m.json").code == 2
    refused = desk.call("merge", "nowhere")
    assert (refused.code, refused.lines) == (
        2,
        ["pi-batch: nowhere: no events.jsonl there: name the directory of a run"],
    )
