"""Replies on disk: whole or not there, never a secret, and whatever is damaged is a miss."""

from __future__ import annotations

import json
import multiprocessing
import stat
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from pi_batch.errors import LogWriteError
from pi_batch.messages import AssistantMessage, TextBlock, ThinkingBlock, ToolCall, Usage
from pi_batch.providers.kept_replies import KeptReplies, is_worth_keeping, request_key
from pi_batch.redact import Masker

KEY = request_key({"model": "m"})
REPLY = AssistantMessage(
    (
        ThinkingBlock("hm", "signature"),
        TextBlock("I look.", "part-signature"),
        ToolCall("c1", "read", {"path": "a"}, signature="s"),
    ),
    "tool_use",
    provider="openai-chat",
    model="gpt-4.1",
    api="openai-completions",
    usage=Usage(10, 5, 3, 1, 2),
    cost_usd=0.5,
    raw_stop_reason="tool_calls",
    response_id="r1",
    timestamp_ms=5,
)


def test_a_reply_comes_back_as_it_was_with_every_signature(tmp_path: Path) -> None:
    assert KeptReplies(tmp_path / "new" / "cache").keep(KEY, REPLY, "m")
    assert KeptReplies(tmp_path / "new" / "cache").find(KEY) == REPLY


def test_another_request_has_another_reply(tmp_path: Path) -> None:
    kept = KeptReplies(tmp_path)
    kept.keep(KEY, REPLY, "m")
    assert kept.find(request_key({"model": "n"})) is None


def test_nobody_else_may_look_into_the_directory(tmp_path: Path) -> None:
    kept = KeptReplies(tmp_path / "cache")
    kept.keep(KEY, REPLY, "m")
    assert stat.S_IMODE((tmp_path / "cache" / KEY[:2]).stat().st_mode) == 0o700


def file_of(directory: Path) -> Path:
    return directory / KEY[:2] / f"{KEY}.json"


def changed(**fields: Any) -> Any:
    def change(path: Path) -> None:
        path.write_text(json.dumps({**json.loads(path.read_text()), **fields}))

    return change


@pytest.mark.parametrize(
    "damage",
    [
        lambda path: path.write_bytes(b""),
        lambda path: path.write_bytes(path.read_bytes()[:-20]),
        lambda path: path.write_bytes(path.read_bytes().replace(b"I look.", b"I lock.")),
        lambda path: path.write_bytes(b"\xff\x00\xfe"),
        lambda path: path.write_text("[" * 100_000),
        lambda path: (path.unlink(), path.mkdir()),
        changed(version=2),
        changed(version=None),
        changed(key="0" * 64),
        changed(reply=7),
        changed(sha256=""),
    ],
)
def test_what_is_damaged_is_a_miss_and_can_be_kept_anew(tmp_path: Path, damage: Any) -> None:
    kept = KeptReplies(tmp_path)
    kept.keep(KEY, REPLY, "m")
    damage(file_of(tmp_path))
    assert kept.find(KEY) is None
    if file_of(tmp_path).is_dir():
        file_of(tmp_path).rmdir()
    kept.keep(KEY, REPLY, "m")
    assert kept.find(KEY) == REPLY


@given(st.binary(max_size=200))
def test_no_bytes_are_taken_for_a_reply(tmp_path_factory: pytest.TempPathFactory, content: bytes) -> None:
    directory = tmp_path_factory.mktemp("cache")
    file_of(directory).parent.mkdir()
    file_of(directory).write_bytes(content)
    assert KeptReplies(directory).find(KEY) is None


def test_what_a_killed_writer_left_is_swept(tmp_path: Path) -> None:
    kept = KeptReplies(tmp_path)
    kept.keep(KEY, REPLY, "m")
    torn = tmp_path / KEY[:2] / f".{KEY}.json.abc"
    torn.write_bytes(b"half")
    kept.keep(KEY, REPLY, "m")
    assert not torn.exists()
    assert kept.find(KEY) == REPLY


def test_a_reply_with_a_secret_is_not_kept(tmp_path: Path) -> None:
    kept = KeptReplies(tmp_path, Masker(["geheim-geheim"]).mask_json)
    secret = replace(REPLY, content=(ToolCall("c1", "bash", {"command": "echo geheim-geheim"}),))
    assert not kept.keep(KEY, secret, "m")
    assert not [path for path in tmp_path.rglob("*") if path.is_file()]
    assert kept.keep(KEY, REPLY, "m")


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        ({}, True),
        ({"stop_reason": "length"}, False),
        ({"stop_reason": "content_filter"}, False),
        ({"stop_reason": "error"}, False),
        ({"content": (), "stop_reason": "stop"}, False),
        ({"content": (TextBlock(" \n"),), "stop_reason": "stop"}, False),
        ({"content": (TextBlock("done"),), "stop_reason": "stop"}, True),
    ],
)
def test_only_a_whole_reply_that_says_something_is_worth_it(fields: dict[str, Any], expected: bool) -> None:
    assert is_worth_keeping(replace(REPLY, **fields)) is expected


def test_a_place_that_cannot_be_written_is_one_line(tmp_path: Path) -> None:
    (tmp_path / "cache").write_text("a file")
    with pytest.raises(LogWriteError, match="cannot be written"):
        KeptReplies(tmp_path / "cache").keep(KEY, REPLY, "m")
    assert KeptReplies(tmp_path / "cache").find(KEY) is None


def _keep_many(directory: Path, text: str) -> None:
    kept = KeptReplies(directory)
    for _ in range(30):
        kept.keep(KEY, replace(REPLY, content=(TextBlock(text * 2_000),), stop_reason="stop"), "m")


@pytest.mark.slow
def test_several_processes_may_share_it_and_a_reader_sees_whole_replies_only(tmp_path: Path) -> None:
    context = multiprocessing.get_context("spawn")
    writers = [context.Process(target=_keep_many, args=(tmp_path, text)) for text in ("a", "b")]
    for writer in writers:
        writer.start()
    kept, seen = KeptReplies(tmp_path), set[str]()
    while any(writer.is_alive() for writer in writers):
        found = kept.find(KEY)
        if found is not None:
            assert len(found.text) == 2_000
            seen.add(found.text[0])
    for writer in writers:
        writer.join()
        assert writer.exitcode == 0
    assert seen <= {"a", "b"}
    assert kept.find(KEY) is not None


def test_the_key_depends_on_every_part_and_on_no_order_of_names() -> None:
    assert request_key({"a": 1, "b": 2}) == request_key({"b": 2, "a": 1})
    assert len({request_key({"a": value}) for value in (1, "1", None, [1], {"x": 1})}) == 5
    assert request_key({"a": "\ud800"}) != request_key({"a": "\ud801"})
