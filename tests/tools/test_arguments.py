"""What all argument models share."""

from __future__ import annotations

from typing import Any

import pytest
from pydantic import Field, ValidationError

from pi_batch.tools.arguments import PATH_SPELLINGS, Limit, LineNumber, ToolArguments


class Sample(ToolArguments):
    """One of each."""

    path: str = Field(default=".", validation_alias=PATH_SPELLINGS)
    line: LineNumber = 1
    limit: Limit = 10


@pytest.mark.parametrize("key", ["path", "file_path", "filePath", "filename", "file", "directory", "dir"])
def test_a_path_has_many_names(key: str) -> None:
    assert Sample.model_validate({key: "x"}).path == "x"


@pytest.mark.parametrize(("given", "line"), [(1, 1), (0, 1), ("0", 1), ("7", 7), (7.0, 7), (10**30, 10**30)])
def test_lines_are_counted_from_one(given: Any, line: int) -> None:
    assert Sample.model_validate({"line": given}).line == line


@pytest.mark.parametrize(
    "wrong", [{"line": -1}, {"line": "x"}, {"line": False}, {"limit": 0}, {"limit": 1.5}, {"more": 1}]
)
def test_what_is_wrong_is_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        Sample.model_validate(wrong)


def test_arguments_are_frozen() -> None:
    with pytest.raises(ValidationError, match="frozen"):
        setattr(Sample(), "path", "other")  # noqa: B010 -- as a caller who does not read types would
