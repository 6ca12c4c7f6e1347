"""What the tools' argument models share."""

from __future__ import annotations

from typing import Any

import pytest

from pi_batch.arguments import arguments_of
from pi_batch.errors import ToolError
from pi_batch.tools.arguments import PATH_SPELLINGS, from_one
from pi_batch.tools.declare import parse_arguments
from pi_batch.tools.read import Read, ReadArguments


def read(**arguments: Any) -> Any:
    return parse_arguments(Read(), {"path": "x", **arguments})


@pytest.mark.parametrize("key", ["path", *PATH_SPELLINGS])
def test_a_path_has_many_names(key: str) -> None:
    assert parse_arguments(Read(), {key: "x"}) == ReadArguments(path="x")


@pytest.mark.parametrize(("given", "line"), [(1, 1), (0, 1), ("0", 1), ("7", 7), (7.0, 7), (2**60, 2**60)])
def test_lines_are_counted_from_one(given: Any, line: int) -> None:
    assert read(offset=given).offset == line


@pytest.mark.parametrize(
    "wrong",
    [{"offset": -1}, {"offset": "x"}, {"offset": False}, {"limit": 0}, {"limit": 1.5}, {"more": 1}],
)
def test_what_is_wrong_is_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(ToolError):
        read(**wrong)


@pytest.mark.parametrize("other", [None, "x", 1.5, [], False])
def test_only_a_zero_becomes_the_first_line(other: Any) -> None:
    assert from_one(other) is other


def test_arguments_are_frozen() -> None:
    with pytest.raises(AttributeError, match="immutable"):
        setattr(read(), "path", "other")  # noqa: B010 -- as a caller who does not read types would


def test_a_models_own_names_come_before_other_spellings() -> None:
    known = arguments_of(ReadArguments)
    assert list(known)[:3] == ["path", "offset", "limit"]
    assert known["lines"].name == "limit"
    assert [name for name, one in known.items() if one.is_required] == ["path", *PATH_SPELLINGS]
