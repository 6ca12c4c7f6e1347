"""Tests of telling which programs run tests."""

from __future__ import annotations

import pytest

from pi_batch.invocations import invocations
from pi_batch.runners import (
    executes,
    expects_tests,
    is_for_tests,
    is_test_file,
    is_test_path,
    may_run_family,
    may_run_tests,
    named_runners,
    runs_pytest_once,
    unseen_test_runs,
)


@pytest.mark.parametrize(
    ("command", "names"),
    [
        ("pytest -q && jest", {"pytest", "jest"}),
        ("py.test", {"pytest"}),
        ("python -m unittest", {"unittest"}),
        ("go test ./...", {"go"}),
        ("go -C sub test", set()),
        ("go vet ./...", set()),
        ("cargo +nightly test --all", {"cargo"}),
        ("cargo build", set()),
        ("make test", set()),
        ("pip install pytest", set()),
        ("echo pytest", set()),
    ],
)
def test_runners_are_known_by_name(command: str, names: set[str]) -> None:
    assert named_runners(command) == names


@pytest.mark.parametrize(
    "command",
    [
        "pytest",
        "make check",
        "npm test",
        "tox",
        "./x.sh",
        "python app.py",
        "bash ci.sh",
        "python -c 'import pytest'",
    ],
)
def test_what_may_start_a_runner_out_of_sight_may_run_tests(command: str) -> None:
    assert may_run_tests(command)


@pytest.mark.parametrize(
    "command", ["test -f made.txt", "ruff check .", "grep -q x y && true", "mypy src", "exit 1"]
)
def test_plain_programs_run_no_tests(command: str) -> None:
    assert not may_run_tests(command)


@pytest.mark.parametrize(
    ("command", "expected"),
    [
        ("pytest", True),
        ("make", True),
        ("./run_tests.sh", True),
        ("ci/run", True),
        ("python app.py", False),
        ("./server", False),
        ("python test_app.py", False),
    ],
)
def test_silence_is_suspicious_only_where_tests_are_expected(command: str, expected: bool) -> None:
    assert expects_tests(command) is expected


@pytest.mark.parametrize(
    ("command", "path", "expected"),
    [
        ("./run_tests.sh", "run_tests.sh", True),
        ("bash scripts/check.sh -v", "scripts/check.sh", True),
        (".ci/run", ".ci/run", True),
        ("cd sub && ./test.sh", "sub/test.sh", True),
        ("python tests/run.py", "tests/run.py", True),
        ("python app.py", "app.py", False),
        ("python tests/test_app.py", "tests/test_app.py", False),
        ("make test", "Makefile", True),
        ("make -C sub check", "sub/Makefile", True),
        ("make test", "mk/common.mk", True),
        ("make build", "Makefile", False),
        ("just test", "justfile", True),
        ("nox", "noxfile.py", True),
        ("pytest", "Makefile", False),
    ],
)
def test_scripts_and_recipes_of_checks_are_told_from_what_is_tested(
    command: str, path: str, expected: bool
) -> None:
    assert any(executes(call, path) for call in invocations(command)) is expected


def test_families_are_by_runner_and_all_for_what_is_out_of_sight() -> None:
    assert may_run_family(invocations("pytest"), "python")
    assert not may_run_family(invocations("pytest"), "js")
    assert may_run_family(invocations("make test"), "rust")
    assert not may_run_family(invocations("node app.js"), "python")


def test_test_files_are_known_by_their_names() -> None:
    names = ["tests/test_a.py", "a_test.go", "x/a.test.tsx", "b.spec.js", "tests.py", "testcalc.py"]
    names += ["src/AddTest.java", "AddTests.cs", "TestAdd.php", "add_spec.rb", "add_test.exs", "test_a.cpp"]
    names += ["tests/it.rs", "crates/x/tests/it.rs", "src/tests.rs", "__tests__/deep/a.js", "test/a.mjs"]
    assert [name for name in names if not is_test_file(name)] == []
    others = ["latest.py", "contest.go", "tests/data.json", "conftest.py", "testing.py", "Latest.java"]
    others += ["src/lib.rs", "tests/common/mod.rs", "test/fixtures/a.js", "protest.rs", "Contest.php"]
    assert [name for name in others if is_test_file(name)] == []


@pytest.mark.parametrize(
    ("command", "expected"),
    [
        ("pytest -q", True),
        ("npm test", True),
        ("node --test", True),
        ("vitest run", True),
        ("python test_app.py", True),
        ("make check", True),
        ("mvn -Dstyle.color=never test", True),
        ("make lint", False),
        ("npm run lint:tests", False),
        ("python app.py", False),
        ("ruff check tests", False),
        ("uv sync", False),
    ],
)
def test_a_call_says_that_it_is_for_tests(command: str, expected: bool) -> None:
    assert any(map(is_for_tests, invocations(command))) is expected


@pytest.mark.parametrize(
    ("command", "seen", "expected"),
    [
        ("pytest && ruff check tests", {"pytest"}, False),
        ("pytest && jest", {"pytest"}, True),
        ("pytest && jest", {"pytest", "jest"}, False),
        ("pytest && python test_smoke.py", {"pytest"}, True),
        ("make test", {"pytest"}, False),
        ("make test && npm test", {"pytest"}, True),
        ("coverage run -m pytest && coverage report", {"pytest"}, False),
        ("make test", set(), True),
        ("make lint", set(), False),
    ],
)
def test_test_runs_that_left_nothing_are_counted(command: str, seen: set[str], expected: bool) -> None:
    assert unseen_test_runs(command, seen) is expected


def test_directories_of_tests_hold_tests() -> None:
    assert all(map(is_test_path, ["tests/data.json", "src/__tests__/a.js", "Test/x", "a/test_b.py"]))
    assert not any(map(is_test_path, ["src/tests.txt", "contests/a.py", "calc.py"]))


@pytest.mark.parametrize(
    ("command", "expected"),
    [
        ("pytest -q", True),
        ("cd sub && python -m pytest | tee log", True),
        ("pytest a && pytest b", False),
        ("make test", False),
        ("./prepare.sh && pytest", False),
        ("for x in a b; do pytest $x; done", False),
        ("find . -name 'test_*.py' | xargs pytest", False),
        ("echo pytest", False),
    ],
)
def test_it_is_known_when_pytest_runs_just_once(command: str, expected: bool) -> None:
    assert runs_pytest_once(command) is expected
