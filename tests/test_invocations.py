"""Tests of reading commands leniently."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pi_batch.invocations import Invocation, invocations


def programs(command: str) -> list[str]:
    return [call.program for call in invocations(command)]


@pytest.mark.parametrize(
    ("command", "expected"),
    [
        ("pytest -q", ["pytest"]),
        ("a && b || c; d | e & f", ["a", "b", "c", "d", "e", "f"]),
        ("a\nb", ["a", "b"]),
        ("a \\\n b", ["a"]),
        ("python3.12 -m pytest tests", ["pytest"]),
        ("python -W error -X dev -m unittest.main discover", ["unittest"]),
        ("python -Im pytest", ["pytest"]),
        ("python -c 'import x'", ["python"]),
        ("X=1 Y='a b' pytest", ["pytest"]),
        ("env -u A X=1 pytest", ["pytest"]),
        ("timeout -k 5 1.5m nice -n 5 pytest", ["pytest"]),
        ("! grep x y", ["grep"]),
        ("if a; then b; else c; fi", ["a", "b", "c", "fi"]),
        ("for x in 1 2; do pytest $x; done", ["for", "pytest", "done"]),
        ("(cd x && pytest)", ["pytest"]),
        ("sh -c 'a; b' | c", ["a", "b", "c"]),
        ("bash -lc 'pytest -q'", ["pytest"]),
        ("poetry run -q pytest", ["pytest"]),
        ("uv run --with x pytest", ["pytest"]),
        ("coverage run --source src -m pytest -q", ["pytest"]),
        ("python -m coverage run -m unittest", ["unittest"]),
        ("coverage run run_tests.py", ["python"]),
        ("npx jest", ["jest"]),
        ("pnpm exec jest", ["jest"]),
        ("echo 'pytest; jest'", ["echo"]),
        ("pytest > pytest.log 2>&1", ["pytest"]),
        ("echo it's", ["echo"]),
        ("X=1", []),
        ("", []),
    ],
)
def test_a_command_is_read_as_the_programs_that_it_starts(command: str, expected: list[str]) -> None:
    assert programs(command) == expected


@pytest.mark.parametrize(
    ("command", "script"),
    [
        ("./run.sh", "run.sh"),
        ("cd a && ../b/run.sh", "b/run.sh"),
        ("cd a; cd b; ./run.sh", "a/b/run.sh"),
        ("bash -e -o pipefail ci/run", "ci/run"),
        ("bash ./x.sh arg", "x.sh"),
        ("source env.sh", "env.sh"),
        (". ./env.sh", "env.sh"),
        ("python -u tests/run.py", "tests/run.py"),
        ("cd a && sh -c ./run.sh", "a/run.sh"),
        (".venv/bin/pytest", ".venv/bin/pytest"),
        ("pytest tests", None),
        ("python -m x", None),
        ("/usr/bin/pytest", None),
        ("../x.sh", None),
        ("python -", None),
    ],
)
def test_the_file_that_a_command_executes_is_known(command: str, script: str | None) -> None:
    assert invocations(command)[-1].script == script


def test_tools_that_start_a_program_are_remembered() -> None:
    assert invocations("poetry run coverage run -m pytest")[0].via == ("poetry", "coverage")


def test_words_keep_what_was_quoted() -> None:
    assert invocations("pytest -k 'a or b'") == (Invocation("pytest", ("pytest", "-k", "a or b")),)


@given(st.text(alphabet="ab/.-=$'\"\\ \n;|&()<>{}!", max_size=60))
def test_any_text_is_read_without_an_error(command: str) -> None:
    for call in invocations(command):
        assert call.words
