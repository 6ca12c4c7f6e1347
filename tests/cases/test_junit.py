"""junit.xml: what CI services parse, whatever the checks and the model print."""

from __future__ import annotations

import json

import pytest
from junitparser import JUnitXml

from tests.cases.project import Project, Ran
from tests.cases.turns import say, write_session

pytestmark = pytest.mark.slow


def failure_of(ran: Ran) -> tuple[str, str]:
    """The only failure's message and text."""
    (failure,) = ran.junit.iter("failure")
    return failure.get("message", ""), failure.text or ""


def test_control_bytes_leave_the_report_readable(project: Project) -> None:
    """reticlehq/reticle#69."""
    checks = [
        r"printf 'bad \033[31m \001 \013 \000 tail-x\n'; exit 1",
        r"printf '\357\277\276 \357\277\277 \355\240\200 \377 ]]> <&> tail-y\n'; exit 1",
    ]
    ran = project.run(say("\x1b[1mI\x00 am\x0b <done/> ]]>\ufffe"), verify=checks)
    assert ran.exit_code == 1
    assert ran.junit_count("failure") == 1
    text = failure_of(ran)[1]
    assert "bad" in text
    assert "tail-x" in text
    assert "tail-y" in text
    assert ran.junit_bytes.decode("utf-8").isprintable() or "\x1b" not in ran.junit_bytes.decode("utf-8")


def test_a_large_log_is_cut_and_its_end_kept(project: Project) -> None:
    """camunda/camunda#9959."""
    ran = project.run(
        say("done"), verify=["python3 -c \"print('log line\\n'*1500000)\"; echo THE-END; exit 1", "exit 1"]
    )
    assert len(ran.junit_bytes) < 3_000_000
    assert max(len(node.text or "") for node in ran.junit.iter()) < 1_000_000
    assert "THE-END" in failure_of(ran)[1]
    assert ran.max_rss_mib < 400


def test_a_failure_has_a_line_a_text_and_a_place(project: Project) -> None:
    """mikepenz/action-junit-report#1390."""
    (project.root / "tasks").mkdir()
    spec = {"prompt": "Go.", "workspace": {"path": "..", "isolation": "copy"}}
    spec["verify"] = ["echo first-line; echo second-line; exit 1"]
    (project.root / "tasks/one.yaml").write_text(json.dumps(spec), encoding="utf-8")
    session = write_session(project.base / "model.jsonl", [say("done")])
    ran = project.start("run", "tasks/one.yaml", "-m", f"replay/{session}", popen={"cwd": project.root})
    message, text = failure_of(ran)
    assert message
    assert len(message) <= 300
    assert "\n" not in message
    assert "second-line" in text
    (case,) = ran.junit.iter("testcase")
    assert case.get("file") == "tasks/one.yaml"


def test_the_counts_are_the_outcomes_counts(project: Project) -> None:
    checks = {"good": ["true"], "bad": ["false"], "broken": ["no-such-program-here"], "skipped": ["true"]}
    specs = {name: {"verify": check} for name, check in checks.items()}
    specs["skipped"]["precheck"] = {"run": "true"}  # type: ignore[assignment]
    ran = project.run_all(specs)
    suites = JUnitXml.fromstring(ran.junit_bytes)
    assert (suites.tests, suites.failures, suites.errors) == (4, 1, 1)
    assert sum(suite.skipped for suite in suites) == 1
    assert [ran.junit_count(tag) for tag in ("failure", "error", "skipped")] == [1, 1, 1]
    assert ran.exit_code == 3


def test_the_files_asked_for_are_those_of_the_run(project: Project) -> None:
    ran = project.run(
        say("done"),
        verify=["false"],
        args=["--junit", "out/j.xml", "--json", "out/r.json", "--markdown", "out/m.md"],
    )
    out = project.base / "out"
    assert (out / "j.xml").read_bytes() == ran.junit_bytes
    ours, copy = ran.report, json.loads((out / "r.json").read_bytes())
    assert copy["totals"] == ours["totals"]
    assert copy["exit_code"] == 1
    assert "task" in (out / "m.md").read_text(encoding="utf-8")
