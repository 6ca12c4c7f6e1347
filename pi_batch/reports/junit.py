"""junit.xml: one testsuite per suite, one testcase per planned result.

The dialect that CI services read: what Jenkins' `junit-10.xsd` has, and on each case the `file` that GitLab,
pytest and the GitHub actions know. Jenkins' xUnit plugin refuses a report for that one attribute: the report
`xunit` leaves it out. junit-xml builds the elements; three of its habits are worked around here. It writes a
failure with an empty message as a pass, leaves `time` out where it is 0, and counts `disabled` cases,
which no schema knows. No time stamp and no host name stands in the file, so that equal results give equal
files.
"""

from __future__ import annotations

import xml.etree.ElementTree as ET  # only written with: nothing is parsed
from collections.abc import Sequence
from pathlib import PurePath
from typing import TYPE_CHECKING

from pi_batch.encoders import keep_head, xml_bytes, xml_line, xml_text
from pi_batch.reports.details import details
from pi_batch.reports.logs import no_logs
from pi_batch.reports.rows import ReadLog, Row, rows
from pi_batch.result_words import seconds
from pi_batch.results import BatchResult

if TYPE_CHECKING:
    from junit_xml import TestCase  # type: ignore[import-untyped]  # it ships no types

CASE_MAX_BYTES = 100_000
"""Text of one case: three quarters for the details, a quarter for the answer."""
DOCUMENT_MAX_BYTES = 8_000_000
"""Text of all cases; libxml2 and most services give up at 10 MB."""
CASE_MIN_BYTES = 400


class JUnit:
    """The report that CI services read."""

    name = "junit"

    def __init__(
        self, read_log: ReadLog = no_logs, root: PurePath | None = None, *, has_files: bool = True
    ) -> None:
        self._read_log = read_log
        self._has_files = has_files
        self._root = root
        """Spec files under it are named relative to it, as services want to place them."""
        self._made: dict[str, tuple[Row, int, TestCase]] = {}
        """By key: the last case with what it was made of, for as long as that stays the same."""

    def render(self, batch: BatchResult) -> str:
        """The whole document, well-formed XML 1.0 whatever the texts hold."""
        every = rows(batch)
        case_bytes = max(min(CASE_MAX_BYTES, DOCUMENT_MAX_BYTES // max(len(every), 1)), CASE_MIN_BYTES)
        by_suite: dict[str, list[Row]] = {}
        for row in every:
            by_suite.setdefault(row.suite, []).append(row)
        suites = [self._suite(suite, members, case_bytes) for suite, members in by_suite.items()]
        root = ET.Element("testsuites", _sums(suites))
        root.extend(suites)
        ET.indent(root)
        return f'<?xml version="1.0" encoding="utf-8"?>\n{ET.tostring(root, encoding="unicode")}\n'

    def _suite(self, name: str, members: Sequence[Row], case_bytes: int) -> ET.Element:
        from junit_xml import TestSuite  # 23 ms, and only when a report is written

        cases = [self._kept(row, case_bytes) for row in members]
        element: ET.Element = TestSuite(xml_line(name) or "unnamed", cases).build_xml_doc()
        durations = [seconds(row.result.duration_s) if row.result else 0.0 for row in members]
        element.attrib.pop("disabled", None)
        element.set("time", f"{sum(durations):.3f}")
        for case, duration_s in zip(element.iter("testcase"), durations, strict=True):
            case.set("time", f"{duration_s:.3f}")
        return element

    def _kept(self, row: Row, case_bytes: int) -> TestCase:
        known = self._made.get(row.key)
        if known is None or known[:2] != (row, case_bytes):
            known = self._made[row.key] = (row, case_bytes, self._case(row, case_bytes))
        return known[2]

    def _case(self, row: Row, case_bytes: int) -> TestCase:
        from junit_xml import TestCase

        case = TestCase(
            name=xml_line(row.name) or "unnamed",
            classname=xml_line(row.suite) or "unnamed",
            file=xml_line(self._spec(row), 1000) if self._has_files else None,
            stdout=_answer(row, case_bytes // 4),
        )
        if row.outcome == "passed":
            return case
        message = xml_line(row.reason) or row.outcome
        body = self._body(row, case_bytes * 3 // 4)
        match row.outcome:
            case "failed":
                case.add_failure_info(message=message, output=body, failure_type=_type(row))
            case "error" | "missing":
                case.add_error_info(message=message, output=body, error_type=_type(row))
            case "skipped":
                case.add_skipped_info(message=message, output=body)
        return case

    def _body(self, row: Row, max_bytes: int) -> str:
        text = xml_text(details(row, self._read_log, max_bytes, xml_bytes))
        return keep_head(text, max_bytes, xml_bytes)

    def _spec(self, row: Row) -> str:
        if self._root is not None and PurePath(row.spec).is_relative_to(self._root):
            return str(PurePath(row.spec).relative_to(self._root))
        return row.spec


def _answer(row: Row, max_bytes: int) -> str | None:
    """What the agent said, behind a line that says so where nothing judged it."""
    if row.result is None or row.outcome == "skipped":
        return None
    note = "(unverified: no check ran)\n" if row.word == "unverified" else ""
    # A little of a huge answer is enough to fill the space; the rest need not be looked at.
    text = f"{note}{xml_text((row.result.answer or '')[: 2 * max_bytes])}"
    return keep_head(text, max_bytes, xml_bytes).strip() or None


def _type(row: Row) -> str:
    """`error.kind`, or the stop that was no completion, or `verification`."""
    if row.result is None:
        return "cancelled"
    if row.result.error is not None:
        return row.result.error.kind
    if row.result.stop is not None and row.result.stop != "completed":
        return row.result.stop
    return "verification"


def _sums(suites: Sequence[ET.Element]) -> dict[str, str]:
    """The root's attributes: the suites' own, added up."""
    counts = {
        name: str(sum(int(suite.get(name, "0")) for suite in suites))
        for name in ("tests", "failures", "errors")
    }
    return {**counts, "time": f"{sum(float(suite.get('time', '0')) for suite in suites):.3f}"}
