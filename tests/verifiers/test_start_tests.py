"""Tests of telling whether the start's own tests still hold."""

from __future__ import annotations

from typing import Any

import pytest

from pi_batch.protocols import Changes, TestEvidence
from pi_batch.results import ChangedFile
from pi_batch.verifiers.start_tests import Edited, edited_tests, unmet
from tests.verifiers.rigs import changes, evidence, judgement

A, B = "t/test_a.py::test_a", "t/test_b.py::test_b"
EDITED = Edited(("t/test_a.py",), ("t/test_a.py",))
CHANGED = "t/test_a.py was changed: with the start's version"
LIFTS = "(protect: ['!t/**'] lifts this)"


def ran(*passed: str, failed: tuple[str, ...] = (), runner: str = "pytest", **keys: Any) -> TestEvidence:
    """What a runner that names its tests left."""
    names = tuple(sorted((*passed, *failed)))
    return evidence(
        runner,
        len(names),
        failed=len(failed),
        executed_names=names,
        failed_names=failed,
        is_report=runner == "pytest",
        **keys,
    )


def said(
    start: TestEvidence, there: TestEvidence, now: TestEvidence | None = None, command: str = "pytest"
) -> str:
    after = now or ran(*start.executed_names, runner=start.runner)
    return unmet(command, [after], [start], judgement(there), EDITED)


# --- which files ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("file", "files", "put_back"),
    [
        (ChangedFile("t/test_a.py", "modified", 1, 1), ("t/test_a.py",), ("t/test_a.py",)),
        (ChangedFile("t/test_a.py", "deleted", 0, 1), ("t/test_a.py",), ("t/test_a.py",)),
        (
            ChangedFile("u/x.py", "renamed", 1, 1, old_path="t/test_a.py"),
            ("t/test_a.py",),
            ("t/test_a.py", "u/x.py"),
        ),
        (ChangedFile("t/test_a.py", "added", 1, 0), (), ()),
        (ChangedFile("t/data.json", "modified", 1, 1), (), ()),
        (ChangedFile("calc.py", "modified", 1, 1), (), ()),
        (ChangedFile("../t/test_a.py", "modified", 1, 1), (), ()),
    ],
)
def test_the_starts_test_files_are_known(
    file: ChangedFile, files: tuple[str, ...], put_back: tuple[str, ...]
) -> None:
    assert edited_tests(Changes(b"", (file,), ()), (), ()) == Edited(files, put_back)


def test_what_is_protected_or_lifted_is_not_among_them() -> None:
    assert edited_tests(changes("t/test_a.py"), ("t/test_a.py",), ()).files == ()
    assert edited_tests(changes("t/test_a.py"), (), ("t/**", "!t/test_a.py")).files == ()
    assert edited_tests(changes("t/test_a.py"), (), ("!u/**",)).files == ("t/test_a.py",)


def test_a_file_with_another_name_is_one_where_tests_of_it_ran_and_it_lies_among_tests() -> None:
    seen = [ran("tests/cases.py::test_a", "src/calc.py::calc.add")]
    changed = changes("back/tests/cases.py", "src/calc.py", "tests/helpers.py")
    assert edited_tests(changed, (), (), seen).files == ("back/tests/cases.py",)


def test_new_files_that_cannot_stand_beside_the_starts_make_way() -> None:
    files = [
        ChangedFile("t/test_a.py", "deleted", 0, 1),
        ChangedFile("t/unit/test_a.py", "added", 1, 0),
        ChangedFile("t/test_new.py", "added", 1, 0),
        ChangedFile("p/a_test.go", "modified", 1, 1),
        ChangedFile("p/b_test.go", "added", 1, 0),
        ChangedFile("q/c_test.go", "added", 1, 0),
    ]
    edited = edited_tests(Changes(b"", tuple(files), ()), (), ())
    assert edited.files == ("t/test_a.py", "p/a_test.go")
    assert edited.put_back == ("t/test_a.py", "p/a_test.go", "t/unit/test_a.py", "p/b_test.go")


# --- by name --------------------------------------------------------------------------------------


def test_what_failed_must_pass() -> None:
    start = ran(B, failed=(A,))
    assert said(start, ran(B, failed=(A,))) == f"{CHANGED} {A} fails {LIFTS}"
    assert said(start, ran(A, B)) == ""


def test_what_passed_may_fail() -> None:
    assert said(ran(A, failed=(B,)), ran(B, failed=(A,))) == ""
    assert said(ran("t/test_a.py::test_x", failed=(A,)), ran(A, broken=("t/test_x.py",))) == ""


def test_what_was_skipped_or_still_fails_is_no_loss() -> None:
    skipped = ran(failed=(B,), skipped_names=(A,))
    assert said(skipped, ran(B, failed=(A,)), ran(A, B)) == ""
    assert said(ran(B, failed=(A,)), ran(B, failed=(A,)), ran(B, failed=(A,))) == ""


