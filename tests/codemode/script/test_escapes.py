"""Nothing that a script must not reach is reached, proven by what it prints."""

from __future__ import annotations

import ast

import pytest

from tests.codemode.corpus.escapes import MARK, scripts
from tests.codemode.script.hosts import run

EVERY = dict(scripts())

pytestmark = pytest.mark.filterwarnings(
    "ignore::RuntimeWarning", "ignore::pytest.PytestUnraisableExceptionWarning"
)


def test_there_are_enough_of_them() -> None:
    assert len(EVERY) >= 200


@pytest.mark.parametrize("name", EVERY)
def test_a_script_that_wants_out_gets_nowhere(name: str) -> None:
    ran = run(EVERY[name])
    assert MARK not in ran.text


def test_what_is_written_for_an_escape_is_python() -> None:
    """A script that fails for a slip of ours would prove nothing; some are newer than the oldest Python."""
    for name in EVERY.keys() - {"type-params", "type-alias"}:
        ast.parse(EVERY[name], name)
