"""Runs in other programs' formats: which results are taken, and that nothing outside of a run is read."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from pi_batch.fold import fold
from pi_batch.reports.json import Json
from tests.cases.turns import say, write_session
from tests.cli.calling import Desk
from tests.streams import Stream, planned


def put_run(desk: Desk, *models: str, repeats: int = 1, patch: str = "tasks/{key}/changes.patch") -> Path:
    """A run of one task, each result with a patch and a session."""
    made = [
        (f"{number}-{repeat}", model, repeat)
        for number, model in enumerate(models)
        for repeat in range(1, repeats + 1)
    ]
    stream = Stream(
        *(planned(key, task_id="acme__calc-1", model=model, repeat=repeat) for key, model, repeat in made)
    )
    for key, _, _ in made:
        desk.write(f"run/tasks/{key}/changes.patch", f"diff of {key}\n")
        write_session(desk.path / f"run/tasks/{key}/session.jsonl", [say(f"said by {key}")])
        stream.start(key, has_checks=True).agent(key).check(key).end(key, patch=patch.format(key=key))
    return desk.write("run/run.json", Json().render(fold(stream.finish().records)))


def predictions(desk: Desk, *words: str) -> list[dict[str, str]]:
    done = desk.call("export", *words, "--format", "swebench")
    assert done.code == 0, done.err
    return [json.loads(line) for line in done.out.rstrip("\n").split("\n")]


def test_a_run_s_patches_are_predictions(desk: Desk) -> None:
    put_run(desk, "a/x")
    (found,) = predictions(desk, "run")
    assert found == {
        "model_name_or_path": "a/x",
        "instance_id": "acme__calc-1",
        "model_patch": "diff of 0-1\n",
    }
    assert predictions(desk, "run/run.json") == [found]
    desk.call("export", "run", "preds.json", "--format", "swebench")
    assert json.loads((desk.path / "preds.json").read_bytes()) == {"acme__calc-1": found}


def test_one_model_and_one_repeat_are_taken(desk: Desk) -> None:
    put_run(desk, "a/x", "b/y", repeats=2)
    (found,) = predictions(desk, "run:y", "--repeat", "2")
    assert (found["model_name_or_path"], found["model_patch"]) == ("b/y", "diff of 1-2\n")
    unclear = desk.call("export", "run", "--format", "swebench")
    assert (unclear.code, "say which, as run:MODEL, of a/x, b/y" in unclear.err) == (2, True)
    for words in (("run:z",), ("run:x", "--repeat", "3")):
        assert desk.call("export", *words, "--format", "swebench").code == 2


@pytest.mark.parametrize("patch", ["../secret", "/etc/passwd", "tasks/link", ""])
def test_a_patch_outside_of_the_run_is_none(desk: Desk, patch: str) -> None:
    desk.write("secret", "no patch")
    put_run(desk, "a/x", patch=patch)
    (desk.path / "run/tasks/link").symlink_to(desk.path / "secret")
    (found,) = predictions(desk, "run")
    assert found["model_patch"] == ""


def test_known_secrets_are_in_neither(desk: Desk) -> None:
    desk.setenv("OPENAI_API_KEY", "sk-planted-secret-value")
    put_run(desk, "a/x")
    desk.write("run/tasks/0-1/changes.patch", "+sk-planted-secret-value\n")
    write_session(desk.path / "run/tasks/0-1/session.jsonl", [say("sk-planted-secret-value")])
    assert "planted" not in desk.call("export", "run", "--format", "swebench").out
    desk.call("export", "run", "out", "--format", "trajectory")
    assert "planted" not in (desk.path / "out/acme__calc-1/acme__calc-1.traj.json").read_text()


def test_trajectories_lie_where_mini_swe_agent_puts_them(desk: Desk) -> None:
    put_run(desk, "a/x")
    done = desk.call("export", "run", "out", "--format", "trajectory")
    assert (done.code, done.out) == (0, "1 trajectories in out\n")
    found = json.loads((desk.path / "out/acme__calc-1/acme__calc-1.traj.json").read_bytes())
    assert found["info"]["submission"] == "diff of 0-1\n"
    assert [message["role"] for message in found["messages"]] == ["assistant", "exit"]
    assert desk.call("export", "run", "--format", "trajectory").code == 2


def test_one_session_is_one_trajectory_with_what_its_run_says(desk: Desk) -> None:
    put_run(desk, "a/x")
    shown = desk.call("export", "run/tasks/0-1/session.jsonl", "--format", "trajectory")
    assert json.loads(shown.out)["info"]["exit_status"] == "Submitted"
    alone = desk.call("export", "session.jsonl", "t.json", "--format", "trajectory")
    assert (alone.code, alone.out) == (0, "")
    assert json.loads((desk.path / "t.json").read_bytes())["info"]["exit_status"] == ""


def test_a_result_without_a_session_is_said(desk: Desk) -> None:
    put_run(desk, "a/x")
    (desk.path / "run/tasks/0-1/session.jsonl").unlink()
    done = desk.call("export", "run", "out", "--format", "trajectory")
    assert "0-1: has no session, so no trajectory" in done.err
    assert done.out == "0 trajectories in out\n"
