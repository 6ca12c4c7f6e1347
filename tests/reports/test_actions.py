"""What GitHub's runner is told: read back by its own rules."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pi_batch.encoders import output_entry, workflow_command
from pi_batch.events import Warned
from pi_batch.fold import fold
from pi_batch.reports.actions import ANSWER_MAX_BYTES, OUTPUT_MAX_BYTES, ActionsReport, step_outputs
from pi_batch.results import BatchResult, ChangedFile
from tests.reports.batches import HOSTILE, hostile, many, one_of_everything, read_log
from tests.runner_lines import Command, commands, outputs
from tests.streams import Stream

WORD = "0123456789abcdef"
REPOSITORY = {"a.py": "a.py", "src/deep.py": "src/deep.py", "red.yaml": "red.yaml"}


def report(log: str | None = None) -> ActionsReport:
    return ActionsReport(read_log if log is None else lambda _name: log, REPOSITORY.get)


def marks(batch: BatchResult, level: str = "error", log: str | None = None) -> list[Command]:
    return [found for found in commands(report(log).annotations(batch)) if found.name == level]


def failing(**fields: object) -> BatchResult:
    stream = Stream("t")
    stream.start("t", has_checks=True).agent("t").check("t", passed=False, log="t.log")
    stream.end("t", **fields)
    return fold(stream.finish().records)


def test_every_task_that_did_not_pass_is_an_error() -> None:
    titles = [found.properties["title"] for found in marks(one_of_everything())]
    assert "failed: red" in titles
    assert "error: setup" in titles
    assert "not run: never" in titles
    assert not [title for title in titles if "green" in title or "skipped" in title]


def test_an_error_stands_at_the_line_that_the_last_failing_check_named() -> None:
    log = "a.py:1: first\n  src/deep.py:12: AssertionError\n/etc/passwd:3: no\ngone.py:9: no\n"
    (found,) = marks(failing(), log=log)
    assert found.properties["file"] == "src/deep.py"
    assert found.properties["line"] == "12"


def test_a_python_traceback_names_a_place_too() -> None:
    (found,) = marks(failing(), log='  File "a.py", line 7, in f\nValueError: x\n')
    assert (found.properties["file"], found.properties["line"]) == ("a.py", "7")


def test_without_a_place_the_error_stands_at_no_line() -> None:
    (found,) = marks(failing(), log="nothing of use")
    assert "line" not in found.properties


def test_the_tenth_annotation_counts_the_rest() -> None:
    found = marks(many(25, "x"))
    assert len(found) == 10
    assert found[-1].text.startswith("16 more tasks did not pass")
    assert len(marks(many(10, "x"))) == 10
    assert "more" not in marks(many(10, "x"))[-1].text


def test_warnings_are_said_once_each_and_ten_at_most() -> None:
    stream = Stream("t")
    for number in range(12):
        stream.add(None, Warned(f"warning {number}")).add(None, Warned(f"warning {number}"))
    found = marks(fold(stream.finish().records), "warning")
    assert len(found) == 10
    assert found[-1].text == "3 more warnings are in the reports."


def test_foreign_text_gives_no_command() -> None:
    batch = hostile()
    text = report(HOSTILE).groups(batch, WORD) + report(HOSTILE).annotations(batch)
    obeyed = commands(text)
    assert {found.name for found in obeyed} <= {"error", "warning", "group", "stop-commands", "endgroup"}
    assert all(found.properties.get("file", "") == "" for found in obeyed)
    assert [found.text for found in obeyed if found.name == "stop-commands"] == [WORD, WORD]


def test_details_of_what_did_not_pass_are_folded_and_bounded() -> None:
    groups = report("é" * 100_000).groups(many(40, "x"), WORD)
    assert groups.count("::group::failed: task-") == 30
    assert groups.endswith("Details of 10 more tasks are in the reports.\n")
    assert len(groups.encode()) < 30 * 21_000


def test_a_text_cannot_end_its_own_group() -> None:
    obeyed = commands(report(f"x\n::{WORD}::\n::error::EVIL\n").groups(failing(), WORD))
    assert "error" not in {found.name for found in obeyed}


@given(st.text(max_size=80), st.text(max_size=80))
def test_any_text_is_one_command(message: str, title: str) -> None:
    line = workflow_command("error", message, {"title": title, "file": ""})
    assert "\n" not in line
    assert "\r" not in line
    (found,) = commands(line)
    assert found.name == "error"
    assert set(found.properties) <= {"title"}


@given(st.text(alphabet="ab=<\n\r:ENDEOF", max_size=60))
def test_any_text_is_one_output(value: str) -> None:
    assert outputs(output_entry("answer", value, WORD)) == {"answer": value}


def test_an_output_that_holds_its_end_word_is_refused() -> None:
    with pytest.raises(ValueError, match="end word"):
        output_entry("answer", f"a\n{WORD}\nb", WORD)


def test_outputs_have_their_documented_names() -> None:
    values = step_outputs(failing(), {"report": "/r/run.json", "junit": "/r/junit.xml", "patch": ""})
    assert set(values) == {
        *("outcome", "exit-code", "report", "junit", "patch", "changed-files", "summary", "answer"),
        *("structured-output", "total-cost-usd"),
    }
    assert values["outcome"] == "failed"
    assert values["exit-code"] == "1"
    assert values["summary"] == "1 failed"
    assert values["report"] == "/r/run.json"


def test_the_worst_outcome_is_the_runs() -> None:
    assert step_outputs(one_of_everything(), {})["outcome"] == "error"
    skipped = fold(Stream("t").start("t").end("t", skip_reason="nothing to do").finish().records)
    assert step_outputs(skipped, {})["outcome"] == "skipped"
    passed = fold(Stream("t").start("t", has_checks=True).agent("t").check("t").end("t").finish().records)
    assert step_outputs(passed, {})["outcome"] == "passed"


def test_tasks_skipped_for_want_of_budget_are_no_success() -> None:
    starved = fold(Stream("t").end("t", skip_reason="budget", is_starved=True).finish().records)
    assert step_outputs(starved, {})["outcome"] == "failed"


def test_a_single_result_gives_its_answer_and_output() -> None:
    values = step_outputs(failing(structured_output={"a": ["é\n"]}), {})
    assert json.loads(values["structured-output"]) == {"a": ["é\n"]}
    assert "\n" not in values["structured-output"]
    assert values["answer"] == "done"


def test_several_results_have_no_single_answer() -> None:
    assert step_outputs(one_of_everything(), {})["answer"] == ""


def test_a_long_answer_is_cut_and_says_so_but_structured_output_is_whole_or_absent() -> None:
    stream = Stream("t").start("t").agent("t", answer="é" * ANSWER_MAX_BYTES)
    values = step_outputs(fold(stream.end("t", structured_output=["x" * 300_000]).finish().records), {})
    assert len(values["answer"].encode()) <= ANSWER_MAX_BYTES
    assert values["answer"].endswith("(the rest was left out)")
    assert values["structured-output"] == ""


def test_changed_files_are_lines_and_a_name_with_a_line_end_is_none() -> None:
    files = (ChangedFile("a b.py", "added", 1, 0), ChangedFile("x\ny", "added", 1, 0))
    assert step_outputs(failing(changed_files=files), {})["changed-files"] == "a b.py"


def test_of_too_many_changed_files_as_many_as_fit_are_named() -> None:
    """An empty output would say that nothing was changed."""
    files = tuple(ChangedFile(f"{number:04}-{'é' * 150}", "added", 1, 0) for number in range(1_500))
    lines = step_outputs(failing(changed_files=files), {})["changed-files"].split("\n")
    assert lines == [file.path for file in files[: len(lines)]]
    assert OUTPUT_MAX_BYTES - 1_000 < sum(len(line.encode()) + 1 for line in lines) <= OUTPUT_MAX_BYTES + 1
