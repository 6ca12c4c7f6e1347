"""`pi-batch resume`, `run` with the same --output, `exec -c` and `--fork`, in this process."""

from __future__ import annotations

import fcntl
import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from tests.cases.turns import bash, say, turn
from tests.cli.calling import Called, Desk
from tests.session.files import chain, reply, user

SPEC = "prompt: Go.\nworkspace: {isolation: none}\nsandbox: none\nverify: ['true']\n"


def run_json(desk: Desk, name: str = "out") -> dict[str, Any]:
    value: dict[str, Any] = json.loads((desk.path / name / "run.json").read_bytes())
    return value


def session_of(desk: Desk, name: str = "out", key: str = "task") -> list[dict[str, Any]]:
    lines = (desk.path / name / "tasks" / key / "session.jsonl").read_bytes().split(b"\n")
    return [json.loads(line) for line in lines if line]


def cut_back(desk: Desk, *, to_seq: int, entries: int) -> None:
    """Make a finished run look as if it had been killed: log and session end earlier."""
    log = desk.path / "out/events.jsonl"
    kept = [
        line for line in log.read_bytes().split(b"\n") if line and json.loads(line).get("seq", 0) <= to_seq
    ]
    log.write_bytes(b"\n".join(kept) + b"\n")
    session = desk.path / "out/tasks/task/session.jsonl"
    session.write_bytes(b"\n".join(session.read_bytes().split(b"\n")[:entries]) + b"\n")


@pytest.fixture
def two_turns(desk: Desk) -> Desk:
    desk.write("task.yaml", SPEC)
    desk.record(turn(bash("echo one >> effects"), text="on it"), say("done"))
    return desk


def killed(desk: Desk) -> Called:
    """A run that was killed after its first reply."""
    done = desk.run()
    entries = session_of(desk)
    first = next(
        at
        for at, entry in enumerate(entries)
        if entry["type"] == "message" and entry["message"]["role"] == "assistant"
    )
    cut_back(desk, to_seq=9, entries=first + 1)
    return done


def test_a_finished_run_stays_as_it_is(two_turns: Desk) -> None:
    two_turns.run()
    before = run_json(two_turns)
    done = two_turns.call("resume", "out")
    after = run_json(two_turns)
    assert done.code == 0
    assert (after["results"], after["legs"]) == (before["results"], 2)
    assert (two_turns.path / "effects").read_text() == "one\n"


def test_a_killed_run_goes_on_without_repeating_anything(two_turns: Desk) -> None:
    killed(two_turns)
    done = two_turns.call("resume", "out")
    assert done.code == 0
    (result,) = run_json(two_turns)["results"]
    assert (result["outcome"], result["num_turns"], result["answer"]) == ("passed", 2, "done")
    assert (two_turns.path / "effects").read_text() == "one\n"
    texts = json.dumps(session_of(two_turns))
    assert texts.count("Interrupted: ") == 1
    assert "goes on now" in texts


def test_run_with_the_same_output_is_the_same(two_turns: Desk) -> None:
    killed(two_turns)
    assert two_turns.run().code == 0
    assert run_json(two_turns)["legs"] == 2


def test_a_torn_log_and_a_torn_session_are_set_aside_with_a_word(two_turns: Desk) -> None:
    killed(two_turns)
    for name in ("events.jsonl", "tasks/task/session.jsonl"):
        with (two_turns.path / "out" / name).open("ab") as file:
            file.write(b'{"type":"mess')
    done = two_turns.call("resume", "out")
    assert done.code == 0
    assert done.err.count("torn last line (13 bytes) set aside") == 2
    assert (two_turns.path / "out/events.jsonl.torn").read_bytes() == b'{"type":"mess\n'
    assert len(session_of(two_turns)) > 5


def test_a_second_process_is_refused_in_one_line(two_turns: Desk) -> None:
    two_turns.run()
    with (two_turns.path / "out/.lock").open() as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        done = two_turns.call("resume", "out")
        running = two_turns.call("report", "out")
    assert done.code == 2
    assert len(done.lines) == 1
    assert "in use, locked by process" in done.err
    assert running.code == 0


def test_a_cut_log_is_interrupted_only_while_nobody_writes_it(two_turns: Desk) -> None:
    killed(two_turns)
    assert "interrupted" in two_turns.call("report", "out").out
    with (two_turns.path / "out/.lock").open() as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        assert "interrupted" not in two_turns.call("report", "out").out


