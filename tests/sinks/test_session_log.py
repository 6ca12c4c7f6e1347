"""Every message on disk, whole, in pi's format; one writer at a time; failures said aloud."""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
import time
from pathlib import Path

import pytest

from pi_batch.errors import LogWriteError
from pi_batch.messages import (
    AssistantMessage,
    SystemMessage,
    TextBlock,
    ToolCall,
    ToolResultMessage,
    Usage,
    user_text,
)
from pi_batch.redact import Masker
from pi_batch.session import active_branch, messages, read_session
from pi_batch.sinks.session_log import SessionWriter
from tests.clocks import FakeClock
from tests.session.files import HEADER, entry, lines

ROOT = Path(__file__).parents[2]
REPLY = AssistantMessage(
    (TextBlock("ok"), ToolCall("c1", "bash", {"command": "ls"})),
    "tool_use",
    provider="openai",
    model="gpt",
    api="openai-completions",
    usage=Usage(1, 2),
    cost_usd=0.1,
    timestamp_ms=1,
)


def writer(path: Path, **options: object) -> SessionWriter:
    return SessionWriter(path, cwd="/w", clock=FakeClock(0.0), rng=random.Random(1), **options)  # type: ignore[arg-type]


def objects(path: Path) -> list[dict[str, object]]:
    content = path.read_bytes()
    assert content.endswith(b"\n")
    return [json.loads(line) for line in content.split(b"\n")[:-1]]


def test_a_new_file_begins_with_its_header_and_each_entry_hangs_on_the_one_before(tmp_path: Path) -> None:
    path = tmp_path / "tasks" / "fix" / "session.jsonl"
    log = writer(path)
    assert path.read_bytes() == b""
    ids = [
        log.append_message(SystemMessage("be good")),
        log.append_model_change("openai-chat", "gpt"),
        log.append_message(user_text("go", 5)),
        log.append_custom("pi-batch", {"kind": "workspace", "workspace": "/clone"}),
        log.append_message(REPLY),
    ]
    log.close()
    header, *entries = objects(path)
    assert header == {
        "type": "session",
        "version": 3,
        "id": log.session_id,
        "timestamp": "2026-01-01T00:00:00.000Z",
        "cwd": "/w",
    }
    assert [item["id"] for item in entries] == ids
    assert [item["parentId"] for item in entries] == [None, *ids[:-1]]
    assert [item["type"] for item in entries] == ["message", "model_change", "message", "custom", "message"]
    assert all(len(entry_id) == 8 and int(entry_id, 16) >= 0 for entry_id in ids)
    assert len(set(ids)) == len(ids)
    assert messages(active_branch(read_session(path)))[-1] == REPLY


def test_each_entry_is_on_disk_before_the_call_returns(tmp_path: Path) -> None:
    path = tmp_path / "s.jsonl"
    log = writer(path)
    for count in range(1, 4):
        log.append_custom("pi-batch", {"n": count})
        assert len(objects(path)) == count + 1
    log.close()


