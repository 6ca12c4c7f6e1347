"""Progress: lines for people on the stream that it was given, and nowhere else."""

from __future__ import annotations

import io
import re
import subprocess
import sys
import time
from typing import Any

from hypothesis import given, settings

from pi_batch.events import (
    AgentStart,
    MessageUpdate,
    ModelSelected,
    Record,
    ToolExecutionStart,
    TurnStart,
    Warned,
)
from pi_batch.redact import Masker
from pi_batch.results import BudgetAmounts, RunError
from pi_batch.sinks.progress import REFRESHES_PER_S, Progress
from tests.clocks import FakeClock
from tests.streams import STARTED_AT, Stream, planned, streams

HOSTILE = "::error::EVIL \x1b[31m\x07 ##[error]EVIL\r\n::add-mask::EVIL \u202e"


def shown(records: list[Record], **options: Any) -> str:
    """Everything that a stream of records leaves on the screen."""
    stream = io.StringIO()
    progress = Progress(stream, FakeClock(), **options)
    for record in records:
        progress.handle(record)
    progress.close()
    return stream.getvalue()


def two_tasks() -> Stream:
    stream = Stream("good", "bad").add(None, Warned("no sandbox here"))
    stream.start("good", has_checks=True).agent("good").check("good").end("good")
    return stream.start("bad").end("bad", error=RunError("setup", "pip: exit code 1"))


def test_a_model_that_goes_on_for_another_is_a_line_and_a_plain_choice_is_none() -> None:
    stream = Stream("a").start("a").add("a", ModelSelected("x/one", "fallback", "1 of 2"))
    stream.add("a", ModelSelected("y/two", "fallback", "2 of 2", "", "x/one", "quota", "spent\n::error::"))
    lines = shown(stream.end("a").finish().records).split("\n")
    assert [line for line in lines if "goes on" in line] == [
        "warning    a: y/two goes on for x/one (quota): spent ::error::"
    ]
    assert not [line for line in lines if "1 of 2" in line]


# --- plain lines ----------------------------------------------------------------------------------


def test_without_a_terminal_tasks_start_and_end_in_one_line_each() -> None:
    assert shown(two_tasks().finish().records).split("\n") == [
        "warning    no sandbox here",
        "started    good",
        "passed     good: 1 of 1 check passed (1 turn, 120 tokens, $0.2500, 10.0 s) [1/2, $0.2500 so far]",
        "started    bad",
        "error      bad: pip: exit code 1 (0 turns, 0 tokens, $0.00, 10.0 s) [2/2, $0.2500 so far]",
        "",
    ]


def test_a_task_that_takes_long_says_once_a_minute_how_far_it_is() -> None:
    stream, clock = io.StringIO(), FakeClock()
    progress = Progress(stream, clock, is_ci=True)
    long = Stream("a").start("a", limit=BudgetAmounts(turns=9, cost_usd=2.0, wall_s=600.0))
    long.add("a", AgentStart(1)).reply("a").add("a", TurnStart(2))
    for record in long.records:
        progress.handle(record)
        clock.advance(1.0)
    assert stream.getvalue() == ""
    for turn in range(2, 8):
        clock.advance(25.0)
        progress.handle(long.add("a", ToolExecutionStart("c", "bash"), TurnStart(turn + 1)).records[-2])
    assert [line.rstrip() for line in stream.getvalue().split("\n") if line] == [
        "running    a  anthropic/claude-sonnet-5  turn 2/9  bash  $0.2500 of $2.00  1:23  left 8:39",
        "running    a  anthropic/claude-sonnet-5  turn 2/9  bash  $0.2500 of $2.00  2:38  left 7:24",
    ]


def test_colour_paints_the_word_of_a_plain_line() -> None:
    text = shown(two_tasks().records, has_color=True)
    assert text.startswith("\x1b[2mwarning   \x1b[0m no sandbox here\n")
    assert "\x1b[32mpassed    \x1b[0m good: " in text
    assert "\x1b[1;31merror     \x1b[0m bad: " in text


def test_a_ci_log_gets_ends_and_warnings_alone() -> None:
    assert "started" not in shown(two_tasks().records, is_ci=True)
    assert len(shown(two_tasks().records, is_ci=True).rstrip("\n").split("\n")) == 3


def test_quiet_leaves_nothing_but_errors() -> None:
    expected = "error      bad: pip: exit code 1 (0 turns, 0 tokens, $0.00, 10.0 s)\n"
    assert shown(two_tasks().records, is_quiet=True) == expected
    assert shown(two_tasks().records, is_quiet=True, is_terminal=True) == expected


def test_a_tasks_warning_names_the_task() -> None:
    text = shown(Stream("a").start("a").add("a", Warned("the recording differs")).records, is_ci=True)
    assert text == "warning    a: the recording differs\n"


def test_deltas_and_turns_print_nothing_without_a_terminal() -> None:
    stream = Stream("a").start("a")
    before = shown(stream.records)
    stream.add("a", *[MessageUpdate("text", "x")] * 1_000, TurnStart(1), ToolExecutionStart("c", "bash"))
    assert shown(stream.records) == before


