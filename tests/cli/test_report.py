"""`pi-batch report`: any report again, from the log alone."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.cases.turns import bash, call, say, turn
from tests.cli.calling import MODEL, Desk
from tests.living import NAP, living
from tests.reports.html.pages import assert_safe


@pytest.mark.parametrize("check", ["true", "printf 'bad \\033[1m\\n'; exit 1"])
def test_the_reports_are_those_of_the_run_byte_for_byte(desk: Desk, check: str) -> None:
    desk.record(turn(bash("echo x > made.txt; exit 3"), text="I ☃"), say("done"))
    desk.write(
        "task.yaml", json.dumps({"prompt": "Go.", "workspace": {"isolation": "none"}, "verify": [check]})
    )
    run = desk.run("--markdown", "own.md", "--quiet")
    again = desk.call("report", "out", "--json", "r.json", "--junit", "j.xml", "--markdown", "m.md")
    assert again.code == run.code
    assert again.out == ""
    for ours, other in (("out/run.json", "r.json"), ("out/junit.xml", "j.xml"), ("own.md", "m.md")):
        assert (desk.path / other).read_bytes() == (desk.path / ours).read_bytes(), other
    summary = desk.call("report", "out")
    assert summary.code == run.code
    assert summary.out == run.out


def test_a_page_of_the_run_links_pages_of_its_sessions(desk: Desk) -> None:
    desk.record(turn(bash("echo x"), text="I look"), say("done"))
    desk.write("all/red.yaml", "prompt: Go.\nworkspace: {isolation: none}\nverify: ['echo why; exit 1']\n")
    desk.write("all/green.yaml", "prompt: Go.\nworkspace: {isolation: none}\nverify: ['true']\n")
    run = desk.call("run", "all", *MODEL, "--output", "out", "--quiet")
    assert desk.call("report", "out", "--html", "shown/run.html").code == run.code == 1
    page = assert_safe((desk.path / "shown/run.html").read_text(encoding="utf-8"))
    links = {href for href in page.values("a", "href") if not href.startswith("#")}
    assert links == {"run-sessions/green.html", "run-sessions/red.html"}
    assert "why" in page.text
    assert page.text.count("I look") == page.text.count("The story") == 2
    for link in links:
        session = assert_safe((desk.path / "shown" / link).read_text(encoding="utf-8"))
        assert "I look" in session.text


@pytest.mark.slow
def test_a_story_that_is_too_long_for_its_runs_page_has_its_own_page_alone(desk: Desk) -> None:
    long = [turn(call("think", thought=f"{number} {'é' * 99_000}"), text="I think") for number in range(14)]
    desk.record(*long, say("done"))
    assert desk.run().code == 0
    assert desk.call("report", "out", "--html", "run.html").code == 0
    page = assert_safe((desk.path / "run.html").read_text(encoding="utf-8"))
    assert "The story" not in page.text
    assert len(page.document) < 100_000
    assert "run-sessions/task.html" in page.values("a", "href")
    assert "I think" in (desk.path / "run-sessions/task.html").read_text(encoding="utf-8")


def test_a_session_that_cannot_be_shown_has_no_link_and_costs_no_page(desk: Desk) -> None:
    desk.run()
    session = desk.path / "out/tasks/task/session.jsonl"
    session.write_text("no session\n", encoding="utf-8")
    assert desk.call("report", "out", "--html", "run.html").code == 0
    assert "run-sessions" not in (desk.path / "run.html").read_text(encoding="utf-8")
    session.unlink()
    session.symlink_to(desk.path / "session.jsonl")
    assert desk.call("report", "out", "--html", "run.html").code == 0
    assert not (desk.path / "run-sessions").exists()


def test_a_report_can_go_to_stdout(desk: Desk) -> None:
    desk.run()
    script = [sys.executable, "-m", "pi_batch", "report", "out", "--json", "/dev/stdout"]
    done = subprocess.run(script, capture_output=True, check=True)
    assert json.loads(done.stdout)["totals"]["passed"] == 1


def test_a_log_that_ends_early_is_an_error_and_never_a_pass(desk: Desk) -> None:
    desk.run()
    log = desk.path / "out/events.jsonl"
    lines = log.read_bytes().split(b"\n")
    for kept in range(2, len(lines) - 1):
        cut = desk.path / f"cut{kept}"
        cut.mkdir()
        (cut / "events.jsonl").write_bytes(b"\n".join(lines[:kept]) + b'\n{"type":"task_e')
        done = desk.call("report", str(cut), "--json", str(cut / "run.json"))
        report = json.loads((cut / "run.json").read_bytes())
        assert report["status"] == "interrupted"
        is_judged = b'"task_end"' in b"".join(lines[:kept])
        assert report["totals"]["passed"] == is_judged
        assert done.code == 3


def test_a_run_that_was_killed_can_be_reported(desk: Desk) -> None:
    desk.record(turn(bash(f"touch started; sleep {NAP}.3", timeout=600)), say("done"))
    words = [sys.executable, "-m", "pi_batch", "run", "task.yaml", *MODEL, "--output", "out"]
    process = subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    wait_for(desk.path / "started")
    process.kill()
    process.wait()
    for left in living(f"sleep {NAP}.3"):
        os.kill(left, signal.SIGKILL)
    assert json.loads((desk.path / "out/run.json").read_bytes())["status"] == "running"
    done = desk.call("report", "out")
    assert done.code == 3
    assert done.out.split("\n")[1].startswith("error")


def wait_for(path: Path, limit_s: float = 20) -> None:
    """Wait until a file is there."""
    until_s = time.monotonic() + limit_s
    while not path.exists():
        assert time.monotonic() < until_s, f"{path} did not come"
        time.sleep(0.02)


@pytest.mark.parametrize(
    ("content", "complaint"),
    [
        (b"", "holds no run"),
        (b'{"type":"log","version":1}\n{"type":"bat', "holds no run"),
        (b"not json\n", "log"),
        (b'{"type":"log","version":99}\n', "version"),
        (b"\x00\xff\x80junk\n" * 20, "log"),
    ],
)
def test_what_is_no_log_is_one_line(desk: Desk, content: bytes, complaint: str) -> None:
    (desk.path / "bad").mkdir()
    (desk.path / "bad/events.jsonl").write_bytes(content)
    done = desk.call("report", "bad")
    assert done.code in (2, 3)
    assert len(done.lines) == 1
    assert complaint in done.err


def test_the_exit_code_of_a_signal_is_kept(desk: Desk) -> None:
    desk.record(turn(bash(f"touch started; sleep {NAP}.4", timeout=600)), say("done"))
    words = [sys.executable, "-m", "pi_batch", "run", "task.yaml", *MODEL, "--output", "out"]
    process = subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    wait_for(desk.path / "started")
    process.send_signal(signal.SIGTERM)
    assert process.wait(20) == 143
    assert desk.call("report", "out").code == 143