def test_what_is_no_run_is_refused(desk: Desk) -> None:
    (desk.path / "empty").mkdir()
    done = desk.call("resume", "empty")
    assert (done.code, done.lines) == (
        2,
        ["pi-batch: empty: no plan.json there: name the directory of a run"],
    )
    (desk.path / "empty/plan.json").write_text("{}")
    assert desk.call("resume", "empty").code == 2


def test_a_changed_spec_is_refused_key_by_key_and_forced(two_turns: Desk) -> None:
    killed(two_turns)
    two_turns.write("task.yaml", SPEC.replace("Go.", "Go on.") + "budget: {turns: 7}\n")
    done = two_turns.call("resume", "out")
    assert done.code == 2
    assert "  task: budget.turns: was 50, now 7\n" in done.err
    assert '  task: prompt: was "Go.", now "Go on."\n' in done.err
    assert "--force" in done.err
    assert two_turns.call("resume", "out", "--force").code == 0
    assert run_json(two_turns)["results"][0]["outcome"] == "passed"
    assert two_turns.call("resume", "out").code == 0, "the new plan is the run's plan now"


def test_changed_checks_judge_the_stored_work_without_a_request(two_turns: Desk) -> None:
    two_turns.run()
    two_turns.write("task.yaml", SPEC.replace("'true'", "grep two effects"))
    refused = two_turns.call("resume", "out")
    assert refused.code == 2
    assert "--reverify" in refused.err
    two_turns.path.joinpath("session.jsonl").unlink()
    two_turns.record(say("never asked"))
    assert two_turns.call("resume", "out", "--reverify").code == 1
    (result,) = run_json(two_turns)["results"]
    assert (result["outcome"], result["num_turns"], result["answer"]) == ("failed", 2, "done")
    two_turns.write("task.yaml", SPEC.replace("'true'", "grep one effects"))
    assert two_turns.run("--reverify").code == 0


def test_a_rerun_begins_anew_and_keeps_what_was(two_turns: Desk) -> None:
    two_turns.write("task.yaml", SPEC.replace("'true'", "grep two effects"))
    assert two_turns.run().code == 1
    assert two_turns.call("resume", "out", "--rerun", "error").code == 1
    (two_turns.path / "effects").write_text("two\n")
    assert two_turns.call("resume", "out", "--rerun", "failed").code == 0
    (result,) = run_json(two_turns)["results"]
    assert (result["outcome"], result["num_turns"]) == ("passed", 4)
    assert (two_turns.path / "out/earlier/2/task/session.jsonl").exists()
    assert (two_turns.path / "effects").read_text() == "two\none\n"


@pytest.mark.parametrize("flag", [["--rerun", "all"], ["--reverify"]])
def test_flags_for_an_earlier_run_need_one(desk: Desk, flag: list[str]) -> None:
    done = desk.run(*flag)
    assert done.code == 2
    assert f"{flag[0]}: needs --output with the directory of an earlier run" in done.err


def test_a_task_whose_workspace_is_gone_is_an_error_and_begins_anew_on_request(two_turns: Desk) -> None:
    two_turns.write("task.yaml", SPEC.replace("none}", "copy}", 1))
    killed(two_turns)
    done = two_turns.call("resume", "out")
    assert done.code == 3
    (result,) = run_json(two_turns)["results"]
    assert result["error"]["kind"] == "workspace"
    assert "--rerun error begins it anew" in result["reason"]
    assert two_turns.call("resume", "out", "--rerun", "error").code == 0