def test_a_reply_is_synced_at_once_and_the_results_of_its_calls_together(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "s.jsonl"
    synced: list[int] = []
    monkeypatch.setattr(os, "fsync", lambda handle: synced.append(os.fstat(handle).st_size))
    log = writer(path)
    log.append_message(SystemMessage("be good"))
    log.append_message(user_text("go"))
    for turn in range(1, 3):
        log.append_custom("pi-batch", {"kind": "request_start"})
        assert synced.pop() == path.stat().st_size, "before a request everything is on the disk"
        log.append_message(REPLY)
        assert synced.pop() == path.stat().st_size
        for number in range(20):
            log.append_message(ToolResultMessage(f"c{turn}{number}", "bash", (TextBlock("x"),)))
        assert synced == []
    log.append_custom("pi-batch", {"n": 1})
    log.append_custom("pi-batch", {"n": 2})
    assert len(synced) == 1, "what no message stands before can wait"
    log.close()
    assert synced[-1] == path.stat().st_size


def test_a_message_without_a_time_gets_the_clock_s(tmp_path: Path) -> None:
    path = tmp_path / "s.jsonl"
    log = writer(path)
    log.append_message(user_text("go"))
    log.close()
    assert objects(path)[1]["message"]["timestamp"] == 1_767_225_600_000  # type: ignore[index]


def test_ids_stay_unique_when_the_generator_repeats_itself(tmp_path: Path) -> None:
    class Stuck(random.Random):
        def getrandbits(self, k: int, /) -> int:
            self.turn = getattr(self, "turn", 0) + 1
            return self.turn // 3

    log = SessionWriter(tmp_path / "s.jsonl", cwd="/w", clock=FakeClock(), rng=Stuck())
    ids = [log.append_custom("x", {}) for _ in range(20)]
    assert len(set(ids)) == 20
    log.close()


def test_an_existing_file_is_continued_from_its_last_entry(tmp_path: Path) -> None:
    path = tmp_path / "s.jsonl"
    first = writer(path)
    last = first.append_message(user_text("go", 1))
    first.close()
    again = writer(path)
    assert again.session_id == first.session_id
    assert [item.id for item in again.entries] == [last]
    new = again.append_message(REPLY)
    again.close()
    session = read_session(path)
    assert session.entries[-1].id == new != last
    assert session.entries[-1].parent_id == last
    assert len(objects(path)) == 3
    assert again.warnings == ()


@pytest.mark.parametrize("cut", [1, 15, 60, 200])
def test_a_torn_last_line_is_set_aside_before_the_first_append(tmp_path: Path, cut: int) -> None:
    path = tmp_path / "s.jsonl"
    first = writer(path)
    kept = first.append_message(user_text("mark-a", 1))
    first.append_message(REPLY)
    first.close()
    whole = path.read_bytes()
    path.write_bytes(whole[:-cut])
    again = writer(path)
    if cut == 1:
        assert again.warnings == ()
    else:
        assert "torn last line" in again.warnings[0]
        stump = whole[whole.rfind(b"\n", 0, -1) + 1 : -cut]
        assert (tmp_path / "s.jsonl.torn").read_bytes() == stump + b"\n"
    again.append_message(user_text("mark-b", 1))
    again.close()
    third = writer(path)
    third.append_message(user_text("mark-c", 1))
    third.close()
    objects(path)
    text = str(messages(active_branch(read_session(path))))
    assert "mark-a" in text
    assert "mark-b" in text
    assert "mark-c" in text
    assert third.warnings == ()
    assert read_session(path).entries[0].id == kept


def test_a_file_that_died_in_its_header_is_begun_again(tmp_path: Path) -> None:
    path = tmp_path / "s.jsonl"
    path.write_bytes(b'{"type":"session","versi')
    log = writer(path)
    log.append_message(user_text("go", 1))
    log.close()
    assert [item["type"] for item in objects(path)] == ["session", "message"]
    assert "torn" in log.warnings[0]


def test_a_broken_line_inside_is_said_and_kept(tmp_path: Path) -> None:
    path = tmp_path / "s.jsonl"
    path.write_bytes(lines(HEADER, entry("a")) + b"{broken\n" + lines(entry("b", "a")))
    log = writer(path)
    log.append_custom("x", {})
    log.close()
    assert "broken line skipped" in log.warnings[0]
    assert read_session(path).entries[-1].parent_id == "b"


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"dear diary\n", "holds no session"),
        (b"dear diary", "holds no session"),
        (lines({"type": "log", "version": 1}), "not a session"),
        (lines({**HEADER, "version": 2}, entry("a")), "session version 2, need 3"),
    ],
)
def test_a_file_that_is_no_session_of_this_version_is_left_as_it_is(
    tmp_path: Path, content: bytes, words: str
) -> None:
    path = tmp_path / "s.jsonl"
    path.write_bytes(content)
    with pytest.raises(LogWriteError, match=words):
        writer(path)
    assert path.read_bytes() == content
    assert sorted(item.name for item in tmp_path.iterdir()) == ["s.jsonl"]