def test_unverified_is_no_passed() -> None:
    assert "unverified a: no check: unverified" in shown(Stream("a").start("a").agent("a").end("a").records)


def test_the_ci_runner_finds_nothing_to_obey_and_a_terminal_no_codes() -> None:
    stream = Stream(planned(HOSTILE)).add(None, Warned(HOSTILE)).start(HOSTILE).add(HOSTILE, Warned(HOSTILE))
    text = shown(stream.end(HOSTILE, error=RunError("internal", HOSTILE)).records, is_ci=True)
    assert "EVIL" in text
    assert re.search("[\x00-\x09\x0b-\x1f\x7f\u202e]", text) is None
    for line in text.split("\n"):
        assert not line.strip().startswith("::")
        assert "##[" not in line


def test_secrets_are_masked_before_anything_is_cut() -> None:
    secret = "s3cret-" * 10
    stream = Stream("a").add(None, Warned("x" * 290 + secret)).start("a")
    text = shown(stream.end("a", error=RunError("auth", f"key {secret}")).records, mask=Masker([secret]))
    assert "s3cret" not in text
    assert "key ***" in text


class BrokenPipe(io.StringIO):
    """A stream whose reader has gone."""

    def write(self, text: str) -> int:
        raise BrokenPipeError


def test_a_reader_that_went_away_does_not_end_the_run() -> None:
    for is_terminal in (False, True):
        progress = Progress(BrokenPipe(), FakeClock(), is_terminal=is_terminal)
        for record in two_tasks().finish().records:
            progress.handle(record)
        progress.close()


def test_a_closed_stream_does_not_end_the_run() -> None:
    stream = io.StringIO()
    stream.close()
    progress = Progress(stream, FakeClock())
    for record in two_tasks().records:
        progress.handle(record)
    progress.close()


def test_plain_progress_does_not_need_rich_and_never_touches_standard_output() -> None:
    code = (
        "import sys; from pi_batch.sinks.progress import Progress; from tests.clocks import FakeClock;"
        "from tests.sinks.test_progress import two_tasks; p = Progress(sys.stderr, FakeClock());"
        "[p.handle(r) for r in two_tasks().records]; p.close(); sys.exit('rich.live' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, check=False)
    assert (done.returncode, done.stdout) == (0, b"")
    assert b"passed     good" in done.stderr


# --- the live lines -------------------------------------------------------------------------------


def test_a_terminal_shows_running_tasks_and_keeps_finished_ones() -> None:
    stream = io.StringIO()
    progress = Progress(stream, FakeClock(), is_terminal=True, width=120)
    records = two_tasks().finish().records
    for record in records[:-4]:
        progress.handle(record)
    progress.close()
    text = stream.getvalue()
    assert "passed" in text
    assert "good: 1 of 1 check passed" in text
    assert "no sandbox here" in text
    assert (
        text.rstrip().endswith("\x1b[2K") or "\x1b[?25h" in text
    )  # the live lines are gone, the cursor is back


def test_the_last_live_line_is_the_run_as_a_whole() -> None:
    stream, clock = io.StringIO(), FakeClock()
    progress = Progress(stream, clock, is_terminal=True, width=120)
    for record in two_tasks().records[:-1]:
        progress.handle(record)
        clock.advance(1.0)
    progress.close()
    assert "1/2 done  $0.2500  0:1" in stream.getvalue()


def test_closing_twice_is_closing_once() -> None:
    progress = Progress(io.StringIO(), FakeClock(), is_terminal=True, width=80)
    for record in Stream("a").start("a").records:
        progress.handle(record)
    progress.close()
    progress.close()


def test_a_flood_of_events_redraws_a_few_times_a_second() -> None:
    stream = io.StringIO()
    progress = Progress(stream, FakeClock(), is_terminal=True, width=100)
    for record in Stream("flooded-task").start("flooded-task").records:
        progress.handle(record)
    delta = Record(None, STARTED_AT, "flooded-task", MessageUpdate("text", "x" * 1_000))
    began = time.monotonic()
    for _ in range(20_000):
        progress.handle(delta)
    elapsed_s = time.monotonic() - began
    progress.close()
    drawn = stream.getvalue().count("flooded-task")
    assert drawn <= 3 + (elapsed_s + 1) * REFRESHES_PER_S
    assert len(stream.getvalue()) < 20_000


def test_standard_output_and_error_stay_their_own_while_the_lines_are_live() -> None:
    before = sys.stdout, sys.stderr
    progress = Progress(io.StringIO(), FakeClock(), is_terminal=True, width=80)
    for record in Stream("a").start("a").records:
        progress.handle(record)
    assert (sys.stdout, sys.stderr) == before
    progress.close()


def test_no_color_leaves_no_colour() -> None:
    text = shown(two_tasks().records, is_terminal=True, has_color=False, width=100)
    assert re.search(r"\x1b\[[0-9;]*3[0-9]", text) is None


@given(streams())
@settings(max_examples=30, deadline=None)
def test_every_task_that_ends_has_its_line(records: list[Record]) -> None:
    text = shown(records, is_ci=True)
    ended = {record.key for record in records if record.event.type == "task_end"}
    for key in ended:
        assert f" {key}: " in text
