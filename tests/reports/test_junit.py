"""junit.xml: well-formed, bounded, counted right, whatever the texts hold."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from collections import Counter
from pathlib import Path, PurePosixPath

import junitparser
import pytest
from hypothesis import given, settings
from msgspec.structs import replace

from pi_batch.events import Record
from pi_batch.fold import fold
from pi_batch.reports.junit import CASE_MAX_BYTES, DOCUMENT_MAX_BYTES, JUnit
from pi_batch.reports.logs import log_reader
from pi_batch.results import BatchResult
from tests.reports.batches import HOSTILE, hostile, many, one_of_everything, read_log
from tests.reports.golden import assert_golden
from tests.streams import Stream, planned, streams


def parsed(batch: BatchResult, junit: JUnit | None = None) -> ET.Element:
    return ET.fromstring((junit or JUnit(read_log)).render(batch).encode("utf-8"))


def cases(batch: BatchResult, junit: JUnit | None = None) -> dict[str, ET.Element]:
    return {case.get("name", ""): case for case in parsed(batch, junit).iter("testcase")}


def failed_with(message: str = "", reason: str = "", log: str | None = None) -> BatchResult:
    """One failed task; `reason` takes the place of the derived one."""
    stream = Stream("a").start("a", has_checks=True).agent("a")
    batch = fold(stream.check("a", passed=False, message=message, log=log).end("a").finish().records)
    return replace(batch, results=(replace(batch.results[0], reason=reason),)) if reason else batch


def test_junit_xml_is_as_it_was_looked_at() -> None:
    assert_golden("junit.xml", JUnit(read_log).render(one_of_everything()))


def test_equal_results_give_equal_files() -> None:
    assert JUnit(read_log).render(one_of_everything()) == JUnit(read_log).render(one_of_everything())


@given(streams())
@settings(max_examples=20)
def test_a_file_that_is_made_again_and_again_is_the_same_as_one_made_at_once(records: list[Record]) -> None:
    junit = JUnit(read_log)
    for length in range(0, len(records) + 1, 7):
        batch = fold(records[:length])
        assert junit.render(batch) == JUnit(read_log).render(batch)
        assert junit.render(batch) == JUnit(read_log).render(batch)


def test_a_case_is_made_anew_when_its_result_or_its_room_changed() -> None:
    junit = JUnit()
    assert "first" in junit.render(failed_with(reason="first"))
    assert "second" in junit.render(failed_with(reason="second"))
    few, more = many(2), many(400)
    assert junit.render(few) == JUnit().render(few)
    assert junit.render(more) == JUnit().render(more)


def test_one_suite_per_spec_or_suite_with_its_cases() -> None:
    root = parsed(one_of_everything())
    suites = {suite.get("name"): [case.get("name") for case in suite] for suite in root}
    assert suites["nightly"] == ["green", "green [openai/gpt-6]", "red"]
    assert suites["twice"] == ["twice #2"]
    assert {case.get("classname") for case in root[0]} == {"nightly"}


def test_names_that_would_be_equal_show_the_key() -> None:
    stream = Stream(
        planned("fix--n=1", task_id="fix", suite="s"), planned("fix--n=2", task_id="fix", suite="s")
    )
    assert list(cases(fold(stream.finish().records))) == ["fix (fix--n=1)", "fix (fix--n=2)"]


def test_each_outcome_has_its_element_and_type() -> None:
    by_name = cases(one_of_everything())
    kinds = {
        name: [(child.tag, child.get("type")) for child in case if child.tag != "system-out"]
        for name, case in by_name.items()
    }
    assert kinds == {
        "green": [],
        "green [openai/gpt-6]": [],
        "red": [("failure", "verification")],
        "twice #2": [],
        "prose": [],
        "limit": [("failure", "max_turns")],
        "cut": [("failure", "length")],
        "setup": [("error", "setup")],
        "skipped": [("skipped", "skipped")],
        "starved": [("skipped", "skipped")],
        "never": [("error", "cancelled")],
    }


def test_a_case_names_its_spec_and_time() -> None:
    case = cases(one_of_everything())["red"]
    assert (case.get("file"), case.get("time")) == ("tasks/red.yaml", "10.000")


def test_a_spec_under_the_root_is_named_relative_to_it() -> None:
    stream = Stream(planned("a", spec="/repo/tasks/a.yaml"), planned("b", spec="builtin:review"))
    batch = fold(stream.finish().records)
    by_name = cases(batch, JUnit(root=PurePosixPath("/repo")))
    assert [case.get("file") for case in by_name.values()] == ["tasks/a.yaml", "builtin:review"]
    elsewhere = cases(batch, JUnit(root=PurePosixPath("/other")))
    assert elsewhere["a"].get("file") == "/repo/tasks/a.yaml"


def test_a_failure_has_a_short_message_and_the_log_in_its_body() -> None:
    failure = cases(one_of_everything())["red"].find("failure")
    assert failure is not None
    assert failure.get("message") == "tests: exit code 1 (and 1 more of 3 checks)"
    text = failure.text or ""
    for part in (
        "second-line",
        "E501 line too long",
        "attempt 1: passed  build",
        "renamed new.py (from old.py) +0 -0",
        "added logo.png binary",
        "tests/test_a.py",
        "write: write.deny: tests/**",
        "the recording's result of call_2 differs",
        "1 turn, 120 tokens, $0.2500, 10.0 s",
        "patch: tasks/red/changes.patch",
    ):
        assert part in text


@pytest.mark.parametrize("reason", ["", " \n ", "x\ny" * 1000, HOSTILE])
def test_a_message_is_one_line_of_at_most_300_characters_and_never_empty(reason: str) -> None:
    # junit-xml writes a failure with an empty message and body as a pass.
    batch = failed_with(reason=reason)
    root = parsed(batch)
    [failure] = root.iter("failure")
    message = failure.get("message") or ""
    assert 0 < len(message) <= 300
    assert len(message.split("\n")) == 1
    assert root.get("failures") == root[0].get("failures") == "1"


def test_what_the_agent_said_is_the_cases_output() -> None:
    by_name = cases(one_of_everything())
    assert by_name["red"].findtext("system-out") == "Fixed."
    assert by_name["prose"].findtext("system-out") == "(unverified: no check ran)\nA summary.\nOf two lines."
    assert by_name["skipped"].find("system-out") is None


def test_a_task_that_was_never_run_is_an_error_and_no_pass() -> None:
    error = cases(one_of_everything())["never"].find("error")
    assert error is not None
    assert error.get("message") == "not run: the run was interrupted"
    unfinished = fold(Stream("a").records)
    assert parsed(unfinished).get("errors") == "1"


def test_an_empty_run_is_a_document_too() -> None:
    root = parsed(fold(Stream().finish().records))
    assert (root.tag, root.get("tests"), len(root)) == ("testsuites", "0", 0)


# --- hostile text (jun-01, jun-04, jun-06 and their kind) -----------------------------------------


def test_hostile_text_everywhere_stays_well_formed_and_readable() -> None:
    document = JUnit(lambda _: HOSTILE).render(hostile())
    root = ET.fromstring(document.encode("utf-8"))
    assert (root.get("failures"), root.get("errors")) == ("1", "1")
    assert sum(int(suite.get("skipped", "")) for suite in root) == 1
    assert [len(case) for case in root.iter("testcase")] == [2, 2, 1, 1]
    [failure] = root.iter("failure")
    assert "tail-x" in (failure.text or "")
    assert "\x1b" not in document
    assert "[31m" not in document
    assert "\u202e" not in document


def test_a_colour_code_and_controls_leave_the_readable_part() -> None:
    batch = failed_with("bad \x1b[31m \x01 \x0b \x00 tail-x")
    [failure] = parsed(batch).iter("failure")
    for shown in (failure.get("message") or "", failure.text or ""):
        assert "bad" in shown
        assert "tail-x" in shown


def test_a_huge_log_is_bounded_with_its_end_kept(tmp_path: Path) -> None:
    (tmp_path / "verify.log").write_text("log line\n" * 1_500_000 + "THE-END\n", encoding="utf-8")
    document = JUnit(log_reader(tmp_path)).render(failed_with(log="verify.log"))
    assert len(document) < 200_000
    [failure] = ET.fromstring(document).iter("failure")
    assert "THE-END" in (failure.text or "")
    assert "left out" in (failure.text or "")


@pytest.mark.parametrize("unit", ["<&>", "\x1b[31m", "é", "𝄞", "]]>", "\u202e", "\ud800", "x\r"])
def test_ten_megabytes_of_anything_are_bounded_and_keep_the_logs_end(unit: str) -> None:
    text = unit * (10_000_000 // len(unit))
    batch = failed_with(text)
    batch = replace(batch, results=(replace(batch.results[0], answer=text, warnings=(text,) * 3),))
    [result] = batch.results
    checks = (replace(result.verification[0], log="x.log", command=text[:100_000]),)
    batch = replace(batch, results=(replace(result, verification=checks),))
    document = JUnit(lambda _: text[:60_000] + "\nTHE-END").render(batch)
    root = ET.fromstring(document.encode("utf-8", "strict"))
    assert len(document.encode("utf-8")) < CASE_MAX_BYTES + 5_000
    [failure] = root.iter("failure")
    assert "THE-END" in (failure.text or "")


def test_many_failing_tasks_stay_under_the_size_that_services_take() -> None:
    document = JUnit(lambda _: "é<&" * 20_000).render(many(400, "é&" * 20_000))
    assert len(document.encode("utf-8")) < DOCUMENT_MAX_BYTES * 1.1
    root = ET.fromstring(document.encode("utf-8"))
    assert root.get("failures") == "400"


@pytest.mark.slow
def test_ten_thousand_tasks_still_fit() -> None:
    document = JUnit(lambda _: "é<&" * 20_000).render(many(10_000, "é&" * 2_000))
    assert len(document.encode("utf-8")) < 12_000_000
    assert ET.fromstring(document.encode("utf-8")).get("failures") == "10000"


# --- counts ---------------------------------------------------------------------------------------


def outcome_counts(batch: BatchResult) -> tuple[int, int, int, int]:
    totals = batch.totals
    return totals.planned, totals.failed, totals.error + totals.missing, totals.skipped


@given(streams())
def test_the_counts_are_the_outcomes(records: list[Record]) -> None:
    batch = fold(records)
    root = parsed(batch)
    assert (
        tuple(int(root.get(name, "")) for name in ("tests", "failures", "errors"))
        == outcome_counts(batch)[:3]
    )
    names = ("tests", "failures", "errors", "skipped")
    sums = tuple(sum(int(suite.get(name, "")) for suite in root) for name in names)
    assert sums == outcome_counts(batch)
    elements = Counter(child.tag for case in root.iter("testcase") for child in case)
    assert tuple(elements[tag] for tag in ("failure", "error", "skipped")) == outcome_counts(batch)[1:]


@pytest.mark.parametrize("batch", [one_of_everything(), hostile()], ids=["everything", "hostile"])
def test_a_second_reader_counts_the_same(batch: BatchResult) -> None:
    document = junitparser.JUnitXml.fromstring(JUnit(read_log).render(batch).encode("utf-8"))
    suites = list(document)
    counted = Counter(type(result).__name__ for suite in suites for case in suite for result in case.result)
    assert (counted["Failure"], counted["Error"], counted["Skipped"]) == outcome_counts(batch)[1:]
    declared = [
        sum(getattr(suite, name) for suite in suites) for name in ("tests", "failures", "errors", "skipped")
    ]
    assert tuple(declared) == outcome_counts(batch)