def test_a_plan_that_was_made_elsewhere_is_not_gone_on_with(
    two_turns: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    two_turns.run()
    other = two_turns.path / "other"
    other.mkdir()
    shutil.copy(two_turns.path / "task.yaml", other)
    shutil.copy(two_turns.path / "session.jsonl", other)
    monkeypatch.chdir(other)
    done = two_turns.call("run", "task.yaml", "-m", "replay/session.jsonl", "--output", "../out")
    assert done.code == 2
    assert "name another --output" in done.err
    assert two_turns.call("resume", "../out").code == 0, "resume goes where it was begun"


def test_the_environment_of_the_plan_is_kept(two_turns: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PI_BATCH_MODEL", "replay/session.jsonl")
    assert two_turns.call("run", "task.yaml", "--output", "out").code == 0
    monkeypatch.delenv("PI_BATCH_MODEL")
    assert two_turns.call("resume", "out").code == 0


def test_a_secret_of_the_command_line_is_not_kept(two_turns: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MY_TOKEN", "s3cr3t-value-1")
    two_turns.write("task.yaml", SPEC + "inputs: {word: {type: string}}\n")
    words = ("run", "task.yaml", "-m", "replay/session.jsonl", "--output", "out", "-i", "word=s3cr3t-value-1")
    assert two_turns.call(*words).code == 0
    assert b"s3cr3t" not in (two_turns.path / "out/plan.json").read_bytes()
    done = two_turns.call("resume", "out")
    assert done.code == 2
    assert "give the same command again, with --output" in done.err
    assert two_turns.call(*words).code == 0


# --- exec -----------------------------------------------------------------------------------------


@pytest.fixture
def talk(desk: Desk) -> Desk:
    desk.record(turn(bash("echo mark-a")), say("done a"), turn(bash("echo mark-b")), say("done b"))
    desk.record(turn(bash("echo mark-a")), say("done a"), name="first.jsonl")
    assert desk.call("exec", "hi", "-m", "replay/first.jsonl", "--output", "out").code == 0
    return desk


def test_exec_goes_on_in_its_session(talk: Desk) -> None:
    done = talk.call("exec", "more", "-c", "-m", "replay/session.jsonl", "--output", "out")
    assert (done.code, done.out) == (0, "done b\n")
    said = json.dumps(session_of(talk, key="exec"))
    assert said.index("mark-a") < said.index('"more"') < said.index("mark-b")
    (result,) = run_json(talk)["results"]
    assert (result["num_turns"], result["budget"]["used"]["turns"]) == (4, 2)


def test_a_torn_session_is_gone_on_with_and_every_line_stays_readable(talk: Desk) -> None:
    session = talk.path / "out/tasks/exec/session.jsonl"
    session.write_bytes(session.read_bytes()[:-15])
    done = talk.call("exec", "more", "-c", "-m", "replay/session.jsonl", "--output", "out")
    assert done.code == 0
    assert "set aside in session.jsonl.torn" in done.err
    assert "mark-a" in json.dumps(session_of(talk, key="exec"))


def test_the_newest_session_of_the_directory_is_found(talk: Desk) -> None:
    assert talk.call("exec", "hi", "-m", "replay/first.jsonl").code == 0
    assert talk.call("exec", "more", "-c", "-m", "replay/session.jsonl").out == "done b\n"
    assert len(list((talk.path / ".pi-batch/runs").iterdir())) == 1
    other = talk.call("exec", "more", "-c", "-m", "replay/session.jsonl", "--output", "new")
    assert other.code == 3, "the recording is at its end: the branch holds all four replies"
    assert "parentSession" in session_of(talk, "new", "exec")[0]


def test_without_a_session_there_is_nothing_to_go_on_with(desk: Desk) -> None:
    done = desk.call("exec", "more", "-c", "-m", "replay/session.jsonl")
    assert (done.code, len(done.lines)) == (2, 1)
    assert "no session of exec" in done.err
    assert desk.call("exec", "x", "-c", "--fork", "y", "-m", "replay/session.jsonl").code == 2


def test_a_branch_has_a_file_of_its_own_and_names_its_parent(talk: Desk) -> None:
    parent = talk.path / "out/tasks/exec/session.jsonl"
    before = parent.read_bytes()
    done = talk.call("exec", "b", "--fork", str(parent), "-m", "replay/session.jsonl", "--output", "new")
    assert (done.code, done.out) == (0, "done b\n")
    entries = session_of(talk, "new", "exec")
    assert entries[0]["parentSession"] == str(parent)
    assert parent.read_bytes() == before
    (result,) = run_json(talk, "new")["results"]
    assert (result["num_turns"], result["attempts"]) == (2, 1), "what the parent spent is the parent's"


def test_a_branch_may_begin_at_any_entry_of_any_session(desk: Desk) -> None:
    parent = chain(
        desk.path / "pis.jsonl", user("aa", None, "one"), reply("bb", None, "first"), user("cc", None, "two")
    )
    desk.record(say("first"), say("second"))
    done = desk.call(
        "exec", "and?", "--fork", f"{parent}:bb", "-m", "replay/session.jsonl", "--output", "new"
    )
    assert (done.code, done.out) == (0, "second\n")
    texts = json.dumps(session_of(desk, "new", "exec"))
    assert '"one"' in texts
    assert '"two"' not in texts


@pytest.mark.parametrize("name", ["nowhere.jsonl", "session.jsonl:nowhere"])
def test_a_branch_of_nothing_is_refused(desk: Desk, name: str) -> None:
    done = desk.call("exec", "x", "--fork", name, "-m", "replay/session.jsonl", "--output", "new")
    assert (done.code, len(done.lines)) == (2, 1)
    assert not (Path(desk.path) / "new/run.json").exists()
