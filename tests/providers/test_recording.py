"""What a replay takes from a session file: replies, results, exit codes, paths."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pi_batch.errors import UsageError
from pi_batch.messages import AssistantMessage, TextBlock, ToolCall, ToolResultMessage
from pi_batch.providers.recording import (
    exit_code,
    find_recording,
    path_rewriter,
    read_recording,
    with_paths,
)
from tests.cases.turns import say, write_session
from tests.session.files import call, chain, entry, reply, result, user


def outcome(
    text: str = "", *, tool: str = "bash", is_error: bool = True, **details: Any
) -> ToolResultMessage:
    return ToolResultMessage("c", tool, (TextBlock(text),), is_error=is_error, details=details)


@pytest.mark.parametrize(
    ("recorded", "code"),
    [
        (outcome(exit_code=3), 3),
        (outcome(is_error=False, exit_code=0), 0),
        (outcome("x\n\nCommand exited with code 7"), 7),
        (outcome("Exit code: 2"), 2),
        (outcome("exited with code 1, then exited with code 4"), 4),
        (outcome("exited with code -9"), -9),
        (outcome("exited with code 1", is_error=False), None),
        (outcome("fd exited with code 1", tool="find"), None),
        (outcome("exited with code 1" + "x" * 600), None),
        (outcome("boom"), None),
        (outcome(exit_code=True), None),
        (outcome(exit_code="1"), None),
    ],
)
def test_an_exit_code_is_ours_from_the_details_or_pi_s_from_the_text(
    recorded: ToolResultMessage, code: int | None
) -> None:
    assert exit_code(recorded) == code


def test_results_belong_to_the_reply_before_them(tmp_path: Path) -> None:
    path = chain(
        tmp_path / "s.jsonl",
        result("0", None, "stray"),
        user("1", None, "go"),
        reply("2", None, call("a"), call("b"), stop="toolUse"),
        result("3", None, "a", "first"),
        entry("4", None, "custom", customType="x", data={}),
        result("5", None, "b", "second"),
        reply("6", None, "half", stop="error"),
        reply("7", None, call("a"), stop="toolUse"),
        result("8", None, "a", "third"),
    )
    recording = read_recording(path)
    assert len(recording.replies) == 2
    assert [{key: value.text for key, value in item.items()} for item in recording.results] == [
        {"a": "first", "b": "second"},
        {"a": "third"},
    ]
    assert recording.prompt == "go"


def test_roots_are_the_header_s_directory_and_every_workspace_of_ours(tmp_path: Path) -> None:
    path = chain(
        tmp_path / "s.jsonl",
        entry("1", None, "custom", customType="pi-batch", data={"workspace": "/tmp/clone-1/ws"}),
        entry("2", None, "custom", customType="pi-batch", data={"kind": "request_start"}),
        entry("3", None, "custom", customType="pi-batch", data={"workspace": 7}),
        entry("4", None, "custom", customType="other", data={"workspace": "/not/ours"}),
        entry("5", None, "custom", customType="pi-batch", data=[1]),
        entry("6", None, "custom", customType="pi-batch", data={"workspace": "/tmp/clone-22/ws"}),
        reply("7", None, "x"),
        cwd="/home/me",
    )
    assert read_recording(path).roots == ("/tmp/clone-22/ws", "/tmp/clone-1/ws", "/home/me")
    assert read_recording(path).prompt is None


def test_a_file_is_its_own_recording_whatever_the_key_is(tmp_path: Path) -> None:
    assert find_recording(tmp_path / "s.jsonl", "other") == tmp_path / "s.jsonl"


def test_a_key_with_unsafe_characters_is_found_under_its_safe_name(tmp_path: Path) -> None:
    place = chain(tmp_path / "tasks" / "fix_gpt_4_1" / "session.jsonl", reply("1", None, "x"))
    assert find_recording(tmp_path, "fix gpt/4:1") == place
    with pytest.raises(UsageError, match="no recorded session for 'fix'"):
        find_recording(tmp_path, "fix")


REWRITE = path_rewriter(("/tmp/ws", "/home/me/p.x"), "/live/dir/")


@pytest.mark.parametrize(
    ("recorded", "live"),
    [
        ("/tmp/ws", "/live/dir"),
        ("/tmp/ws/", "/live/dir/"),
        ("/tmp/ws/a b/c", "/live/dir/a b/c"),
        ("cat /tmp/ws/a>/tmp/ws/b;ls '/tmp/ws'", "cat /live/dir/a>/live/dir/b;ls '/live/dir'"),
        ('PYTHONPATH=/tmp/ws:/tmp/ws/lib x="/tmp/ws"', 'PYTHONPATH=/live/dir:/live/dir/lib x="/live/dir"'),
        ("see /tmp/ws.", "see /live/dir."),
        ("see /tmp/ws. Then", "see /live/dir. Then"),
        ("(/tmp/ws), [/tmp/ws] {/tmp/ws}", "(/live/dir), [/live/dir] {/live/dir}"),
        ("gcc -I/tmp/ws/include -L/tmp/ws/lib", "gcc -I/live/dir/include -L/live/dir/lib"),
        ("file:///tmp/ws/a.html", "file:///live/dir/a.html"),
        ("/home/me/p.x/y", "/live/dir/y"),
        ("/tmp/ws\n/tmp/ws\n", "/live/dir\n/live/dir\n"),
        ("/home/me/pax/y", "/home/me/pax/y"),
        ("/tmp/ws2/a /tmp/ws-old /tmp/ws.bak", "/tmp/ws2/a /tmp/ws-old /tmp/ws.bak"),
        ("/srv/tmp/ws/a ./tmp/ws ~/tmp/ws", "/srv/tmp/ws/a ./tmp/ws ~/tmp/ws"),
        ("https://host/tmp/ws/a", "https://host/tmp/ws/a"),
        ("", ""),
    ],
)
def test_whole_paths_are_rewritten_and_nothing_else(recorded: str, live: str) -> None:
    assert REWRITE(recorded) == live


@given(st.text(max_size=40))
def test_text_without_a_recorded_path_is_unchanged(text: str) -> None:
    assert REWRITE(text) == text or "/tmp/ws" in text or "/home/me/p.x" in text


def test_a_longer_root_wins_over_the_one_it_lies_in() -> None:
    rewrite = path_rewriter(("/w", "/w/clone"), "/live")
    assert rewrite("/w/clone/a /w/b") == "/live/a /live/b"


def test_the_same_workspace_needs_no_rewriting() -> None:
    assert path_rewriter(("/w",), "/w/")("/w/a") == "/w/a"


def test_a_workspace_with_backslashes_is_taken_as_it_is() -> None:
    assert path_rewriter(("/w",), r"/l\1\g<0>")("/w/a") == r"/l\1\g<0>/a"


def test_only_arguments_are_rewritten() -> None:
    message = AssistantMessage(
        (
            TextBlock("/tmp/ws/a"),
            ToolCall("/tmp/ws", "read", {"path": ["/tmp/ws/a", {"x": "/tmp/ws/b"}, 3, None]}),
        ),
        "tool_use",
    )
    changed = with_paths(message, REWRITE)
    assert changed.text == "/tmp/ws/a"
    (wanted,) = changed.tool_calls
    assert wanted.id == "/tmp/ws"
    assert wanted.arguments == {"path": ["/live/dir/a", {"x": "/live/dir/b"}, 3, None]}


def test_a_recording_is_read_once_while_it_stays_and_anew_when_it_changes(tmp_path: Path) -> None:
    path = write_session(tmp_path / "s.jsonl", [say("one")])
    first = read_recording(path)
    assert read_recording(path) is first
    write_session(path, [say("one"), say("two")])
    assert len(read_recording(path).replies) == 2
