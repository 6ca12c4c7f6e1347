"""A recording is played as it was, and every divergence is said."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from pi_batch.errors import ReplayDiverged, UsageError
from pi_batch.messages import (
    AssistantMessage,
    Message,
    SystemMessage,
    TextBlock,
    ToolResultMessage,
    Usage,
    user_text,
)
from pi_batch.protocols import RecordedSummary
from pi_batch.providers.replay import Replay
from pi_batch.redact import Masker
from pi_batch.sinks.session_log import SessionWriter
from tests.clocks import FakeClock
from tests.providers.requests import ask, request
from tests.session.files import HEADER, NO_USAGE, ZERO_COST, call, chain, entry, lines, reply, result, user


def live_result(
    call_id: str, text: str = "ok", *, is_error: bool = False, **details: Any
) -> ToolResultMessage:
    return ToolResultMessage(call_id, "bash", (TextBlock(text),), is_error=is_error, details=details)


class Played:
    """A replay and what it said."""

    def __init__(self, path: Path, **options: Any) -> None:
        self.warnings: list[str] = []
        self.provider = Replay(path, on_warning=self.warnings.append, **options)
        self.history: list[Message] = [user_text("go")]

    async def turn(self, *added: Message) -> AssistantMessage:
        self.history += added
        _, message = await ask(self.provider, *self.history)
        self.history.append(message)
        return message


@pytest.fixture
def recording(tmp_path: Path) -> Path:
    return chain(
        tmp_path / "s.jsonl",
        user("1", None, "go"),
        reply("2", None, "look", call("c1", command="ls"), stop="toolUse"),
        result("3", None, "c1", "a.txt"),
        reply("4", None, "done"),
    )


async def test_replies_come_in_order_with_their_ids_stop_reasons_and_models(recording: Path) -> None:
    played = Played(recording)
    first = await played.turn()
    assert first.stop_reason == "tool_use"
    assert (first.provider, first.model) == ("openai", "gpt-4.1")
    assert [(item.id, item.name, item.arguments) for item in first.tool_calls] == [
        ("c1", "bash", {"command": "ls"})
    ]
    second = await played.turn(live_result("c1"))
    assert (second.text, second.stop_reason) == ("done", "stop")
    assert played.warnings == []
    assert played.provider.leftover_warning() is None
    assert played.provider.warnings() == ()


async def test_a_reply_streams_in_small_pieces(tmp_path: Path) -> None:
    thinking = {"type": "thinking", "thinking": "hm " * 200, "thinkingSignature": "s"}
    block = call("c1", "write", path="a", content="x" * 600)
    path = chain(tmp_path / "s.jsonl", user("1", None, "go"), reply("2", None, thinking, "t" * 300, block))
    deltas, message = await ask(Replay(path), user_text("go"))
    pieces = {
        kind: [delta.text for delta in deltas if delta.kind == kind]
        for kind in ("text", "thinking", "tool_call")
    }
    assert "".join(pieces["text"]) == message.text
    assert "".join(pieces["thinking"]) == "hm " * 200
    assert '"content": "xxx' in "".join(pieces["tool_call"])
    assert all(len(texts) > 1 for texts in pieces.values())


async def test_a_request_beyond_the_end_names_the_file_and_what_was_recorded(recording: Path) -> None:
    played = Played(recording)
    await played.turn()
    await played.turn(live_result("c1"))
    with pytest.raises(ReplayDiverged) as caught:
        await played.turn(user_text("the check failed:\nassert 1 == 2"))
    text = str(caught.value)
    assert text.startswith(f"{recording}: 2 replies recorded, number 3 was asked for")
    assert "the check failed" in text
    assert "\n" not in text
    assert caught.value.kind == "replay_diverged"


async def test_replies_that_were_not_asked_for_are_a_warning(recording: Path) -> None:
    played = Played(recording)
    assert played.provider.leftover_warning() == f"{recording}: 2 of 2 recorded replies were not asked for"
    await played.turn()
    assert played.provider.warnings() == (f"{recording}: 1 of 2 recorded replies were not asked for",)


async def test_only_the_active_branch_is_played(tmp_path: Path) -> None:
    path = tmp_path / "s.jsonl"
    path.write_bytes(
        lines(
            HEADER,
            user("1", None, "go"),
            reply("2", "1", "abandoned"),
            reply("3", "1", "kept"),
            reply("4", "3", "end"),
        )
    )
    played = Played(path)
    assert (await played.turn()).text == "kept"
    assert (await played.turn()).text == "end"


async def test_messages_that_ended_in_error_are_no_replies(tmp_path: Path) -> None:
    path = chain(
        tmp_path / "s.jsonl",
        user("1", None, "go"),
        reply("2", None, "half", stop="error", errorMessage="overloaded"),
        reply("3", None, "half", stop="aborted"),
        reply("4", None, "half", stop="deferred"),
        reply("5", None, "whole", stop="length"),
    )
    played = Played(path)
    message = await played.turn()
    assert (message.text, message.stop_reason) == ("whole", "length")
    assert played.provider.leftover_warning() is None


async def test_replies_before_a_compaction_are_played_too(tmp_path: Path) -> None:
    path = chain(
        tmp_path / "s.jsonl",
        user("1", None, "go"),
        reply("2", None, "one"),
        entry("3", None, "compaction", summary="s", firstKeptEntryId="2", tokensBefore=9),
        reply("4", None, "two"),
    )
    played = Played(path)
    assert [(await played.turn()).text, (await played.turn()).text] == ["one", "two"]


def with_compactions(path: Path) -> Path:
    """Three replies; what was before the second is summed up before the third."""
    spent = {**NO_USAGE, "input": 90, "output": 10, "totalTokens": 100, "cost": {**ZERO_COST, "total": 0.5}}
    summary = {"summary": "In /recorded/w.", "details": {"readFiles": ["a"]}, "usage": spent}
    return chain(
        path,
        user("1", None, "go"),
        reply("2", None, call("c1", command="ls"), stop="toolUse"),
        result("3", None, "c1", "a.txt"),
        reply("4", None, call("c2", command="ls"), stop="toolUse"),
        result("5", None, "c2", "a.txt"),
        entry("6", None, "compaction", tokensBefore=9, firstKeptEntryId="4", **summary),
        reply("7", None, "broken", stop="error"),
        reply("8", None, "done"),
        cwd="/recorded/w",
    )


async def test_a_recorded_compaction_comes_once_before_the_reply_that_followed_it(tmp_path: Path) -> None:
    played = Played(with_compactions(tmp_path / "s.jsonl"), workspace="/live/w")
    seen = []
    for _ in range(3):
        seen += [played.provider.recorded_summary(), played.provider.recorded_summary()]
        await played.turn()
    assert [found is None for found in seen] == [True, True, True, True, False, True]
    assert seen[4] == RecordedSummary("In /live/w.", 2, {"readFiles": ["a"]}, Usage(90, 10), 0.5)


async def test_a_resumed_history_goes_on_behind_its_last_reply(recording: Path) -> None:
    played = Played(recording)
    first = AssistantMessage((), "tool_use")
    assert (await played.turn(first, live_result("c1"))).text == "done"


async def test_a_reply_that_was_left_in_the_middle_is_played_again(recording: Path) -> None:
    provider = Replay(recording)
    stream = provider.stream(request(user_text("go")))
    async for _ in stream:
        break
    await stream.aclose()  # type: ignore[attr-defined]
    _, message = await ask(provider, user_text("go"))
    assert message.tool_calls[0].id == "c1"


# --- usage ---


async def test_recorded_usage_and_cost_are_charged(tmp_path: Path) -> None:
    usage = {**NO_USAGE, "input": 7, "output": 5, "cacheRead": 3, "cost": {**ZERO_COST, "total": 0.4}}
    path = chain(tmp_path / "s.jsonl", user("1", None, "go"), reply("2", None, "x", usage=usage))
    played = Played(path)
    message = await played.turn()
    assert message.usage == Usage(7, 5, 3)
    assert message.cost_usd == 0.4
    assert played.warnings == []


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"usage": None}, "no usage and no price recorded: charged as 0"),
        ({"usage": {"input": 3}}, "no price recorded: charged as 0"),
        ({"piBatch": {"usageUnknown": True, "costUnknown": True}}, "no usage and no price recorded"),
    ],
)
async def test_what_was_not_recorded_is_charged_as_nothing_and_said_once(
    tmp_path: Path, fields: dict[str, Any], words: str
) -> None:
    path = chain(
        tmp_path / "s.jsonl",
        user("1", None, "go"),
        reply("2", None, "a", **fields),
        reply("3", None, "b", **fields),
    )
    played = Played(path)
    message = await played.turn()
    await played.turn()
    assert message.usage is not None
    assert message.cost_usd == 0
    assert len(played.warnings) == 1
    assert words in played.warnings[0]


# --- divergence ---


@pytest.mark.parametrize(
    ("recorded", "live", "words"),
    [
        ({"details": {"exit_code": 0}}, live_result("c1", exit_code=2), "recorded exit code 0, now 2"),
        (
            {"isError": True, "content": [{"type": "text", "text": "x\n\nCommand exited with code 1"}]},
            live_result("c1", is_error=True, exit_code=5),
            "recorded exit code 1, now 5",
        ),
        (
            {"isError": True, "content": [{"type": "text", "text": "boom"}]},
            live_result("c1"),
            "recorded an error ('boom'), now success",
        ),
        (
            {},
            live_result("c1", "no such file\nx", is_error=True),
            "recorded success, now an error ('no such file\\nx')",
        ),
    ],
)
async def test_a_result_that_comes_out_otherwise_is_a_warning_with_both(
    tmp_path: Path, recorded: dict[str, Any], live: ToolResultMessage, words: str
) -> None:
    path = chain(
        tmp_path / "s.jsonl",
        user("1", None, "go"),
        reply("2", None, call("c1", command="ls"), stop="toolUse"),
        result("3", None, "c1", **recorded),
        reply("4", None, "done"),
    )
    played = Played(path)
    await played.turn()
    await played.turn(live)
    assert played.warnings == [f"{path}: bash call 'c1': {words}"]


@pytest.mark.parametrize(
    ("recorded", "live"),
    [
        (
            {"details": {"exit_code": 1}, "isError": True},
            live_result("c1", "other words", is_error=True, exit_code=1),
        ),
        ({"content": [{"type": "text", "text": "took 3 s"}]}, live_result("c1", "took 9 s", exit_code=0)),
    ],
)
async def test_a_result_that_only_reads_otherwise_is_none(
    tmp_path: Path, recorded: dict[str, Any], live: ToolResultMessage
) -> None:
    path = chain(
        tmp_path / "s.jsonl",
        user("1", None, "go"),
        reply("2", None, call("c1", command="ls"), stop="toolUse"),
        result("3", None, "c1", **recorded),
        reply("4", None, "done"),
    )
    played = Played(path)
    await played.turn()
    await played.turn(live)
    assert played.warnings == []


async def test_an_id_that_is_used_in_every_turn_is_compared_turn_by_turn(tmp_path: Path) -> None:
    path = chain(
        tmp_path / "s.jsonl",
        user("1", None, "go"),
        reply("2", None, call("c", command="a"), stop="toolUse"),
        result("3", None, "c", details={"exit_code": 0}),
        reply("4", None, call("c", command="b"), stop="toolUse"),
        result("5", None, "c", details={"exit_code": 3}),
        reply("6", None, "done"),
    )
    played = Played(path)
    await played.turn()
    await played.turn(live_result("c", exit_code=0))
    await played.turn(live_result("c", exit_code=4))
    assert played.warnings == [f"{path}: bash call 'c': recorded exit code 3, now 4"]


async def test_another_prompt_is_a_warning_with_both(recording: Path) -> None:
    played = Played(recording)
    played.history = [SystemMessage("s"), user_text("make tea\nnow")]
    await played.turn()
    assert played.warnings == [
        f"{recording}: the prompt is not the recorded one: recorded 'go', now 'make tea\\nnow'"
    ]


async def test_the_recording_s_own_faults_are_said(tmp_path: Path) -> None:
    path = tmp_path / "s.jsonl"
    path.write_bytes(
        lines(HEADER, user("1", None, "go")) + b"{broken\n" + lines(reply("2", "1", "x")) + b'{"torn'
    )
    played = Played(path)
    assert (await played.turn()).text == "x"
    assert [warning.split(": ", 1)[1] for warning in played.warnings] == [
        "broken line skipped (7 bytes)",
        "its last line is torn and was left out",
    ]


async def test_without_a_listener_warnings_are_kept_for_the_end(recording: Path) -> None:
    provider = Replay(recording)
    await ask(provider, user_text("other"))
    first, second = provider.warnings()
    assert "the prompt is not the recorded one" in first
    assert "not asked for" in second


# --- paths ---


async def test_recorded_paths_lead_to_the_live_workspace(tmp_path: Path) -> None:
    arguments: dict[str, Any] = {
        "path": "/clone/7/src/a.py",
        "command": "cd /clone/7 && ls '/home/me/proj/x' /clone/77 -I/clone/7/include /other/clone/7",
        "edits": [{"oldText": "/clone/7/a", "newText": "file:///home/me/proj/b."}],
        "count": 3,
        "/clone/7": "/clone/7",
    }
    path = chain(
        tmp_path / "s.jsonl",
        entry(
            "0", None, "custom", customType="pi-batch", data={"kind": "workspace", "workspace": "/clone/7"}
        ),
        user("1", None, "go to /home/me/proj"),
        reply("2", None, "see /clone/7/a", call("c1", **arguments), stop="toolUse"),
        cwd="/home/me/proj",
    )
    played = Played(path)
    played.provider.bind("/live/ws")
    played.history = [user_text("go to /live/ws")]
    message = await played.turn()
    assert message.tool_calls[0].arguments == {
        "path": "/live/ws/src/a.py",
        "command": "cd /live/ws && ls '/live/ws/x' /clone/77 -I/live/ws/include /other/clone/7",
        "edits": [{"oldText": "/live/ws/a", "newText": "file:///live/ws/b."}],
        "count": 3,
        "/clone/7": "/live/ws",
    }
    assert message.text == "see /clone/7/a"
    assert played.warnings == []


@pytest.mark.parametrize("root", ["/", "", "relative"])
async def test_a_root_that_is_no_directory_of_its_own_rewrites_nothing(tmp_path: Path, root: str) -> None:
    path = chain(
        tmp_path / "s.jsonl", user("1", None, "go"), reply("2", None, call("c", path="/etc/x")), cwd=root
    )
    played = Played(path, workspace="/live")
    assert (await played.turn()).tool_calls[0].arguments == {"path": "/etc/x"}


async def test_arguments_that_never_parsed_stay_as_they_were(tmp_path: Path) -> None:
    block = {
        "type": "toolCall",
        "id": "c",
        "name": "bash",
        "arguments": {},
        "rawArguments": "{/w",
        "malformed": True,
    }
    path = chain(tmp_path / "s.jsonl", user("1", None, "go"), reply("2", None, block))
    message = await Played(path, workspace="/live").turn()
    assert message.tool_calls[0].arguments is None
    assert message.tool_calls[0].raw_arguments == "{/w"


async def test_what_our_own_log_wrote_can_be_played(tmp_path: Path) -> None:
    path = tmp_path / "session.jsonl"
    log = SessionWriter(path, cwd="/home/me", clock=FakeClock(), mask=Masker([]))
    said = AssistantMessage((TextBlock("hi"),), "content_filter", provider="openai-chat", model="m", api="a")
    log.append_message(user_text("go"))
    log.append_message(said)
    log.close()
    message = await Played(path).turn()
    assert message.stop_reason == "content_filter"
    assert message.provider == "openai-chat"


# --- finding the recording ---


@pytest.mark.parametrize("place", ["{}.jsonl", "{}/session.jsonl", "tasks/{}/session.jsonl"])
async def test_a_directory_is_looked_up_by_result_key(tmp_path: Path, place: str) -> None:
    chain(tmp_path / place.format("fix-it"), user("1", None, "go"), reply("2", None, "found"))
    chain(tmp_path / place.format("other"), user("1", None, "go"), reply("2", None, "wrong"))
    assert (await Played(tmp_path, key="fix-it").turn()).text == "found"


def test_a_directory_without_the_key_says_where_it_looked(tmp_path: Path) -> None:
    with pytest.raises(UsageError) as caught:
        Replay(tmp_path, key="fix-it")
    assert f"no recorded session for 'fix-it'; looked for {tmp_path}/fix-it.jsonl" in str(caught.value)


@pytest.mark.parametrize("key", ["../secret", "/etc/secret", "", "a/../../secret"])
def test_a_key_never_leads_out_of_the_directory(tmp_path: Path, key: str) -> None:
    chain(tmp_path / "secret.jsonl", user("1", None, "go"), reply("2", None, "x"))
    (tmp_path / "in").mkdir()
    with pytest.raises(UsageError, match="no recorded session"):
        Replay(tmp_path / "in", key=key)


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (None, "cannot be read: No such file"),
        (b"hello\n", "holds no session"),
        (lines(HEADER), "holds no reply of a model"),
        (lines(HEADER, user("1", None, "go")), "holds no reply of a model"),
    ],
)
def test_what_cannot_be_played_is_said_in_one_line_before_the_run(
    tmp_path: Path, content: bytes | None, words: str
) -> None:
    path = tmp_path / "s.jsonl"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(UsageError) as caught:
        Replay(path)
    assert words in str(caught.value)
    assert str(path) in str(caught.value)
    assert "\n" not in str(caught.value)
