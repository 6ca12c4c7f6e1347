"""Session files of ours, of pi's and broken ones, read."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pi_batch.errors import UsageError
from pi_batch.session import Entry, active_branch, messages, parse_session, read_session
from tests.session.files import HEADER, entry, lines, user

GOOD = lines(HEADER, entry("a"), entry("b", "a"))


def ids(content: bytes) -> list[str]:
    return [item.id for item in parse_session(content).entries]


def test_a_session_is_its_header_and_its_entries_in_order() -> None:
    session = parse_session(GOOD, "s.jsonl")
    assert session.header.id == "uuid-1"
    assert session.header.cwd == "/w"
    assert session.header.version == 3
    assert session.header.fields == {}
    assert [item.id for item in session.entries] == ["a", "b"]
    assert session.torn is None
    assert session.warnings == ()
    assert session.whole_bytes == len(GOOD)
    assert session.ends_with_newline


def test_everything_else_on_a_line_is_kept() -> None:
    odd = {"type": "teleport", "id": "x", "parentId": None, "timestamp": "t", "where": {"deep": [1]}}
    session = parse_session(lines({**HEADER, "parentSession": "/p"}, odd))
    assert session.header.fields == {"parentSession": "/p"}
    assert session.entries == (Entry("x", None, "teleport", "t", {"where": {"deep": [1]}}),)


@pytest.mark.parametrize("cut", range(1, 40))
def test_a_torn_last_line_is_set_aside_wherever_it_was_cut(cut: int) -> None:
    torn = lines(entry("c", "b"))[:-1][:cut]
    session = parse_session(GOOD + torn)
    assert [item.id for item in session.entries] == ["a", "b"]
    assert session.torn == torn
    assert session.whole_bytes == len(GOOD)


def test_a_whole_last_line_without_its_newline_is_an_entry() -> None:
    session = parse_session(GOOD[:-1])
    assert [item.id for item in session.entries] == ["a", "b"]
    assert session.torn is None
    assert not session.ends_with_newline


def test_a_tail_of_zero_bytes_after_a_power_cut_is_torn() -> None:
    assert parse_session(GOOD + b"\0" * 30).torn == b"\0" * 30


def test_a_broken_line_in_the_middle_is_skipped_and_said() -> None:
    session = parse_session(
        lines(HEADER, entry("a")) + b'{"type":"mess\n' + lines(entry("b", "a")), "s.jsonl"
    )
    assert [item.id for item in session.entries] == ["a", "b"]
    assert session.warnings == ("s.jsonl:3: broken line skipped (13 bytes)",)


def compact(value: dict[str, Any]) -> bytes:
    return json.dumps(value, separators=(",", ":")).encode()


@pytest.mark.parametrize("cut", [1, 12, 60, 150])
def test_an_entry_that_was_glued_to_a_stump_is_kept(cut: int) -> None:
    stump = compact(user("c", "b", "lost words"))[:cut]
    glued = stump + compact(user("d", "b", "kept words")) + b"\n"
    session = parse_session(GOOD + glued + lines(entry("e", "d")), "s.jsonl")
    assert [item.id for item in active_branch(session)] == ["a", "b", "d", "e"]
    assert session.warnings == (
        f"s.jsonl:4: stump skipped, the entry behind it kept ({len(glued) - 1} bytes)",
    )


def test_a_block_inside_a_torn_line_is_no_entry() -> None:
    torn = compact(user("c", "b", "words"))
    session = parse_session(GOOD + torn[:-3] + b"\n" + torn[: torn.find(b'{"type":"text"') + 35] + b"\n")
    assert [item.id for item in session.entries] == ["a", "b"]
    assert len(session.warnings) == 2


def test_warnings_are_few_however_broken_the_file_is() -> None:
    assert len(parse_session(GOOD + b"{\n" * 1000).warnings) == 20


def test_a_byte_order_mark_blank_lines_and_crlf_do_no_harm() -> None:
    content = b"\xef\xbb\xbf\n" + GOOD.replace(b"\n", b"\r\n") + b"\n  \n"
    assert ids(content) == ["a", "b"]


def test_only_a_newline_ends_a_line() -> None:
    session = parse_session(lines(HEADER, user("a", None, "x\u2028y\x85z\x0c")))
    (message,) = messages(session.entries)
    assert message.content[0].text == "x\u2028y\x85z\x0c"  # type: ignore[union-attr]


def test_an_entry_without_an_id_is_skipped_and_said() -> None:
    session = parse_session(lines(HEADER, {"type": "message"}, entry("b")))
    assert [item.id for item in session.entries] == ["b"]
    assert "without an id" in session.warnings[0]


def test_version_1_is_a_line_of_entries_without_ids() -> None:
    old = {"type": "message", "timestamp": "t", "message": {"role": "user", "content": "go"}}
    session = parse_session(lines({"type": "session", "id": "u", "timestamp": "t", "cwd": "/w"}, old, old))
    assert [(item.id, item.parent_id) for item in session.entries] == [
        ("00000001", None),
        ("00000002", "00000001"),
    ]
    assert len(messages(active_branch(session))) == 2
    assert session.header.version == 1


def test_version_2_is_read_as_version_3() -> None:
    old = entry("a", None, "message", message={"role": "hookMessage", "customType": "x", "content": "hi"})
    session = parse_session(lines({**HEADER, "version": 2}, old))
    assert session.entries[0].fields["message"] == {"role": "custom", "customType": "x", "content": "hi"}


def test_a_compaction_of_version_1_names_what_it_kept_by_its_place() -> None:
    header = {"type": "session", "id": "old", "timestamp": "t", "cwd": "/w"}
    compaction = {"type": "compaction", "summary": "s", "firstKeptEntryIndex": 2, "tokensBefore": 9}
    session = parse_session(lines(header, {"type": "message"}, {"type": "message"}, compaction))
    assert session.entries[2].fields["firstKeptEntryId"] == session.entries[1].id
    assert "firstKeptEntryIndex" not in session.entries[2].fields


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"", "no whole line"),
        (b"\n\n", "no whole line"),
        (b'{"type":"sess', "no whole line"),
        (b"hello\n", "no whole line"),
        (lines(entry("a")), "its first line is no header"),
        (lines({"type": "session", "version": 3}), "its first line is no header"),
        (lines({"type": "session", "version": 3, "id": 7}), "its first line is no header"),
        (lines({**HEADER, "version": 4}), "session version 4, need 1 to 3"),
        (lines({**HEADER, "version": "3"}), "session version '3'"),
        (lines({"type": "log", "version": 1}), "its first line is no header"),
    ],
)
def test_what_is_no_session_is_said_in_one_line(tmp_path: Path, content: bytes, words: str) -> None:
    path = tmp_path / "s.jsonl"
    path.write_bytes(content)
    with pytest.raises(UsageError) as caught:
        read_session(path)
    assert str(caught.value).startswith(str(path))
    assert words in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_missing_file_a_directory_and_a_pipe_are_refused_at_once(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    for name, words in (
        ("none", "No such file"),
        (".", "not a regular file"),
        ("pipe", "not a regular file"),
    ):
        with pytest.raises(UsageError, match=words):
            read_session(tmp_path / name)


def test_a_file_beyond_the_cap_is_refused_unread(tmp_path: Path) -> None:
    path = tmp_path / "s.jsonl"
    with path.open("wb") as file:
        file.truncate(600 * 1024 * 1024)
    with pytest.raises(UsageError, match="need <= 536870912"):
        read_session(path)


@given(st.lists(st.sampled_from([json.dumps(entry("a")), "{", "[]", '{"id":"q"}', "\0", "null", '{"id":1}'])))
def test_nothing_below_a_header_can_break_the_reader(rest: list[str]) -> None:
    session = parse_session(lines(HEADER) + "\n".join(rest).encode())
    active_branch(session)
    messages(session.entries)


@given(st.binary(max_size=200))
def test_any_bytes_are_a_session_or_a_usage_error(content: bytes) -> None:
    try:
        parse_session(content)
    except UsageError:
        return
