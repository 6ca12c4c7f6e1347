"""What test runners print about the tests they ran: one record a runner, and a collector over the output.

Runners are asked to say more through their own environment variables; the command stays as it is.

Sources: pytest's terminal reporter, unittest's TextTestRunner, jest's summary reporter, `go help testflag`
and `go help test`, libtest's pretty formatter.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from msgspec import Struct

from pi_batch.protocols import TestEvidence

MAX_LINE_BYTES = 64 * 1024
MAX_LINES = 100_000
"""Of one runner; what goes beyond is not counted."""

_COLOUR = re.compile(rb"\x1b\[[0-9;]*m")
_COUNT = re.compile(r"(\d+) ([a-z]+)")


class Runner(Struct, frozen=True):
    """How one runner's counts are found and read."""

    name: str
    needles: tuple[bytes, ...]
    """A line worth a look holds one of these."""
    line: re.Pattern[str]
    """What such a line must match whole."""
    read: Callable[[Sequence[str]], TestEvidence | None]
    """Counts of the lines that matched, at least one; None when they are no sign of this runner."""


class Collector:
    """Finds the lines that runners print, in an output that comes in pieces."""

    def __init__(self, runners: Sequence[Runner]) -> None:
        self._runners = tuple(runners)
        self._lines: dict[str, list[str]] = {runner.name: [] for runner in runners}
        self._rest = b""

    def feed(self, data: bytes) -> None:
        """Take the next bytes."""
        whole, newline, rest = (self._rest + data).rpartition(b"\n")
        self._rest = rest[-MAX_LINE_BYTES:]
        if newline:
            self._search(whole)

    def close(self) -> tuple[TestEvidence, ...]:
        """Everything that was found, one for each runner that was seen."""
        self._search(self._rest)
        self._rest = b""
        found = [(runner, self._lines[runner.name]) for runner in self._runners]
        read = [runner.read(lines) for runner, lines in found if lines]
        return tuple(evidence for evidence in read if evidence is not None)

    def _search(self, text: bytes) -> None:
        for runner in self._runners:
            for start in sorted({at for needle in runner.needles for at in _line_starts(text, needle)}):
                self._keep(runner, text, start)

    def _keep(self, runner: Runner, text: bytes, start: int) -> None:
        end = text.find(b"\n", start)
        raw = text[start : end if end >= 0 else len(text)]
        if len(raw) > MAX_LINE_BYTES or len(self._lines[runner.name]) >= MAX_LINES:
            return
        line = _COLOUR.sub(b"", raw).decode("utf-8", "replace").rstrip()
        if runner.line.fullmatch(line):
            self._lines[runner.name].append(line)


def _line_starts(text: bytes, needle: bytes) -> list[int]:
    """Where the lines begin that hold a needle."""
    starts = []
    at = text.find(needle)
    while at >= 0:
        starts.append(text.rfind(b"\n", 0, at) + 1)
        end = text.find(b"\n", at)
        at = text.find(needle, end) if end >= 0 else -1
    return starts


def _counts(line: str) -> dict[str, int]:
    return {word: int(number) for number, word in _COUNT.findall(line)}


def _pytest(lines: Sequence[str]) -> TestEvidence:
    counts = [_counts(line) for line in lines]

    def total(*words: str) -> int:
        return sum(count.get(word, 0) for count in counts for word in words)

    def is_empty(line: str) -> bool:
        return line[:1] == "n" or not (set(_counts(line)) & _PYTEST_OUTCOMES or "collected" in line)

    last = counts[-1]
    return TestEvidence(
        "pytest",
        executed=total("passed", "failed", "xpassed"),
        skipped=total("skipped", "xfailed"),
        failed=last.get("failed", 0) + last.get("error", 0) + last.get("errors", 0),
        runs=len(lines),
        found_none=all(is_empty(line.lstrip("= ")) for line in lines),
    )


_PYTEST_OUTCOMES = {"passed", "failed", "xpassed", "skipped", "xfailed", "error", "errors"}


def _unittest(lines: Sequence[str]) -> TestEvidence | None:
    ran = [int(line.split()[1]) for line in lines if line.startswith("Ran ")]
    if not ran:
        return None
    states = [line for line in lines if not line.startswith("Ran ")]
    details = [dict(re.findall(r"([a-z ]+)=(\d+)", state)) for state in states]
    skipped = sum(
        int(number)
        for detail in details
        for word, number in detail.items()
        if word.strip() in {"skipped", "expected failures"}
    )
    last = details[-1] if details else {}
    wrong = {"failures", "errors", "unexpected successes"}
    failed = sum(int(number) for word, number in last.items() if word.strip() in wrong)
    return TestEvidence(
        "unittest", max(sum(ran) - skipped, 0), skipped, failed, runs=len(ran), found_none=not sum(ran)
    )


