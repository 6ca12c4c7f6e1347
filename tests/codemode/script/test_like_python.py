"""Scripts without tools print what CPython prints."""

from __future__ import annotations

import contextlib
import io
import sys
import types

import pytest

from tests.codemode.corpus.more import MORE
from tests.codemode.corpus.plain import SCRIPTS
from tests.codemode.script.hosts import run


def printed(source: str) -> str:
    """What the interpreter itself prints."""
    out = io.StringIO()
    module = types.ModuleType("__main__")
    was = sys.modules["__main__"]
    sys.modules["__main__"] = module
    try:
        with contextlib.redirect_stdout(out):
            exec(compile(source, "<python>", "exec", dont_inherit=True), module.__dict__)
    finally:
        sys.modules["__main__"] = was
    return out.getvalue()


EVERY = SCRIPTS | MORE


@pytest.mark.parametrize("name", EVERY)
def test_a_script_prints_what_the_interpreter_prints(name: str) -> None:
    ran = run(EVERY[name])
    assert ran.error == ""
    assert ran.text == printed(EVERY[name])
