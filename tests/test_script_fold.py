"""What the stream says about scripts."""

from __future__ import annotations

from pi_batch.events import ToolExecutionEnd
from pi_batch.results import CodemodeCounts
from pi_batch.script_fold import ScriptFold


def end(tool: str, size: int, parent: str | None = None, layers: tuple[str, ...] = ()) -> ToolExecutionEnd:
    return ToolExecutionEnd(
        "c", tool, is_error=False, parent_tool_call_id=parent, result_bytes=size, layers=layers
    )


def counts(*ends: ToolExecutionEnd) -> CodemodeCounts:
    fold = ScriptFold()
    for one in ends:
        fold.feed(one)
    return fold.counts()


def test_no_script_is_nothing() -> None:
    assert counts(end("read", 100)) == CodemodeCounts()


def test_what_inner_calls_gave_less_what_came_back_is_saved() -> None:
    inner = (end("read", 5000, "c1"), end("grep", 700, "c1"))
    made = counts(*inner, end("codemode", 200, layers=("process", "seccomp")), end("read", 9))
    assert made == CodemodeCounts(1, 2, 5500, ("process", "seccomp"))


def test_a_script_that_prints_more_than_it_read_saves_nothing() -> None:
    assert counts(end("read", 10, "c1"), end("codemode", 500)).bytes_saved == 0


def test_layers_of_a_script_that_did_not_start_do_not_hide_the_others() -> None:
    assert counts(end("codemode", 1, layers=("seccomp",)), end("codemode", 1)).layers == ("seccomp",)