def _jest(lines: Sequence[str]) -> TestEvidence:
    counts = [_counts(line) for line in lines if line.startswith("Tests:")]
    executed = sum(count.get("passed", 0) + count.get("failed", 0) for count in counts)
    skipped = sum(count.get(word, 0) for count in counts for word in ("skipped", "todo", "pending"))
    failed = counts[-1].get("failed", 0) if counts else 0
    # "0 total" alone is no word on that: suites that could not be loaded say it, too.
    found_none = any(line.startswith("No tests found") for line in lines) and not (executed or skipped)
    return TestEvidence("jest", executed, skipped, failed, runs=len(counts), found_none=found_none)


def _go(lines: Sequence[str]) -> TestEvidence:
    found = [match.groups() for line in lines if (match := _GO_TEST.match(line))]
    found += [match.groups() for line in lines if (match := _GO_EVENT.match(line))]
    names = sorted(name for state, name in found if state.lower() != "skip")
    failed = sorted(name for state, name in found if state.lower() == "fail")
    unbuilt = sorted(match[1] for line in lines if (match := _GO_UNBUILT.fullmatch(line)))
    skipped = sorted(name for state, name in found if state.lower() == "skip")
    # No count of failures: `go test` itself exits with 1, whatever the tested code does.
    return TestEvidence(
        "go",
        len(names),
        len(skipped),
        executed_names=tuple(names),
        skipped_names=tuple(skipped),
        failed_names=tuple(failed),
        broken=tuple(unbuilt),
        found_none=not found and not any(line.startswith("FAIL") for line in lines),
    )


_GO_TEST = re.compile(r"\s*--- (PASS|FAIL|SKIP): (\S+).*")
_GO_UNBUILT = re.compile(r"FAIL\t(\S+) \[(?:build|setup) failed\]")
_GO_EVENT = re.compile(r'\{.*"Action":"(pass|fail|skip)".*"Test":"([^"]+)".*\}')


def _cargo(lines: Sequence[str]) -> TestEvidence | None:
    results = [_counts(line) for line in lines if line.startswith("test result: ")]
    if not results:
        return None
    tests = [match.groups() for line in lines if (match := _CARGO_TEST.fullmatch(line))]
    executed = sum(count.get("passed", 0) + count.get("failed", 0) for count in results)
    skipped = sum(count.get("ignored", 0) for count in results)
    names = sorted(name for name, state in tests if state != "ignored")
    failed = sorted(name for name, state in tests if state == "FAILED")
    ignored = sorted(name for name, state in tests if state == "ignored")
    is_whole = (len(names), len(ignored)) == (executed, skipped)
    return TestEvidence(
        "cargo",
        executed,
        skipped,
        failed=results[-1].get("failed", 0),
        executed_names=tuple(names) if is_whole else (),
        skipped_names=tuple(ignored) if is_whole else (),
        failed_names=tuple(failed) if is_whole else (),
        runs=len(results),
        found_none=not (executed or skipped),
    )


_CARGO_TEST = re.compile(r"test (.+?)(?: - should panic)? \.\.\. (ok|FAILED|ignored)(?:,.*)?")

_PYTEST_SUMMARY = re.compile(
    r"(?:=+ )?"
    r"(?:no tests (?:ran|collected)|[\d/]+ tests? collected"
    r"|(?=.*\b(?:passed|failed|skipped|deselected|xfailed|xpassed|errors?|warnings?)\b)"
    r"\d+ [a-z ]+(?:, \d+ [a-z ]+)*)"
    r"(?: \(\d+ deselected\))?(?:, \d+ [a-z]+)* in [\d.]+s(?: \([\d:, a-z]+\))?(?: =+)?"
)

RUNNERS = (
    Runner("pytest", (b" in ",), _PYTEST_SUMMARY, _pytest),
    Runner(
        "unittest",
        (b"Ran ", b"OK", b"FAILED", b"NO TESTS RAN"),
        re.compile(r"Ran \d+ tests? in [\d.]+s|(?:OK|FAILED|NO TESTS RAN)(?: \([a-z =,\d]+\))?"),
        _unittest,
    ),
    Runner(
        "jest",
        (b"Tests:", b"No tests found"),
        re.compile(r"Tests:\s+(?:\d+ [a-z]+, )*\d+ total|No tests found.*"),
        _jest,
    ),
    Runner(
        "go",
        (b"--- ", b"no test files", b"no tests to run", b"FAIL\t", b'"Action":"'),
        re.compile(
            rf"{_GO_TEST.pattern}|{_GO_EVENT.pattern}|FAIL\t.*|.*(?:\[no test files\]|no tests to run).*"
        ),
        _go,
    ),
    Runner(
        "cargo",
        (b"test result: ", b" ... "),
        re.compile(rf"test result: (?:ok|FAILED)\. .*|{_CARGO_TEST.pattern}"),
        _cargo,
    ),
)
"""Every runner whose counts are known."""
