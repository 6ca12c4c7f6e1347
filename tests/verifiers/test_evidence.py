"""Tests of reading what runners print."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pi_batch.protocols import TestEvidence
from pi_batch.verifiers.evidence import RUNNERS, Collector


def collected(output: str | bytes, chunk: int = 1 << 20) -> tuple[TestEvidence, ...]:
    data = output.encode() if isinstance(output, str) else output
    collector = Collector(RUNNERS)
    for at in range(0, len(data), chunk):
        collector.feed(data[at : at + chunk])
    return collector.close()


def only(output: str | bytes) -> TestEvidence:
    (found,) = collected(output)
    return found


@pytest.mark.parametrize(
    ("line", "counts"),
    [
        ("3 passed in 0.01s", (3, 0, 0)),
        ("=== 1 failed, 2 passed, 3 skipped in 61.00s (0:01:01) ===", (3, 3, 1)),
        ("1 passed, 2 xfailed, 3 xpassed, 1 warning in 0.1s", (4, 2, 0)),
        ("2 passed, 1 rerun, 4 subtests passed in 0.10s", (2, 0, 0)),
        ("1 passed, 2 errors in 0.10s", (1, 0, 2)),
        ("\x1b[32m\x1b[1m3 passed\x1b[0m\x1b[32m in 0.01s\x1b[0m", (3, 0, 0)),
        ("1 error in 0.05s", (0, 0, 1)),
        ("2 passed, 5 deselected in 0.01s\r", (2, 0, 0)),
    ],
)
def test_a_summary_of_pytest_is_read(line: str, counts: tuple[int, int, int]) -> None:
    found = only(f"....\n{line}\n")
    assert (found.executed, found.skipped, found.failed) == counts
    assert (found.runner, found.found_none, found.runs) == ("pytest", False, 1)


@pytest.mark.parametrize(
    "line",
    ["no tests ran in 0.01s", "= no tests ran in 0.00s =", "5 deselected in 0.01s", "1 warning in 0.01s",
     "no tests collected (3 deselected) in 0.01s"],
)  # fmt: skip
def test_pytest_says_that_it_found_no_test(line: str) -> None:
    assert only(line).found_none


@pytest.mark.parametrize(
    "line", ["3 tests collected in 0.01s", "2/3 tests collected (1 deselected) in 0.01s"]
)
def test_collecting_only_is_not_finding_none(line: str) -> None:
    found = only(line)
    assert (found.executed, found.found_none) == (0, False)


def test_several_runs_are_summed_and_the_last_one_says_what_failed() -> None:
    found = only("1 failed, 2 passed in 1.0s\nmore\n3 passed, 1 skipped in 2.0s\n")
    assert (found.executed, found.skipped, found.failed, found.runs) == (6, 1, 0, 2)


@pytest.mark.parametrize(
    "text",
    ["3 files in 0.1s", "OK", "FAILED", "done in 3s", "I passed in 3s", "x 3 passed in 0.1s",
     "Tests: all fine", "--- a/file.py", "it is ... ok", "test result: unknown"],
)  # fmt: skip
def test_other_text_is_no_evidence(text: str) -> None:
    assert collected(f"{text}\n") == ()


def test_unittest_is_read() -> None:
    found = only("Ran 7 tests in 0.002s\n\nFAILED (failures=1, errors=1, skipped=2, expected failures=1)\n")
    assert (found.runner, found.executed, found.skipped, found.failed) == ("unittest", 4, 3, 2)
    assert only("Ran 1 test in 0.000s\n\nOK\n").executed == 1
    assert only("Ran 0 tests in 0.000s\n\nNO TESTS RAN\n").found_none
    assert only("Ran 0 tests in 0.000s\n\nOK\n").found_none
    assert not only("Ran 2 tests in 0.0s\n\nOK (skipped=2)\n").found_none


def test_jest_is_read() -> None:
    found = only(
        "Test Suites: 1 failed, 1 total\nTests:       1 failed, 2 skipped, 1 todo, 4 passed, 8 total\n"
    )
    assert (found.runner, found.executed, found.skipped, found.failed) == ("jest", 5, 3, 1)
    assert only("No tests found, exiting with code 1\n").found_none
    assert not only("Test Suites: 1 failed, 1 total\nTests:       0 total\n").found_none


def test_go_is_read_with_its_subtests() -> None:
    found = only(
        "=== RUN   TestAdd\n--- PASS: TestAdd (0.00s)\n    --- PASS: TestAdd/zero (0.00s)\n"
        "--- SKIP: TestSlow (0.00s)\n--- FAIL: TestSub (0.01s)\nFAIL\nok  \tx/y\t0.01s\n"
        "?   \tx\t[no test files]\n"
    )
    assert (found.runner, found.executed, found.skipped) == ("go", 3, 1)
    assert found.executed_names == ("TestAdd", "TestAdd/zero", "TestSub")
    assert found.skipped_names == ("TestSlow",)
    assert found.failed_names == ("TestSub",)
    assert not found.found_none


def test_go_test_as_json_is_read() -> None:
    found = only(
        '{"Time":"x","Action":"run","Package":"p","Test":"TestA"}\n'
        '{"Time":"x","Action":"pass","Package":"p","Test":"TestA","Elapsed":0}\n'
        '{"Time":"x","Action":"skip","Package":"p","Test":"TestB","Elapsed":0}\n'
        '{"Time":"x","Action":"pass","Package":"p","Elapsed":0}\n'
    )
    assert (found.executed_names, found.skipped_names) == (("TestA",), ("TestB",))


def test_go_without_test_files_found_none_unless_a_package_failed_to_build() -> None:
    assert only("?   \tx/y\t[no test files]\n").found_none
    assert only("testing: warning: no tests to run\n").found_none
    unbuilt = only("?   \tx/y\t[no test files]\nFAIL\tx/z [build failed]\nFAIL\tx/w [setup failed]\n")
    assert not unbuilt.found_none
    assert unbuilt.broken == ("x/w", "x/z")


def test_cargo_is_read_over_all_its_binaries() -> None:
    found = only(
        "running 3 tests\ntest tests::adds ... ok\ntest tests::slow ... ignored, takes long\n"
        "test tests::panics - should panic ... FAILED\n\n"
        "test result: FAILED. 1 passed; 1 failed; 1 ignored; 0 measured; 0 filtered out; finished in 0.0s\n\n"
        "running 1 test\ntest src/lib.rs - add (line 3) ... ok\n\n"
        "test result: ok. 1 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.1s\n"
    )
    assert (found.runner, found.executed, found.skipped, found.failed, found.runs) == ("cargo", 3, 1, 0, 2)
    assert found.executed_names == ("src/lib.rs - add (line 3)", "tests::adds", "tests::panics")
    assert found.skipped_names == ("tests::slow",)
    assert found.failed_names == ("tests::panics",)


def test_cargo_without_names_still_counts() -> None:
    found = only("test result: ok. 2 passed; 0 failed; 1 ignored; 0 measured; 0 filtered out\n")
    assert (found.executed, found.skipped, found.executed_names) == (2, 1, ())
    empty = "test result: ok. 0 passed; 0 failed; 0 ignored; 0 measured; 3 filtered out\n"
    assert only(empty * 2).found_none


def test_runners_of_one_output_are_told_apart() -> None:
    found = collected("3 passed in 0.01s\nTests:       2 passed, 2 total\n")
    assert [(one.runner, one.executed) for one in found] == [("pytest", 3), ("jest", 2)]


@given(st.integers(min_value=1, max_value=40))
def test_chunks_may_be_cut_anywhere(size: int) -> None:
    output = b"a\n\xff\xfe in \n1 failed, 2 passed in 1.00s\nRan 3 tests in 0.1s\n\nOK (skipped=1)"
    assert collected(output, size) == collected(output)


def test_an_endless_line_is_not_kept_in_memory() -> None:
    collector = Collector(RUNNERS)
    for _ in range(200):
        collector.feed(b"x in " * 10_000)
    collector.feed(b"\n3 passed in 0.1s")
    (found,) = collector.close()
    assert found.executed == 3


@given(st.binary(max_size=200))
def test_any_output_is_read_without_an_error(data: bytes) -> None:
    collected(data + b"\n in 3 passed in 0.01s OK --- test result: " + data)
