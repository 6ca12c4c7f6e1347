"""A Python function that the configuration file names: `module:function`."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stdout
from importlib import import_module
from pathlib import Path

from pi_batch.engine.router import Choose, Situation
from pi_batch.errors import UsageError


def load_function(name: str, directory: Path) -> Choose:
    """Import a function; a module beside the configuration file is found too, after installed ones.

    What it raises when it is called is a UsageError, too. Raises: UsageError, one line, where there is none.
    """
    module_name, _, own = name.partition(":")
    before = list(sys.path)
    sys.path.append(str(directory))
    try:
        with _foreign(f"function {name!r}: cannot be imported"):
            module = import_module(module_name)
    finally:
        sys.path[:] = before
    found = getattr(module, own, None)
    if not callable(found):
        raise UsageError(f"function {name!r}: {module_name} has no function {own}")

    def choose(situation: Situation) -> object:
        with _foreign(f"function {name!r}: failed"):
            return found(situation)

    return choose


@contextmanager
def _foreign(what: str) -> Iterator[None]:
    """Somebody else's code: whatever it raises is one line, and what it prints is no result of ours."""
    try:
        with redirect_stdout(sys.stderr):
            yield
    except (KeyboardInterrupt, asyncio.CancelledError, UsageError):
        raise
    except BaseException as error:  # SystemExit among them
        said = " ".join(str(error).split())
        raise UsageError(f"{what}: {type(error).__name__}: {said}") from error
