"""A script's end as text."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pi_batch.codemode.result import Shown, as_text, cut_output, result_text, visible, whole_output
from pi_batch.codemode.values import ScriptEnd
from tests.codemode.fakes import DONE, failed
from tests.tools.context import MemoryOutput


class Outputs:
    """Files in memory."""

    def __init__(self) -> None:
        self.made: list[MemoryOutput] = []

    def __call__(self, suffix: str) -> MemoryOutput:
        self.made.append(MemoryOutput(f"/out/1{suffix}"))
        return self.made[-1]


def shown(text: str) -> Shown:
    return Shown(text, None)


def test_a_result_says_how_it_ended_how_long_it_took_and_what_it_printed() -> None:
    text = result_text(DONE, shown("a\nb\n"), 0.1234, 50)
    assert text == "Script completed, wall time 0.12 s, 50 tool calls.\nOutput:\na\nb"


def test_output_comes_before_notes_and_the_error_last() -> None:
    error = failed("ValueError", "line 2: bad").error
    end = ScriptEnd("failed", error=error, notes=("one call was not awaited",))
    assert result_text(end, shown("partial\n"), 1, 1) == (
        "Script failed, wall time 1.00 s, 1 tool call.\nOutput:\npartial\n"
        "Note: one call was not awaited\nValueError: line 2: bad"
    )


def test_an_error_that_names_its_type_is_not_told_twice() -> None:
    assert result_text(failed("KeyError", "KeyError: 'x' (line 1)"), shown(""), 0, 0).endswith(
        "s.\nKeyError: 'x' (line 1)"
    )


def test_a_silent_script_is_told_to_print() -> None:
    assert "print what you want to see" in result_text(DONE, shown(" \n"), 0, 0)


@pytest.mark.parametrize(
    ("printed", "value", "text"),
    [
        ("", "as it is", "as it is"),
        ("", {"a": [1, "ü"]}, '{"a": [1, "ü"]}'),
        ("seen\n", 3, "seen\nReturned: 3"),
        ("seen", 3, "seen\nReturned: 3"),
        ("seen", None, "seen"),
    ],
)
def test_what_is_returned_follows_what_is_printed(printed: str, value: object, text: str) -> None:
    assert whole_output(printed, ScriptEnd("completed", value=value, has_value=True)) == text


def test_a_large_value_is_json_of_many_lines() -> None:
    assert as_text(["x" * 50] * 9).count("\n") == 10


def test_control_characters_are_spelled_out() -> None:
    assert visible("a\x1b[31mb\r\nc\x00\x9b\x7f\td") == "a\\x1b[31mb\nc\\x00\\x9b\\x7f\td"


def test_short_output_makes_no_file() -> None:
    outputs = Outputs()
    assert cut_output("short", 5, outputs) == Shown("short", None)
    assert not outputs.made


def test_long_output_keeps_head_and_tail_and_the_whole_is_in_a_file() -> None:
    outputs = Outputs()
    text = "".join(f"line {n}\n" for n in range(1000))
    cut = cut_output(text, 400, outputs)
    assert cut.full_output_path == "/out/1.txt"
    assert outputs.made[0].content.decode() == text
    assert outputs.made[0].is_closed
    assert cut.text.startswith("line 0\nline 1\n")
    assert cut.text.endswith("line 998\nline 999\n")
    assert "whole output: /out/1.txt" in cut.text
    assert all(line.startswith(("line ", "[")) for line in cut.text.rstrip("\n").split("\n"))


@given(st.text(max_size=600), st.integers(20, 200))
def test_no_output_is_longer_than_asked_for_but_for_the_note(text: str, most: int) -> None:
    cut = cut_output(text, most, Outputs())
    assert len(cut.text) <= most + 200
    assert (cut.full_output_path is None) == (len(text) <= most)


def test_text_that_is_no_unicode_is_written_all_the_same(tmp_path: Path) -> None:
    outputs = Outputs()
    cut_output("\ud800" * 300, 200, outputs)
    assert outputs.made[0].content == b"?" * 300


def test_a_script_that_was_not_started_is_to_be_sent_again() -> None:
    text = result_text(failed("Refused", "line 1: SyntaxError: invalid syntax"), shown(""), 0, 0)
    assert text.endswith("invalid syntax\nNothing was run. Correct the script and send all of it again.")
