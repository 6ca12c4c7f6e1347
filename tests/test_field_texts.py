"""The texts under fields are found as a person reads them."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from types import ModuleType

from pi_batch import spec
from pi_batch.field_texts import field_texts

SOURCE = '''
"""A module."""

from dataclasses import dataclass

number: int = 3
"""No class's."""


@dataclass
class First:
    """A class."""

    plain: int
    """One line."""
    undocumented: str = "x"
    long: float = 1.0
    """Two
    lines."""
    """A second text."""
    last: bool = False

    def method(self) -> None:
        """No field."""
        local: int = 1
        """Nor this."""


class Second:
    unannotated = 1
    """Not a field."""
'''


def module_of(path: Path, source: str) -> ModuleType:
    path.write_text(source, encoding="utf-8")
    found = importlib.util.spec_from_file_location(path.stem, path)
    assert found is not None
    assert found.loader is not None
    module = sys.modules[path.stem] = importlib.util.module_from_spec(found)
    try:
        found.loader.exec_module(module)
    finally:
        del sys.modules[path.stem]
    return module


def test_the_string_under_a_field_is_its_text(tmp_path: Path) -> None:
    module = module_of(tmp_path / "of_a_test.py", SOURCE)
    assert field_texts(module) == {"First": {"plain": "One line.", "long": "Two\nlines."}, "Second": {}}


def test_a_spec_says_what_its_keys_are() -> None:
    texts = field_texts(spec)
    assert texts["BudgetSpec"]["cost_usd"] == "US dollars."
    assert texts["OutputSpec"]["schema_"] == "JSON Schema of the final answer."
