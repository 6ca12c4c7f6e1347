"""pytest's own report: how it is asked for, and what it says of each test.

The report is a JUnit file in the check's private directory, asked for through PYTEST_ADDOPTS. Of several
runs in one check the last one's report stays; their printed summaries give the sum. Under pytest-xdist the
controller alone writes it. Expected failures are `skipped` there.

Source: _pytest/junitxml.py, family xunit1, which names each test's file.
"""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Mapping
from typing import cast
from xml.etree.ElementTree import Element, ParseError, XMLPullParser

from pi_batch.protocols import Sandbox, TestEvidence

CHUNK_BYTES = 1024 * 1024
MAX_REPORT_BYTES = 256 * 1024 * 1024
REFUSED = b"unrecognized arguments: --junitxml"
"""What pytest prints when a project has switched its report off."""


def with_report(env: Mapping[str, str], report: str, *, is_counting: bool) -> dict[str, str]:
    """The environment in which pytest writes a report to a path.

    When only counts matter, files that cannot be loaded do not keep the others from running.
    """
    options = ["-o", "junit_family=xunit1", "-o", "junit_logging=no", f"--junitxml={report}"]
    if is_counting:
        options.append("--continue-on-collection-errors")
    before = env.get("PYTEST_ADDOPTS", "")
    return {**env, "PYTEST_ADDOPTS": f"{before} {shlex.join(options)}".strip()}


async def read_report(sandbox: Sandbox, report: str) -> TestEvidence | None:
    """What a report says; None when there is none, or none that can be read."""
    tests = _Tests()
    parser: XMLPullParser[Element] = XMLPullParser(["end"])
    offset = 0
    try:
        while offset < MAX_REPORT_BYTES:
            chunk = await sandbox.read(report, offset=offset, limit_bytes=CHUNK_BYTES)
            if b"<!DOCTYPE" in chunk or b"<!ENTITY" in chunk:
                return None
            if not chunk:
                break
            parser.feed(chunk)
            offset += len(chunk)
            for _event, element in cast("Iterator[tuple[str, Element]]", parser.read_events()):
                tests.add(element)
        parser.close()
    except (OSError, ParseError):
        return None
    return tests.evidence() if offset else None


class _Tests:
    """Test cases as they are read; one that failed and whose teardown failed stands there twice."""

    def __init__(self) -> None:
        self._executed: set[str] = set()
        self._skipped: set[str] = set()
        self._broken: set[str] = set()
        self._failed: set[str] = set()

    def add(self, element: Element) -> None:
        """Take a finished element; its memory is given back."""
        if element.tag == "testcase":
            self._add_case(element)
        if element.tag in {"testcase", "testsuite"}:
            element.clear()

    def evidence(self) -> TestEvidence:
        """All of them."""
        skipped = self._skipped - self._executed
        return TestEvidence(
            "pytest",
            executed=len(self._executed),
            skipped=len(skipped),
            failed=len(self._failed),
            executed_names=tuple(sorted(self._executed)),
            failed_names=tuple(sorted(self._failed)),
            skipped_names=tuple(sorted(skipped)),
            broken=tuple(sorted(self._broken)),
            is_report=True,
            found_none=not (self._executed or skipped or self._broken),
        )

    def _add_case(self, case: Element) -> None:
        kinds = {child.tag for child in case}
        name = _test_id(case)
        error = case.find("error")
        if error is not None and error.get("message", "").startswith("collection failure"):
            self._broken.add(name)
        elif "skipped" in kinds:
            self._skipped.add(name)
        else:
            self._executed.add(name)
            if kinds & {"failure", "error"}:
                self._failed.add(name)


def _test_id(case: Element) -> str:
    """`tests/test_a.py::TestX::test_y[1]`, as pytest itself writes it, as far as the report says."""
    classname, name = case.get("classname", ""), case.get("name", "")
    file = case.get("file", "")
    if not classname:
        # A file that could not be loaded, or that skipped itself: its module's name, or its path.
        return file or (name if name.endswith(".py") else name.replace(".", "/") + ".py")
    module = file.removesuffix(".py").replace("/", ".")
    inner = classname.removeprefix(module).strip(".") if file else ""
    where = file or classname.replace(".", "/") + ".py"
    return "::".join(part for part in (where, *inner.split("."), name) if part)