def test_what_the_start_did_not_come_to_must_pass_in_the_changed_files_alone() -> None:
    new = "t/test_new.py::test_n"
    late = "t/test_a.py::test_late"
    assert f"{late} fails" in said(ran(failed=(A,)), ran(A, failed=(late,)), ran(A, late))
    assert said(ran(failed=(A,)), ran(A, failed=(new,)), ran(A, new)) == ""


def test_a_test_in_an_unchanged_file_that_failed_must_pass() -> None:
    assert said(ran(A, failed=(B,)), ran(A, failed=(B,))) == f"{CHANGED} {B} fails {LIFTS}"


def test_what_failed_must_run_and_its_file_must_load() -> None:
    start = ran(B, failed=(A,))
    assert said(start, ran(B)) == f"{CHANGED} {A} does not run {LIFTS}"
    assert said(start, ran(B, skipped_names=(A,))) == f"{CHANGED} {A} does not run {LIFTS}"
    gone = ran(B, "t/test_new.py::test_a", broken=("t/test_a.py",))
    assert said(start, gone) == f"{CHANGED} t/test_a.py cannot be loaded {LIFTS}"


def test_a_file_that_did_not_load_must_load() -> None:
    start = ran(B, broken=("t/test_a.py",))
    assert "t/test_a.py cannot be loaded" in said(start, start, ran(A, B))
    assert f"{A} fails" in said(start, ran(B, failed=(A,)), ran(A, B))
    assert said(start, ran(A, B), ran(A, B)) == ""


def test_cases_stand_for_their_test() -> None:
    start, now = ran(B, failed=(f"{A}[x]",)), ran(B, f"{A}[y]")
    assert said(start, ran(B, f"{A}[z]"), now) == ""
    assert f"{A}[z] fails" in said(start, ran(B, failed=(f"{A}[z]",)), now)
    assert f"{A}[x] fails" in said(start, ran(B, f"{A}[z]", failed=(f"{A}[x]",)), now)


def test_a_moved_test_of_a_file_that_was_not_put_back_may_run_elsewhere() -> None:
    moved = "u/test_c.py::test_b"
    assert said(ran(A, failed=(B,)), ran(A, moved), ran(A, moved)) == ""


def test_a_documentation_test_may_stand_on_another_line() -> None:
    start = ran("tests::x", failed=("src/lib.rs - add (line 3)",), runner="cargo")
    moved = "src/lib.rs - add (line 9)"
    now = ran("tests::x", moved, runner="cargo")
    assert said(start, now, now, "cargo test") == ""
    again = ran("tests::x", failed=(moved,), runner="cargo")
    assert f"{moved} fails" in said(start, again, now, "cargo test")


def test_a_package_of_go_that_was_not_built_must_be() -> None:
    start = ran("TestB", runner="go", broken=("x/a",))
    now = ran("TestA", "TestB", runner="go")
    assert "x/a cannot be loaded" in said(start, start, now, "go test")
    assert "TestA fails" in said(start, ran("TestB", failed=("TestA",), runner="go"), now, "go test")
    assert said(start, now, now, "go test") == ""


def test_a_run_without_the_report_that_was_there_does_not_count() -> None:
    text = unmet("pytest", [ran(A)], [ran(failed=(A,))], judgement(passed=True), EDITED)
    assert text == f"{CHANGED} pytest runs none of the tests (exit code 0) {LIFTS}"


# --- without names --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("command", "now", "start"),
    [
        ("python -m unittest", [evidence("unittest", 2)], [evidence("unittest", 2, failed=1)]),
        ("make test", [], []),
        ("pytest a && pytest b", [ran(B, runs=2)], [ran(failed=(A,))]),
        ("pytest && python test_x.py", [ran(A, B)], [ran(B, failed=(A,))]),
        ("pytest", [ran(A)], [evidence(broken=("t/test_a.py",), is_report=True)]),
        ("pytest", [ran(A)], []),
    ],
)
def test_where_names_are_missing_the_check_must_pass(
    command: str, now: list[TestEvidence], start: list[TestEvidence]
) -> None:
    text = unmet(command, now, start, judgement(), EDITED)
    assert text.startswith(f"{CHANGED} the check fails")
    assert unmet(command, now, start, judgement(passed=True), EDITED) == ""


def test_counted_failures_outweigh_an_exit_code_of_0() -> None:
    there = judgement(evidence("unittest", 2, failed=1), passed=True)
    assert unmet("python -m unittest", [], [], there, EDITED).startswith(CHANGED)


def test_many_files_are_named_in_part() -> None:
    files = tuple(f"test_{number}.py" for number in range(5))
    text = unmet("make test", [], [], judgement(), Edited(files, files))
    assert text.startswith(
        "test_0.py, test_1.py, test_2.py and 2 more were changed: with the start's versions"
    )
    assert "['!test_0.py']" in text
