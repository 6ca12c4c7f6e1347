"""Going round in circles is noticed; honest waiting and polling with changing results is not."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from pi_batch.engine.repeats import RepeatWatch, warning
from pi_batch.messages import TextBlock, ToolCall, ToolResultMessage


def actions(pairs: Sequence[tuple[Mapping[str, object], str]]) -> list[str]:
    watch = RepeatWatch()
    return [
        watch.see(
            ToolCall(str(n), "bash", arguments), ToolResultMessage(str(n), "bash", (TextBlock(text),))
        ).action
        for n, (arguments, text) in enumerate(pairs)
    ]


def test_the_third_is_warned_of_and_the_fifth_stops() -> None:
    same = [({"command": "ls"}, "a")] * 6
    assert actions(same) == ["none", "none", "warn", "none", "stop", "stop"]


def test_another_result_starts_anew() -> None:
    pairs = [({"command": "ls"}, text) for text in ("a", "a", "b", "a", "a")]
    assert actions(pairs) == ["none"] * 5


def test_another_call_between_starts_anew() -> None:
    pairs = [({"command": c}, "a") for c in ("ls", "ls", "pwd", "ls", "ls")]
    assert actions(pairs) == ["none"] * 5


def test_times_durations_and_blanks_make_no_difference() -> None:
    pairs = [
        ({"command": "t"}, f"1 failed in {n}.{n}2s\n at 12:0{n}:11, 2026-11-0{n} took {n} ms")
        for n in range(1, 4)
    ]
    assert actions(pairs)[-1] == "warn"


def test_other_numbers_make_a_difference() -> None:
    pairs = [({"command": "t"}, f"{n} failed") for n in range(5)]
    assert set(actions(pairs)) == {"none"}


def test_the_order_of_arguments_makes_no_difference() -> None:
    pairs: list[tuple[dict[str, object], str]] = [
        ({"a": 1, "b": 2}, "x"),
        ({"b": 2, "a": 1}, "x"),
        ({"a": 1, "b": 2}, "x"),
    ]
    assert actions(pairs)[-1] == "warn"


def test_arguments_that_do_not_parse_repeat_too() -> None:
    watch = RepeatWatch()
    for n in range(5):
        repeat = watch.see(
            ToolCall(str(n), "bash", None, "{bad"), ToolResultMessage(str(n), "bash", (TextBlock("no"),))
        )
    assert repeat.action == "stop"


def test_a_cut_result_that_names_its_own_file_is_the_same() -> None:
    watch = RepeatWatch()
    for n in range(5):
        text = f"[output truncated; full output: /run/outputs/call_{n}-1.txt]"
        result = ToolResultMessage(f"call_{n}", "bash", (TextBlock(text),))
        repeat = watch.see(ToolCall(f"call_{n}", "bash", {"command": "yes"}), result)
    assert repeat.action == "stop"


def test_the_warning_names_the_tool() -> None:
    assert "grep" in warning("grep")
