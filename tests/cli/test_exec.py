"""`pi-batch exec`: one prompt, here."""

from __future__ import annotations

import io
import json
import sys

import pytest

from tests.cases.turns import bash, say, turn
from tests.cli.calling import MODEL, Desk


def test_the_answer_is_what_stdout_holds(desk: Desk) -> None:
    desk.record(turn(bash("echo x > made.txt")), say("It fails\nbecause."))
    done = desk.call("exec", "Why does it fail?", *MODEL)
    assert (done.code, done.out) == (0, "It fails\nbecause.\n")
    assert (desk.path / "made.txt").exists(), "it works in place"


def test_json_is_one_result(desk: Desk) -> None:
    done = desk.call("exec", "Go.", *MODEL, "--output-format", "json")
    result = json.loads(done.out)
    assert (result["outcome"], result["verified"], result["answer"]) == ("passed", False, "done")


@pytest.mark.parametrize("flags", [("--output-format", "stream-json"), ("--events",)])
def test_stream_json_is_events_and_nothing_else(desk: Desk, flags: tuple[str, ...]) -> None:
    done = desk.call("exec", "Go.", *MODEL, *flags)
    types = [json.loads(line)["type"] for line in done.out.rstrip("\n").split("\n")]
    assert (types[0], types[-1]) == ("batch_start", "batch_end")


def test_a_prompt_can_come_from_stdin(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    given = io.TextIOWrapper(io.BytesIO("Naïve ☃?\n{{ no template }}".encode()), encoding="ascii")
    monkeypatch.setattr(sys, "stdin", given)
    assert desk.call("exec", "-", *MODEL, "--output", "out").code == 0
    session = (desk.path / "out/tasks/exec/session.jsonl").read_text(encoding="utf-8")
    assert "Naïve ☃?\\n{{ no template }}" in session


def test_stdin_that_is_closed_or_no_text_is_one_line(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", None)
    closed = desk.call("exec", "-", *MODEL)
    assert (closed.code, closed.err) == (2, "pi-batch: PROMPT -: standard input is closed\n")
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"caf\xe9"), encoding="utf-8"))
    wrong = desk.call("exec", "-", *MODEL)
    assert wrong.code == 2
    assert "need UTF-8" in wrong.err


def test_no_answer_says_why(desk: Desk) -> None:
    desk.record(turn(bash("true")), turn(bash("false")), name="early.jsonl")
    done = desk.call("exec", "Go.", "-m", "replay/early.jsonl")
    assert done.code == 3
    assert done.out.startswith("(error: ")
    assert "2 replies recorded" in done.lines[-1]


def test_limits_hold(desk: Desk) -> None:
    desk.record(*[turn(bash(f"echo {n}")) for n in range(5)])
    done = desk.call("exec", "Go.", *MODEL, "--max-turns", "2", "--output", "out")
    assert done.code == 1
    assert json.loads((desk.path / "out/run.json").read_bytes())["results"][0]["stop"] == "max_turns"


def test_one_prompt_has_one_model_and_no_selection(desk: Desk) -> None:
    for words in (("--repeat", "2"), ("--filter", "x"), ("-i", "a=b"), ("--jobs", "2")):
        assert desk.call("exec", "Go.", *MODEL, *words).code == 2
    desk.record(say("other"), name="other.jsonl")
    assert desk.call("exec", "Go.", *MODEL, "-m", "replay/other.jsonl").out == "other\n"
