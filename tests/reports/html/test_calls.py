"""Calls and results: titles, badges, diffs, inner calls, images."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from pi_batch.messages import ImageBlock, TextBlock, ToolCall, ToolResultMessage
from pi_batch.reports.html.calls import call_fold, call_title, diff, image, result_badges, result_parts
from pi_batch.reports.html.values import Badge, Diff, Fact, Facts, Fold, InnerCalls, Pre


def result(text: str = "ok", name: str = "bash", **fields: Any) -> ToolResultMessage:
    return ToolResultMessage("c", name, (TextBlock(text),), **fields)


def fold(name: str, arguments: Mapping[str, Any] | None, came: ToolResultMessage | None) -> Fold:
    return call_fold(ToolCall("c", name, arguments, "{bad"), came, "r1", "")


@pytest.mark.parametrize(
    ("name", "arguments", "title"),
    [
        ("bash", {"command": "cd x\npytest"}, "cd x …"),
        ("read", {"path": "a.py", "limit": 3}, "a.py"),
        ("grep", {"pattern": "x+", "path": "src"}, "x+ in src"),
        ("find", {"pattern": "*.py"}, "*.py"),
        ("think", {"thought": "hm"}, "hm"),
        ("codemode", {"script": "a = 1\nreturn a"}, "a = 1 … (2 lines)"),
        ("mcp__x__y", {"n": 1}, '{"n": 1}'),
        ("ls", {}, ""),
        ("bash", {"command": 7}, ""),
    ],
)
def test_a_call_is_named_by_what_it_is_about(name: str, arguments: dict[str, Any], title: str) -> None:
    assert call_title(name, arguments) == title


def test_a_command_stands_before_its_output() -> None:
    made = fold("bash", {"command": "ls", "timeout_s": 5}, result("a\nb"))
    assert made.parts == (Facts((Fact("timeout_s", "5"),)), Pre("a\nb", "terminal", "ls"))
    assert made.id == "r1"


def test_how_a_call_ended_is_said_in_words() -> None:
    failed = result(is_error=True, error_kind="failed", details={"exit_code": 2, "duration_s": 1.25})
    assert result_badges(failed) == (Badge("error", "bad"), Badge("exit 2", "bad"), Badge("1.2 s"))
    assert result_badges(result(is_error=True, error_kind="denied")) == (Badge("denied", "warn"),)
    unknown = result(is_error=True, error_kind="unknown_tool")
    assert result_badges(unknown) == (Badge("error: unknown tool", "bad"),)
    assert result_badges(result(details={"timed_out": True})) == (Badge("timed out", "bad"),)
    assert result_badges(result(details={"exit_code": 0})) == ()
    assert fold("bash", {"command": "ls"}, None).badges == (Badge("no result", "warn"),)
    assert fold("bash", {"command": "ls"}, None).parts == (Pre("", "terminal", "ls"),)


def test_an_edit_shows_the_diff_that_was_recorded_else_what_was_asked() -> None:
    recorded = result("Edited", "edit", details={"diff": "@@ -1 +1 @@\n-a\n+b\n c"})
    (part,) = fold("edit", {"path": "x", "old_string": "a", "new_string": "b"}, recorded).parts
    assert isinstance(part, Diff)
    assert [line.style for line in part.lines] == ["at", "del", "add", ""]
    refused = result("no", "edit", is_error=True)
    arguments = {"path": "x", "edits": [{"oldText": "a", "newText": "b"}, {"oldText": "c\nd"}, 7]}
    asked, said = fold("edit", arguments, refused).parts
    assert isinstance(asked, Diff)
    assert [line.text for line in asked.lines] == ["@@ edit 1 @@", "-a", "+b", "@@ edit 2 @@", "-c", "-d"]
    assert said == Pre("no")


def test_a_written_file_is_all_added() -> None:
    made = fold("write", {"path": "x", "content": "a\nb\n"}, result("Wrote x", "write"))
    assert isinstance(made.parts[0], Diff)
    assert [line.text for line in made.parts[0].lines] == ["+a", "+b"]


def test_arguments_that_do_not_parse_are_shown_raw() -> None:
    made = fold("bash", None, result("malformed", is_error=True, error_kind="malformed_tool_call"))
    assert made.note == "arguments are no JSON object"
    assert made.parts == (Pre("{bad"), Pre("malformed"))


def test_a_script_shows_its_calls_on_a_scale_of_time() -> None:
    calls = [
        {"name": "read", "arguments": {"path": "a"}, "status": "ok", "startMs": 0, "durationMs": 50},
        {"name": "read", "status": "error", "error": "no file", "startMs": 50, "durationMs": 50},
        {"name": "bash", "status": "unfinished"},
        "no record",
    ]
    nested = {"nestedCalls": {"calls": calls, "complete": False}}
    script, inner, said = fold("codemode", {"script": "x"}, result("[]", "codemode", details=nested)).parts
    assert script == Pre("x")
    assert said == Pre("[]")
    assert isinstance(inner, InnerCalls)
    assert [(row.name, row.title, row.badge.mark, row.left, row.width) for row in inner.rows] == [
        ("read", "a", "good", 0, 50),
        ("read", "no file", "bad", 50, 50),
        ("bash", "", "warn", 0, 0),
    ]
    assert inner.note == "3 calls, and more that were not recorded"


@pytest.mark.parametrize("nested", [{}, {"calls": 7}, {"calls": [{"durationMs": True, "startMs": "x"}]}])
def test_odd_records_of_inner_calls_do_no_harm(nested: dict[str, Any]) -> None:
    (part, _) = result_parts(result("x", "codemode", details={"nestedCalls": nested}))
    assert isinstance(part, InnerCalls)
    assert all(row.width == 0 for row in part.rows)


def test_only_images_that_pages_show_are_inline() -> None:
    assert image(ImageBlock("iVBORw0KGgo=", "image/png")).source == "data:image/png;base64,iVBORw0KGgo="
    for data, kind in (
        ("AAAA", "image/svg+xml"),
        ('x" onerror="', "image/png"),
        ("A" * 9_000_000, "image/png"),
    ):
        assert image(ImageBlock(data, kind)).source == ""
        assert "not shown" in image(ImageBlock(data, kind)).note


def test_where_the_whole_output_lies_is_said_and_a_long_diff_is_cut() -> None:
    said = result_parts(result(details={"full_output_path": "/run/outputs/c"}))
    assert said[-1] == Facts((Fact("whole output", "/run/outputs/c"),))
    assert diff("+x\n" * 2_010).lines[-1].text == "… 10 more lines"
