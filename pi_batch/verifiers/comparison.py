"""What became of the start's tests: which do not run any more, which are newly skipped."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence

from msgspec.structs import replace

from pi_batch.protocols import TestEvidence
from pi_batch.results import TestCounts
from pi_batch.runners import is_test_path

MAX_NAMES = 5
"""Named in one message; the rest is counted."""


def totals(evidence: Sequence[TestEvidence]) -> TestCounts | None:
    """The sum over runners; None without any sign of a test run."""
    if not evidence:
        return None
    return TestCounts(sum(one.executed for one in evidence), sum(one.skipped for one in evidence))


def combined(
    report: TestEvidence | None, printed: Sequence[TestEvidence], *, is_single: bool
) -> tuple[TestEvidence, ...]:
    """Evidence with pytest's report merged into what it printed.

    The report knows names; of several runs it shows the last only, so that their counts are those printed.
    `is_single`: the command runs pytest once, so that further summaries in its output are not pytest's.
    """
    if report is None:
        return tuple(printed)
    others = tuple(one for one in printed if one.runner != report.runner)
    same = next((one for one in printed if one.runner == report.runner), None)
    if same is None:
        return (replace(report, runs=0), *others)
    if is_single:
        return (replace(report, found_none=same.found_none), *others)
    merged = replace(report, runs=same.runs, found_none=same.found_none)
    if same.runs > 1:
        merged = replace(merged, executed=same.executed, skipped=same.skipped)
    return (merged, *others)


def problems(
    now: Sequence[TestEvidence],
    start: Sequence[TestEvidence],
    *,
    start_passed: bool,
    changed: Collection[str],
    is_lifted: Callable[[str], bool] = lambda path: False,
) -> tuple[str, ...]:
    """Reasons, one phrase each, not to believe that a command that exited with 0 ran the start's tests.

    `changed` are the paths that differ from the start where the command ran. Tests of files that the spec
    gives to the agent (`is_lifted`) may go where names are known.
    """
    start = [_without_lifted(before, is_lifted) for before in start]
    after_of = {one.runner: one for one in now}
    before_of = {one.runner: one for one in start}
    found: list[str] = []
    for before in start:
        after = after_of.get(before.runner)
        count = before.executed + before.skipped + len(before.broken)
        if not count:
            continue
        if after is None or (before.is_report and not after.is_report):
            found.append(
                f"{before.runner} ran {_tests(count)} at the start; now it left no"
                f" {'report' if before.is_report else 'count'} of any"
            )
        elif is_named(before, after):
            found += _losses_by_name(before, after, changed)
        else:
            found += _losses_by_count(before, after, changed)
    for after in now:
        before_failed = before_of[after.runner].failed if after.runner in before_of else 0
        if after.failed and not (start_passed and before_failed):
            found.append(f"{after.runner} counts {after.failed} failed, yet the command exited with 0")
    return tuple(found)


def _without_lifted(before: TestEvidence, is_lifted: Callable[[str], bool]) -> TestEvidence:
    names = tuple(name for name in before.executed_names if not is_lifted(file_of(name)))
    broken = tuple(path for path in before.broken if not is_lifted(path))
    fewer = len(before.executed_names) - len(names)
    return replace(before, executed=before.executed - fewer, executed_names=names, broken=broken)


def is_named(before: TestEvidence, after: TestEvidence) -> bool:
    """True when both know the names of all their tests; a report of several runs knows the last one's."""
    is_last_only = (before.is_report or after.is_report) and max(before.runs, after.runs) > 1
    return not is_last_only and bool(before.executed_names and after.executed_names)


def _losses_by_name(before: TestEvidence, after: TestEvidence, changed: Collection[str]) -> Iterator[str]:
    """Tests that ran at the start and do not now, and new skips where something was changed.

    A skipped test that the start did not come to (it stopped early, or did not load the file) is no loss.
    """
    gone, skipped = _missing(before, after)
    seen = {*before.skipped_names, *skipped, *before.executed_names}
    fresh = [name for name in after.skipped_names if name not in seen and is_changed(file_of(name), changed)]
    if skipped:
        yield f"{_tests(len(skipped))} newly skipped: {listed(skipped)}"
    elif fresh and after.skipped > before.skipped:
        yield f"{_tests(after.skipped)} skipped, {before.skipped} at the start: {listed(fresh)}"
    if gone:
        yield f"{_tests(len(gone))} of the start no longer run: {listed(gone)}"
    loaded = {file_of(name) for name in after.executed_names}
    unloaded = [path for path in before.broken if is_changed(path, changed) and path not in loaded]
    if unloaded:
        yield f"could not be loaded at the start, and no test of it runs now: {listed(unloaded)}"


def _losses_by_count(before: TestEvidence, after: TestEvidence, changed: Collection[str]) -> Iterator[str]:
    """Fewer tests, or more skipped ones; the latter may come of tests that the start did not come to."""
    if after.executed < before.executed:
        yield f"{_tests(after.executed)} executed, {before.executed} at the start"
    if after.skipped > before.skipped and (
        after.executed < before.executed or any(map(is_test_path, changed))
    ):
        yield f"{_tests(after.skipped)} skipped, {before.skipped} at the start"


def _missing(before: TestEvidence, after: TestEvidence) -> tuple[list[str], list[str]]:
    """Tests that ran at the start and do not now: those that are gone, and those that are skipped.

    Compared by the test's own name, so that a test may move to another file or class.
    """
    lacking = Counter(map(own_name, before.executed_names)) - Counter(map(own_name, after.executed_names))
    still = set(after.executed_names)
    suspects: dict[str, list[str]] = {}
    for name in sorted(before.executed_names, key=lambda name: (name in still, name)):
        suspects.setdefault(own_name(name), []).append(name)
    missing = [name for own, count in lacking.items() for name in suspects[own][:count]]
    skipped_own = set(map(own_name, after.skipped_names))
    skipped = [name for name in missing if own_name(name) in skipped_own or _is_file_skipped(name, after)]
    return sorted(set(missing) - set(skipped)), sorted(skipped)


def own_name(name: str) -> str:
    """A test's name without its file, its class, its parameters, and the line of a documentation test."""
    return base_name(name).rsplit("::", 1)[-1]


def base_name(name: str) -> str:
    """A test's name without its parameters, and without the line of a documentation test."""
    return _LINE.sub("", name.partition("[")[0])


_LINE = re.compile(r" \(line \d+\)")


def file_of(name: str) -> str:
    """The file of one of pytest's names; of a file that could not be loaded, itself."""
    return name.partition("::")[0]


def _is_file_skipped(name: str, after: TestEvidence) -> bool:
    """True when the test's whole file is skipped now."""
    return file_of(name) in after.skipped_names


def is_changed(path: str, changed: Collection[str]) -> bool:
    """True when a file, as a runner names it from wherever it started, is one of the paths."""
    return any(other == path or other.endswith(f"/{path}") for other in changed)


def _tests(count: int) -> str:
    return "1 test" if count == 1 else f"{count} tests"


def listed(names: Iterable[str]) -> str:
    """Names for a message, as many as fit."""
    shown = list(names)
    more = f" and {len(shown) - MAX_NAMES} more" if len(shown) > MAX_NAMES else ""
    return ", ".join(shown[:MAX_NAMES]) + more
