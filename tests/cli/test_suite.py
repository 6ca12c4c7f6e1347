"""`pi-batch suite check`, and the built-in models with `run`, on a suite of one small task."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from pi_batch.wiring.options import RunOptions
from pi_batch.wiring.suite_check import check_suite, exposed
from tests.benches import FILES, make_suite, put
from tests.cli.calling import Desk
from tests.load.loading import task
from tests.sandboxes.rigs import works

needs_walls = pytest.mark.skipif(
    not (works("bwrap") or works("landlock")), reason="cheats are tried in sandboxes only"
)


CHEATS = ("exit-zero", "read-solution")
"""Few: that each cheat is one is tested elsewhere."""


@pytest.fixture
def desk_with_suite(desk: Desk) -> Desk:
    make_suite(desk.path / "small")
    return desk


@needs_walls
def test_a_good_suite_is_proven_and_leaves_nothing_behind(
    desk_with_suite: Desk, capsys: pytest.CaptureFixture[str]
) -> None:
    desk = desk_with_suite
    before = sorted(path.name for path in desk.path.iterdir())
    code = check_suite(["small"], RunOptions(jobs=2), as_json=False, cheats=["read-solution"])
    out, err = capsys.readouterr()
    assert (code, err) == (0, "")
    assert out.split("\n")[1].split()[4:8] == ["2/2", "1/1", "1/1", "1/1"]
    assert "small edition 1: 1 of 1 tasks proven · 5 trials" in out
    assert sorted(path.name for path in desk.path.iterdir()) == before


@needs_walls
@pytest.mark.slow
def test_a_suite_whose_checks_take_anything_is_not_proven(
    desk_with_suite: Desk, capsys: pytest.CaptureFixture[str]
) -> None:
    desk = desk_with_suite
    desk.write("small/answer/checks/run.sh", "true\n")
    options = RunOptions(jobs=2, output=Path("kept"))
    assert check_suite(["small"], options, as_json=True, cheats=CHEATS) == 1
    out, err = capsys.readouterr()
    proof = json.loads(out)
    assert not proof["is_proven"]
    assert [one["model"] for one in proof["tasks"][0]["trials"] if one["reason"]] == [
        "nop",
        "oracle/mistakes/off-by-one",
        "tamper/exit-zero",
        "tamper/read-solution",
    ]
    assert "the trials are kept in kept" in err
    assert (desk.path / "kept/run.json").is_file()


def test_cheats_are_refused_without_a_sandbox(desk_with_suite: Desk) -> None:
    done = desk_with_suite.call("suite", "check", "small", "--sandbox", "none")
    assert (done.code, done.out) == (2, "")
    assert "never run without a sandbox" in done.err


def test_oracle_and_nop_run_like_any_model_and_the_digest_is_in_every_result(desk_with_suite: Desk) -> None:
    desk = desk_with_suite
    done = desk.call(
        "run", "small", "-m", "oracle", "-m", "nop", "--sandbox", "none", "--output", "out", "--quiet"
    )
    assert done.code == 1
    batch = json.loads((desk.path / "out/run.json").read_text())
    assert [one["outcome"] for one in batch["results"]] == ["passed", "failed"]
    for one in (*batch["results"], *batch["planned"]):
        assert (len(one["digest"]), one["edition"], one["suite"]) == (64, "1", "small")
    assert [one["total_cost_usd"] for one in batch["results"]] == [0.0, 0.0]


def test_outside_of_a_suite_they_are_refused(desk: Desk) -> None:
    done = desk.call("run", "task.yaml", "-m", "oracle")
    assert (done.code, done.out) == (2, "")
    assert "is for tasks of a benchmark suite, and 'task' is none" in done.err


def test_an_empty_selection_is_said(desk_with_suite: Desk) -> None:
    done = desk_with_suite.call("suite", "check", "small", "--filter", "x*")
    assert done.code == 4
    assert "no task matches --filter x*" in done.err


def test_what_a_workspace_shows_is_found(tmp_path: Path) -> None:
    make_suite(tmp_path / "small")
    top = tmp_path / "small/answer/workspace"
    put(top, {".git/HEAD": "x", "lib/.git": "gitdir: x", "checks": "mine"})
    (top / "out").symlink_to(tmp_path / "elsewhere")
    (top / "in").symlink_to("answer.txt")
    planned = task(tmp_path, {"x": ""}, "small/suite.yaml")
    assert exposed(planned) == (
        ".git: a repository shows its history",
        "lib/.git: a repository shows its history",
        "out: a link out of the workspace",
        "checks: has the name of hidden files, which will take its place",
    )
    assert "checks/wanted" in FILES
