"""Remarks of a review, read out of whatever a model gave."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pi_batch.findings import Finding, findings_of

NAMES = st.sampled_from(["findings", "file", "line", "severity"])
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(NAMES, inner),
)


def of(**fields: Any) -> tuple[Finding, ...]:
    item = {"file": "a b.py", "line": 3, "severity": "note", "message": "m", **fields}
    return findings_of({"findings": [item]})


def test_a_finding_is_a_line_that_editors_parse() -> None:
    assert of() == (Finding("a b.py", 3, "note", "m"),)
    assert str(of(message="two\nlines\x1b[1m")[0]) == "a b.py:3: note: two lines"


@pytest.mark.parametrize("line", [0, -1, True, None, "3", 2.5])
def test_what_is_no_line_is_the_first(line: Any) -> None:
    assert of(line=line)[0].line == 1


@pytest.mark.parametrize("severity", [None, "fatal", 3, "ERROR"])
def test_an_unknown_severity_is_the_worst(severity: Any) -> None:
    assert of(severity=severity)[0].severity == "error"


@pytest.mark.parametrize("file", ["/etc/passwd", "../x", "a/../../x", "a\\..\\x", "", None, 3])
def test_a_file_outside_is_no_finding(file: Any) -> None:
    assert of(file=file) == ()


@given(JSON)
def test_any_output_can_be_read(output: Any) -> None:
    for finding in findings_of(output):
        assert finding.line >= 1
