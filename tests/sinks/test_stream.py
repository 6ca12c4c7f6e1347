"""--events: whole lines at once, and no traceback when nobody reads."""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from pi_batch.errors import LogWriteError
from pi_batch.event_log import decode_record
from pi_batch.events import MessageEnd, MessageUpdate, Record, Warned
from pi_batch.messages import user_text
from pi_batch.redact import Masker
from pi_batch.sinks.stream import EventStream

AT = "2026-01-01T00:00:00.000Z"
RECORDS = [
    Record(1, AT, None, Warned("one")),
    Record(None, AT, "k", MessageUpdate("text", "he")),
    Record(2, AT, "k", MessageEnd("id", "user", message=user_text("hello é", 1))),
]


def streamed(*records: Record, mask: Masker | None = None) -> str:
    file = io.BytesIO()
    stream = EventStream(file, mask=mask)
    for record in records:
        stream.handle(record)
    stream.close()
    stream.close()
    assert not file.closed
    return file.getvalue().decode()


def test_every_record_is_a_line_in_its_live_form() -> None:
    written = streamed(*RECORDS)
    assert [decode_record(line) for line in written.split("\n")[:-1]] == RECORDS
    assert "é" in written


def test_each_line_is_flushed_by_itself() -> None:
    reading, writing = os.pipe()
    with os.fdopen(writing, "wb") as file, os.fdopen(reading, "rb") as reader:
        EventStream(file).handle(RECORDS[0])
        assert decode_record(reader.readline().decode()) == RECORDS[0]


def test_a_ci_runner_finds_no_command_in_a_line() -> None:
    (line,) = streamed(Record(1, AT, None, Warned("abc ##[add-path]EVIL \\##[error]x"))).split("\n")[:-1]
    assert "##[" not in line
    assert json.loads(line)["message"] == "abc ##[add-path]EVIL \\##[error]x"


def test_secrets_are_masked() -> None:
    written = streamed(Record(1, AT, None, Warned("hunter2-hunter2")), mask=Masker(["hunter2-hunter2"]))
    assert json.loads(written)["message"] == "***"


def test_a_reader_that_goes_away_ends_the_stream_and_nothing_else() -> None:
    code = """
import sys
from pi_batch.events import Record, Warned
from pi_batch.sinks.stream import EventStream
stream = EventStream(sys.stdout.buffer)
for n in range(20000):
    stream.handle(Record(n, "t", None, Warned("x" * 100)))
stream.close()
print("still here", file=sys.stderr)
print("late words on stdout")
"""
    done = subprocess.run(
        ["sh", "-c", '"$0" -c "$1" | head -n 1 >/dev/null', sys.executable, code],
        capture_output=True,
        text=True,
        check=True,
        timeout=30,
    )
    assert done.stderr == "still here\n"


def test_a_full_disk_behind_stdout_is_an_error_of_the_log() -> None:
    with Path("/dev/full").open("wb", buffering=0) as file:
        stream = EventStream(file)
        with pytest.raises(LogWriteError, match="standard output: cannot be written: No space left"):
            stream.handle(RECORDS[0])
        stream.handle(RECORDS[1])
        stream.close()


def test_a_closed_stdout_is_an_error_of_the_log() -> None:
    file = io.BytesIO()
    file.close()
    with pytest.raises(LogWriteError, match="closed file"):
        EventStream(file).handle(RECORDS[0])
