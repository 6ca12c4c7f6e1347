"""Tests of comparing the tests that ran with the start's."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from pi_batch.protocols import TestEvidence
from pi_batch.results import TestCounts
from pi_batch.verifiers.comparison import combined, problems, totals
from tests.verifiers.rigs import evidence


def report(*names: str, skipped: Collection[str] = (), **keys: Any) -> TestEvidence:
    return evidence(
        executed=len(names),
        skipped=len(skipped),
        executed_names=tuple(sorted(names)),
        skipped_names=tuple(sorted(skipped)),
        is_report=True,
        **keys,
    )


def found(
    now: TestEvidence | None, start: TestEvidence, *, passed: bool = False, changed: Collection[str] = ()
) -> str:
    return "; ".join(problems([now] if now else [], [start], start_passed=passed, changed=changed))


A, B, C = "tests/test_a.py::test_a", "tests/test_b.py::TestB::test_b", "tests/test_c.py::test_c[1]"


def test_the_same_tests_are_no_problem() -> None:
    assert found(report(A, B), report(A, B)) == ""


def test_more_tests_are_no_problem() -> None:
    assert found(report(A, B, C), report(A)) == ""


def test_a_missing_test_is_named_even_when_another_takes_its_place() -> None:
    assert (
        found(report(A, "tests/test_x.py::test_new"), report(A, B))
        == f"1 test of the start no longer run: {B}"
    )


def test_a_test_may_move_to_another_file_or_class() -> None:
    assert found(report("other/test_z.py::TestZ::test_b"), report(B)) == ""


def test_fewer_cases_of_a_test_are_missing_cases() -> None:
    start = report("t.py::test_c[1]", "t.py::test_c[2]", "t.py::test_c[3]")
    assert found(report("t.py::test_c[1]"), start) == (
        "2 tests of the start no longer run: t.py::test_c[2], t.py::test_c[3]"
    )
    assert found(report("t.py::test_c[x]", "t.py::test_c[y::w]", "t.py::test_c[z]"), start) == ""


def test_the_line_of_a_documentation_test_is_no_part_of_its_name() -> None:
    start = evidence("cargo", 1, executed_names=("src/lib.rs - add (line 3)",))
    assert found(evidence("cargo", 1, executed_names=("src/lib.rs - add (line 9)",)), start) == ""


def test_tests_of_files_that_the_spec_gives_to_the_agent_may_go() -> None:
    def said(*given: str) -> tuple[str, ...]:
        start = report(A, B, broken=(C.partition("::")[0],))
        changed = ["tests/test_a.py", "tests/test_b.py", "tests/test_c.py"]
        return problems(
            [report("tests/test_n.py::test_n")],
            [start],
            start_passed=False,
            changed=changed,
            is_lifted=given.__contains__,
        )

    assert said("tests/test_a.py", "tests/test_b.py", "tests/test_c.py") == ()
    assert said("tests/test_a.py", "tests/test_c.py") == (f"1 test of the start no longer run: {B}",)


def test_a_newly_skipped_test_is_named() -> None:
    assert found(report(A, skipped=[B]), report(A, B)) == f"1 test newly skipped: {B}"


def test_a_file_that_is_skipped_whole_skips_its_tests() -> None:
    assert found(report(A, skipped=["tests/test_b.py"]), report(A, B)) == f"1 test newly skipped: {B}"


def test_a_new_test_that_is_skipped_counts_as_one_more_skipped() -> None:
    now = report(A, skipped=["tests/test_n.py::test_n"])
    said = "1 test skipped, 0 at the start: tests/test_n.py::test_n"
    assert found(now, report(A), changed=["tests/test_n.py"]) == said


def test_a_skipped_test_that_the_start_did_not_come_to_is_no_problem() -> None:
    """`pytest -x` stops at the first failure, and a file that did not load has no tests yet."""
    now = report(A, B, skipped=["tests/test_z.py::test_windows"])
    assert found(now, report(A), changed=["calc.py"]) == ""
    assert found(now, report(A, broken=("tests/test_z.py",)), changed=["calc.py"]) == ""


def test_many_names_are_cut_and_counted() -> None:
    start = report(*(f"t.py::test_{letter}" for letter in "abcdefgh"))
    assert found(report(A), start).endswith("t.py::test_f and 2 more")


def test_counts_decide_where_no_names_are_known() -> None:
    start = evidence("unittest", 5, 1)
    assert found(evidence("unittest", 4, 1), start) == "4 tests executed, 5 at the start"
    said = "2 tests skipped, 1 at the start"
    assert found(evidence("unittest", 5, 2), start, changed=["tests/test_a.py"]) == said
    assert found(evidence("unittest", 4, 2), start) == f"4 tests executed, 5 at the start; {said}"
    assert found(evidence("unittest", 6, 2), start, changed=["calc.py"]) == ""
    assert found(evidence("unittest", 6, 0), start) == ""


def test_counts_decide_where_the_runner_ran_several_times() -> None:
    start = report(A, B, runs=1)
    last_only = evidence(executed=3, executed_names=(C,), is_report=True, runs=2)
    assert found(last_only, start) == ""
    assert found(evidence(executed=1, executed_names=(C,), is_report=True, runs=2), start) == (
        "1 test executed, 2 at the start"
    )


def test_names_that_were_printed_are_those_of_every_run() -> None:
    start = evidence("cargo", 2, executed_names=("tests::adds", "tests::fails"), runs=1)
    now = evidence("cargo", 2, executed_names=("src/lib.rs - add (line 1)", "tests::adds"), runs=2)
    assert found(now, start) == "1 test of the start no longer run: tests::fails"


def test_evidence_that_is_gone_is_a_problem() -> None:
    assert found(None, report(A, B)) == "pytest ran 2 tests at the start; now it left no report of any"
    assert found(None, evidence("go", 2)) == "go ran 2 tests at the start; now it left no count of any"


def test_a_printed_count_in_place_of_a_report_is_a_problem() -> None:
    assert "no report" in found(evidence(executed=2), report(A, B))
    assert found(report(A, B), evidence(executed=2)) == ""


def test_a_start_without_tests_asks_for_nothing() -> None:
    assert found(None, evidence(found_none=True)) == ""
    assert problems([report(A)], [], start_passed=False, changed=()) == ()


def test_a_test_file_that_did_not_load_must_run_tests_now_if_it_was_changed() -> None:
    start = report(A, broken=("tests/test_b.py",))
    assert found(report(A, B), start, changed=["tests/test_b.py"]) == ""
    assert found(report(A), start, changed=["tests/test_b.py"]) == (
        "could not be loaded at the start, and no test of it runs now: tests/test_b.py"
    )
    assert found(report(A), start, changed=["sub/tests/test_b.py"]) != ""
    assert found(report(A), start, changed=["src/x.py"]) == ""


def test_failures_that_the_exit_code_hides_are_a_problem_unless_the_start_hid_them_too() -> None:
    now = report(A, failed=1)
    assert found(now, report(A, failed=1)) == "pytest counts 1 failed, yet the command exited with 0"
    assert found(now, report(A, failed=1), passed=True) == ""
    assert found(now, report(A), passed=True) != ""
    assert problems([now], [], start_passed=False, changed=()) != ()


def test_a_report_is_merged_into_what_was_printed() -> None:
    printed = (evidence(executed=2), evidence("jest", 3))
    merged = combined(report(A), printed, is_single=False)
    assert [(one.runner, one.executed, one.is_report) for one in merged] == [
        ("pytest", 1, True),
        ("jest", 3, False),
    ]
    assert combined(None, printed, is_single=False) == printed


def test_of_several_runs_the_printed_sum_counts() -> None:
    printed = (evidence(executed=5, skipped=2, runs=2),)
    (merged,) = combined(report(A), printed, is_single=False)
    assert (merged.executed, merged.skipped, merged.executed_names) == (5, 2, (A,))


def test_a_command_that_runs_pytest_once_is_not_taken_in_by_more_summaries() -> None:
    printed = (evidence(executed=5, skipped=2, runs=2),)
    (merged,) = combined(report(A), printed, is_single=True)
    assert (merged.executed, merged.skipped, merged.runs) == (1, 0, 1)


def test_a_report_without_anything_printed_is_known_as_such() -> None:
    assert combined(report(A), (), is_single=True)[0].runs == 0


def test_totals_are_the_sum_over_runners() -> None:
    assert totals([report(A, B), evidence("go", 3, 1)]) == TestCounts(5, 1)
    assert totals([]) is None


NAMES = st.sets(st.sampled_from([f"t{file}.py::test_{name}" for file in "12" for name in "abc"]), min_size=1)


@given(NAMES, NAMES)
def test_a_set_of_tests_loses_exactly_what_it_does_not_hold(start: set[str], now: set[str]) -> None:
    def own(names: set[str]) -> list[str]:
        return sorted(name.rsplit("::", 1)[1] for name in names)

    lost = list(own(start))
    for name in own(now):
        if name in lost:
            lost.remove(name)
    assert bool(found(report(*now), report(*start))) is bool(lost)
