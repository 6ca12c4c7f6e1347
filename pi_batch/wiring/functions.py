"""A Python function that the configuration file names: `module:function`."""

from __future__ import annotations

import sys
from importlib import import_module
from pathlib import Path
from typing import cast

from pi_batch.engine.router import Choose
from pi_batch.errors import UsageError


def load_function(name: str, directory: Path) -> Choose:
    """Import a function; a module beside the configuration file is found too, after installed ones.

    Raises: UsageError, one line, where there is none.
    """
    module_name, _, own = name.partition(":")
    before = list(sys.path)
    sys.path.append(str(directory))
    try:
        module = import_module(module_name)
    except (ImportError, SyntaxError) as error:
        raise UsageError(f"function {name!r}: cannot be imported: {error}") from error
    finally:
        sys.path[:] = before
    found = getattr(module, own, None)
    if not callable(found):
        raise UsageError(f"function {name!r}: {module_name} has no function {own}")
    return cast("Choose", found)