HOLD = """
import sys, time
from pathlib import Path
from pi_batch.messages import user_text
from pi_batch.sinks.session_log import SessionWriter
from tests.clocks import FakeClock
log = SessionWriter(Path(sys.argv[1]), cwd="/w", clock=FakeClock())
log.append_message(user_text("mark-a"))
print("held", flush=True)
time.sleep(60)
"""


def test_a_second_opener_is_refused_at_once_and_told_who_holds_it(tmp_path: Path) -> None:
    path = tmp_path / "s.jsonl"
    command = [sys.executable, "-c", HOLD, str(path)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=ROOT) as holder:
        assert holder.stdout is not None
        assert holder.stdout.readline() == "held\n"
        started = time.monotonic()
        with pytest.raises(LogWriteError) as caught:
            writer(path)
        assert time.monotonic() - started < 15
        assert f"in use, locked by process {holder.pid}" in str(caught.value)
        assert len(objects(path)) == 2
        holder.kill()
    after = writer(path)
    after.append_message(user_text("mark-b"))
    after.close()
    assert len(objects(path)) == 3
    assert not (tmp_path / "s.jsonl.lock").exists()


def test_the_same_process_cannot_open_it_twice_either(tmp_path: Path) -> None:
    log = writer(tmp_path / "s.jsonl")
    with pytest.raises(LogWriteError, match=f"locked by process {os.getpid()}"):
        writer(tmp_path / "s.jsonl")
    log.close()
    writer(tmp_path / "s.jsonl").close()


def test_a_full_disk_is_named_with_the_file() -> None:
    log = writer(Path("/dev/full"))
    with pytest.raises(LogWriteError) as caught:
        log.append_message(user_text("go"))
    assert str(caught.value) == "/dev/full: cannot be written: No space left on device"
    log.close()
    assert not Path("/dev/full.lock").exists()


def test_a_line_that_did_not_fit_is_cut_off_again_and_the_next_one_is_whole(tmp_path: Path) -> None:
    path = tmp_path / "s.jsonl"
    code = """
import resource, signal, sys
from pathlib import Path
from pi_batch.errors import LogWriteError
from pi_batch.messages import user_text
from pi_batch.sinks.session_log import SessionWriter
from tests.clocks import FakeClock
log = SessionWriter(Path(sys.argv[1]), cwd="/w", clock=FakeClock())
log.append_message(user_text("first"))
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (1000, resource.RLIM_INFINITY))
try:
    log.append_message(user_text("x" * 5000))
except LogWriteError as error:
    print(error)
log.append_message(user_text("small"))
log.close()
"""
    done = subprocess.run(
        [sys.executable, "-c", code, str(path)], capture_output=True, text=True, check=True, cwd=ROOT
    )
    assert done.stdout == f"{path}: cannot be written: File too large\n"
    assert [item["type"] for item in objects(path)] == ["session", "message", "message"]
    session = read_session(path)
    assert session.torn is None
    assert session.entries[1].parent_id == session.entries[0].id


