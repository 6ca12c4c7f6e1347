"""Nothing that a script must not reach is reached, proven by what it prints."""

from __future__ import annotations

import ast

import pytest

from pi_batch.codemode.script.concurrency import First, Mapped, Timeout
from pi_batch.codemode.script.host import READABLE
from pi_batch.codemode.script.names import NATIVE
from pi_batch.codemode.script.scheduler import Waitable
from tests.codemode.corpus.escapes import MARK, scripts
from tests.codemode.script.hosts import run

EVERY = dict(scripts())
READABLE_UNNAMED = (First, Mapped, Timeout)

pytestmark = pytest.mark.filterwarnings(
    "ignore::RuntimeWarning", "ignore::pytest.PytestUnraisableExceptionWarning"
)


def test_there_are_enough_of_them() -> None:
    assert len(EVERY) >= 200


BY_FIRST_LETTER = {
    letter: [name for name in EVERY if name[0] == letter] for letter in {name[0] for name in EVERY}
}
"""So that two cores share them, and 900 of them are no 900 tests."""


@pytest.mark.parametrize("letter", sorted(BY_FIRST_LETTER))
def test_scripts_that_want_out_get_nowhere(letter: str) -> None:
    reached = [name for name in BY_FIRST_LETTER[letter] if MARK in run(EVERY[name]).text]
    assert reached == []


def test_what_is_written_for_an_escape_is_python() -> None:
    """A script that fails for a slip of ours would prove nothing; some are newer than the oldest Python."""
    for name in EVERY.keys() - {"type-params", "type-alias"}:
        ast.parse(EVERY[name], name)


def test_what_our_own_objects_have_for_us_alone_is_read_by_no_pattern() -> None:
    """Patterns read natively: a public name is one that scripts may read, or no pattern spells it."""
    for kind in (*READABLE, *READABLE_UNNAMED):
        public = {name for name in dir(kind) if not name.startswith("_")}
        assert public - READABLE.get(kind, READABLE[Waitable]) <= NATIVE | {"name"}, (
            kind
        )  # a task's is a text
