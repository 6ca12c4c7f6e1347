"""Exit codes are documented, texts are one line, and problems read like a compiler's."""

from __future__ import annotations

import pytest

from pi_batch import errors
from pi_batch.errors import Cancelled, PiBatchError, SpecError, SpecProblem, ToolError

CLASSES = [
    value for value in vars(errors).values() if isinstance(value, type) and issubclass(value, PiBatchError)
]


@pytest.mark.parametrize("kind", CLASSES, ids=lambda kind: kind.__name__)
def test_every_error_has_a_documented_exit_code_and_is_in_the_tree(kind: type[PiBatchError]) -> None:
    assert kind.exit_code in (2, 3, 4, 130)
    assert kind.__name__ in (errors.__doc__ or "")


def test_a_wrong_command_line_or_spec_exits_with_2_and_an_empty_selection_with_4() -> None:
    assert errors.UsageError.exit_code == errors.SpecError.exit_code == 2
    assert errors.EmptySelection.exit_code == 4


def test_a_problem_reads_as_file_line_message() -> None:
    assert str(SpecProblem("a.yaml", 7, "budget.turns: got -1")) == "a.yaml:7: budget.turns: got -1"
    assert str(SpecProblem("a.yaml", 0, "empty")) == "a.yaml: empty"


def test_a_spec_error_holds_every_problem_one_a_line() -> None:
    problems = [SpecProblem("a.yaml", n, f"p{n}") for n in (1, 2)]
    error = SpecError(problems)
    assert str(error).split("\n") == ["a.yaml:1: p1", "a.yaml:2: p2"]
    assert error.problems == problems


def test_a_cancelled_run_exits_with_its_signals_code() -> None:
    assert (Cancelled().exit_code, Cancelled(143).exit_code) == (130, 143)
    assert "SIGTERM" in str(Cancelled(143))


def test_a_tools_error_never_ends_a_run() -> None:
    assert not issubclass(ToolError, PiBatchError)
    assert ToolError("x").error_kind == "failed"