def test_a_place_that_cannot_be_written_is_an_error_on_opening(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    with pytest.raises(LogWriteError, match=r"file/s\.jsonl: cannot be written: "):
        writer(tmp_path / "file" / "s.jsonl")
    with pytest.raises(LogWriteError, match="Is a directory"):
        writer(tmp_path)


def test_nothing_is_taken_after_close(tmp_path: Path) -> None:
    log = writer(tmp_path / "s.jsonl")
    log.close()
    log.close()
    with pytest.raises(LogWriteError, match="closed"):
        log.append_custom("x", {})


def test_secrets_do_not_reach_the_file(tmp_path: Path) -> None:
    path = tmp_path / "s.jsonl"
    log = writer(path, mask=Masker(["hunter2-hunter2"]))
    log.append_message(user_text("say hunter2-hunter2", 1))
    log.append_custom("hunter2-hunter2", {"hunter2-hunter2": ["x hunter2-hunter2"]})
    log.append_message(ToolResultMessage("c", "bash", (TextBlock("aHVudGVyMi1odW50ZXIy"),)))
    log.close()
    content = path.read_text()
    assert "hunter2" not in content
    assert "aHVudGVyMi1odW50ZXIy" not in content
    assert content.count("***") == 5
    assert len(objects(path)) == 4


def test_nul_surrogates_and_nan_do_not_reach_the_file(tmp_path: Path) -> None:
    path = tmp_path / "s.jsonl"
    log = writer(path)
    log.append_message(user_text("left\0right \ud800", 1))
    call = ToolCall("c", "bash", {"n": float("nan"), "\udfff": "\0"})
    log.append_message(AssistantMessage((call,), "tool_use"))
    log.close()
    content = path.read_bytes()
    assert b"\\u0000" not in content
    assert b"\0" not in content
    content.decode("utf-8")
    assert "NaN" not in content.decode()
    assert messages(active_branch(read_session(path)))[0] == user_text("left\ufffdright \ufffd", 1)


def test_entries_of_every_type_hang_on_one_another(tmp_path: Path) -> None:
    path = tmp_path / "s.jsonl"
    log = writer(path)
    first = log.append_session_info("fix the tests")
    log.append_thinking_level_change("high")
    log.append_label(first, "start")
    left = log.append_message(user_text("go", 1))
    log.append_compaction("all of it", None, 1000, {"readFiles": ["a"]}, system=SystemMessage("be good"))
    log.branch_from(first)
    log.append_branch_summary(left, "went nowhere", usage=Usage(1, 1))
    log.close()
    _, *entries = objects(path)
    kinds = ["session_info", "thinking_level_change", "label", "message", "compaction", "branch_summary"]
    assert [item["type"] for item in entries] == kinds
    by_kind = dict(zip(kinds, entries, strict=True))
    assert by_kind["compaction"]["firstKeptEntryId"] == by_kind["compaction"]["id"]
    assert by_kind["compaction"]["details"] == {"readFiles": ["a"]}
    assert (by_kind["branch_summary"]["parentId"], by_kind["branch_summary"]["fromId"]) == (first, left)
    assert [item.type for item in active_branch(read_session(path))] == ["session_info", "branch_summary"]


def test_a_branch_cannot_begin_at_an_entry_that_is_not_there(tmp_path: Path) -> None:
    log = writer(tmp_path / "s.jsonl")
    first = log.append_message(user_text("go", 1))
    with pytest.raises(ValueError, match="no entry 'nowhere'"):
        log.branch_from("nowhere")
    log.branch_from(None)
    log.append_message(user_text("again", 1))
    log.close()
    assert [item["parentId"] for item in objects(tmp_path / "s.jsonl")[1:]] == [None, None]
    assert first in read_session(tmp_path / "s.jsonl").entries[0].id


def test_a_fork_holds_the_entries_of_its_parent_as_they_were(tmp_path: Path) -> None:
    old = writer(tmp_path / "old.jsonl")
    old.append_message(user_text("go", 1))
    old.append_message(REPLY)
    old.close()
    branch = active_branch(read_session(tmp_path / "old.jsonl"))
    new = writer(tmp_path / "new.jsonl", parent_session=str(tmp_path / "old.jsonl"))
    new.append_copies(branch)
    new.append_message(user_text("on", 1))
    new.close()
    session = read_session(tmp_path / "new.jsonl")
    assert session.header.fields == {"parentSession": str(tmp_path / "old.jsonl")}
    assert session.entries[:2] == branch
    assert session.entries[2].parent_id == branch[1].id


def test_compaction_and_usage_entries_are_in_the_chain(tmp_path: Path) -> None:
    path = tmp_path / "s.jsonl"
    log = writer(path)
    first = log.append_message(user_text("go", 1))
    second = log.append_compaction("summary", first, 1000, usage=Usage(5, 5), cost_usd=0.2)
    log.append_usage("verification", "openai-chat", "gpt", Usage(1, 1), None)
    log.close()
    _, _, compaction, usage = objects(path)
    assert compaction["firstKeptEntryId"] == first
    assert usage["parentId"] == second
    assert usage["provider"] == "openai"
