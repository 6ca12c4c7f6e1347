"""The changes that an edit's arguments mean, whatever their spelling."""

from __future__ import annotations

from typing import Any

import pytest

from pi_batch.errors import ToolError
from pi_batch.tools.declare import parse_arguments
from pi_batch.tools.edit import Edit
from pi_batch.tools.edit_arguments import EditArguments


def changes(**arguments: Any) -> list[tuple[str, str, bool]]:
    made = parse_arguments(Edit(), {"path": "f", **arguments})
    assert isinstance(made, EditArguments)
    return [(change.old_string, change.new_string, change.replace_all) for change in made.changes]


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        ({"old_string": "a", "new_string": "b"}, [("a", "b", False)]),
        ({"oldText": "a", "newText": "b"}, [("a", "b", False)]),
        ({"old_str": "a", "new_str": "b", "replaceAll": True}, [("a", "b", True)]),
        ({"search": "a", "replace": "b"}, [("a", "b", False)]),
        ({"old_string": "", "new_string": "b"}, [("", "b", False)]),
        ({"old_string": "a", "new_string": ""}, [("a", "", False)]),
        ({"edits": [{"oldText": "a", "newText": "b"}]}, [("a", "b", False)]),
        (
            {
                "edits": [{"old_string": "a", "new_string": "b", "replace_all": True}],
                "oldText": "c",
                "newText": "d",
            },
            [("a", "b", True), ("c", "d", False)],
        ),
        ({"edits": '[{"oldText": "a", "newText": "b"}]'}, [("a", "b", False)]),
        ({"edits": {"oldText": "a", "newText": "b"}}, [("a", "b", False)]),
        ({"edits": [{"oldText": "a", "newText": "b"}], "replace_all": True}, [("a", "b", True)]),
        ({"edits": [{"oldText": "a", "newText": "b"}], "oldText": "", "newText": ""}, [("a", "b", False)]),
    ],
)
def test_spellings(arguments: dict[str, Any], expected: list[tuple[str, str, bool]]) -> None:
    assert changes(**arguments) == expected


@pytest.mark.parametrize(
    "arguments",
    [
        {},
        {"old_string": "a"},
        {"new_string": "a"},
        {"edits": []},
        {"edits": "[]"},
        {"edits": "not json"},
        {"edits": '"text"'},
        {"edits": [1]},
        {"edits": [{"oldText": "a"}]},
        {"edits": [{"oldText": "a", "newText": "b", "path": "other"}]},
        {"edits": [{"oldText": "a", "old_string": "c", "newText": "b"}]},
    ],
)
def test_what_names_no_whole_change_is_refused(arguments: dict[str, Any]) -> None:
    with pytest.raises(ToolError):
        changes(**arguments)
