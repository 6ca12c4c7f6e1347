"""Readable text: escape codes, overwriting, bad bytes, and cuts that hold their sizes."""

from __future__ import annotations

import time
import unicodedata

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from pi_batch.text import one_line, readable, truncate_head, truncate_tail

FRAGMENTS = [
    "\x1b", "\x1b[", "\x1b[31m", "\x1b[?25l", "\x1b[38;5;1", "\x1b]0;title", "\x1b]8;;x\x1b\\", "\x07",
    "\x1b\\", "\x1bP", "\x1b_G", "\x1b^", "\x1bX", "\x1b(B", "\x1b$", "\x1b%G", "\x9b1m", "\x9d", "\x9c",
    "\x90", "\r", "\n", "\r\n", "\b", "\t", "\0", "\x0b", "\x0c", "\x18", "\x7f", "\x85", "\u2028",
    "\ud83d", "\ude00", "\udc9b", "é", "漢", "😀", "a", "plain words", "0", ";", "[", "m", " ",
]  # fmt: skip
hostile_text = st.lists(st.sampled_from(FRAGMENTS), max_size=30).map("".join)
hostile_bytes = st.one_of(
    st.binary(max_size=60),
    hostile_text.map(lambda text: text.encode("utf-8", "surrogatepass")),
    st.lists(st.sampled_from([b"\x9b", b"\x9b31m", b"\x9d", b"\xe2\x82", b"\xff", b"x", b"\x1b["])).map(
        b"".join
    ),
)


@pytest.mark.parametrize(
    ("raw", "shown"),
    [
        (b"\x1b[31mred\x1b[0m", "red"),
        (b"\x1b[?25l\x1b[2K\x1b[1A\x1b[10;20Hx", "x"),
        (b"\x1b[38:2::1:2:3mx\x1b[0 q", "x"),  # colon parameters; an intermediate byte
        (b"\x1b]0;title\x07plain", "plain"),
        (b"\x1b]8;;https://example.com\x1b\\link\x1b]8;;\x1b\\", "link"),
        (b"\x1b]0;never ended\nnext", "\nnext"),
        (b"\x1bPq#0;2;0\n#1~~\x1b\\after", "after"),  # a picture over two lines
        (b"\x1bPnever ended\nnext", "\nnext"),
        (b"\x1b_Gpayload\x1b\\a\x1b^pm\x1b\\b\x1bXsos\x1b\\c", "abc"),
        (b"\x1bPtmux;\x1b\x1b]0;t\x07\x1b\\x", "x"),
        (b"\x1b(Bend\x1b)0\x1b#8\x1b%G", "end"),
        (b"\x1b7\x1b8\x1bc\x1b=\x1b>\x1bMx", "x"),
        (b"cut off\x1b[3", "cut off"),
        (b"cut off\x1b", "cut off"),
        (b"\x1b[3\x1b[1mx", "x"),
        ("\u009b31mred\u009b0m\u009d0;t\u009cx".encode(), "redx"),
        (b"\x9b31mred\x9b0m", "red"),
        ("Û".encode() + b"\x9b1mx", "Ûx"),  # 0x9b inside a character is no code
        (b"\x9d0;title\x07a\x90payload\x9cb", "ab"),
        (b"stray \x9b byte, \x90 and \x9d", "stray \ufffd byte, \ufffd and \ufffd"),
        (b"bell\x07 shift\x0e\x0f", "bell shift"),
    ],
)
def test_escape_codes_leave_nothing_behind(raw: bytes, shown: str) -> None:
    assert readable(raw) == shown


@pytest.mark.parametrize(
    ("raw", "shown"),
    [
        ("a\r\nb\r\n", "a\nb\n"),
        ("a\r\r\nb", "a\nb"),
        ("1%\r50%\r100%\ndone", "100%\ndone"),
        ("1%\r50%\r", "50%"),
        ("\x1b[2K\r10%\x1b[2K\r20%\n", "20%\n"),
        ("50%\r   \rDone\n", "Done\n"),
        ("\r\n", "\n"),
        ("X\r\b", "X"),
        ("no newline", "no newline"),
    ],
)
def test_the_last_state_of_an_overwritten_line_stays(raw: str, shown: str) -> None:
    assert readable(raw) == shown


@pytest.mark.parametrize(
    ("raw", "shown"),
    [
        ("|\b/\b-\b\\", "\\"),
        ("H\bHe\be_\bl", "Hel"),
        ("10%\b\b\b20%", "20%"),
        ("abc\b \bd", "abd"),
        ("\b\bab\n\bc", "ab\nc"),
        ("a\b\b\b\bbc", "bc"),
    ],
)
def test_backspaces_take_back_what_stands_before_them_on_their_line(raw: str, shown: str) -> None:
    assert readable(raw) == shown


def test_bad_bytes_are_replaced_and_the_rest_stays() -> None:
    assert readable(b"caf\351 \377\376 fine\n") == "caf\ufffd \ufffd\ufffd fine\n"


def test_lone_surrogates_are_replaced_and_pairs_are_joined() -> None:
    assert readable("a\ud83d\ude00b\ud83dc\udc80") == "a😀b\ufffdc\ufffd"


def test_nul_and_other_separators_are_shown_as_pictures() -> None:
    assert readable(b"left\0right\x0c\x0b\x7f") == "left␀right␌␋␡"


def test_tabs_newlines_and_line_separators_of_unicode_stay() -> None:
    assert readable("a\tb\n\u2028c\u00a0") == "a\tb\n\u2028c\u00a0"


@given(st.one_of(hostile_bytes, hostile_text, st.text()))
@example("\ud83d\x1b[m\ude00")
@example(b"\x9b\x1b[m31m")
def test_readable_text_has_no_controls_encodes_and_is_stable(raw: bytes | str) -> None:
    shown = readable(raw)
    shown.encode("utf-8")
    assert all(char in "\n\t" or unicodedata.category(char) not in {"Cc", "Cs"} for char in shown)
    assert readable(shown) == shown


@given(st.text(st.characters(exclude_categories=["Cc", "Cs"])))
def test_plain_text_passes_unchanged(text: str) -> None:
    assert readable(text) == text
    assert readable(text.encode()) == text


@pytest.mark.parametrize(
    "unit",
    [b"\x1b", b"\x1b[", b"\x1b[1;", b"\x1b]", b"\x1bP", b"\x1b(", b"\x90", b"\x9b", b"\r", b"\b", b"ab\b",
     b"a\r", b"\0", "\u0090".encode(), b"\x1b]0;a\n", b"\x1bPa\n", b"1\x1b[m"],
)  # fmt: skip
def test_hostile_output_is_read_in_linear_time(unit: bytes) -> None:
    small, large = (_cpu_s(unit * (size // len(unit))) for size in (100_000, 800_000))
    assert large < 24 * small + 0.3, "eight times the bytes took more than 24 times as long"


def _cpu_s(raw: bytes) -> float:
    start = time.process_time()
    readable(raw)
    return time.process_time() - start


# --- cutting --------------------------------------------------------------------------------------

lines_of_text = st.lists(st.text(st.sampled_from("aé漢😀 \ud800"), max_size=6), max_size=8).map("\n".join)
limits = st.integers(min_value=0, max_value=30)


@given(lines_of_text, limits, limits)
@example("漢" * 20, 5, 7)
@example("a\n" * 5, 2, 100)
@example("\n\n\n", 2, 30)
@example("ab\n", 5, 1)
def test_cuts_hold_their_sizes_and_split_no_character(text: str, max_lines: int, max_bytes: int) -> None:
    whole = text.encode("utf-8", "surrogatepass")
    for cut, kept_end in (
        (truncate_head(text, max_lines, max_bytes), text.startswith),
        (truncate_tail(text, max_lines, max_bytes), text.endswith),
    ):
        assert kept_end(cut.text)
        assert len(cut.text.encode("utf-8", "surrogatepass")) <= max_bytes
        assert cut.kept_lines <= max_lines
        assert cut.total_bytes == len(whole)
        assert cut.is_truncated == (cut.text != text or cut.kept_lines != cut.total_lines)


@given(lines_of_text, limits, limits)
@example("\n\n\n", 2, 2)
def test_a_cut_falls_between_lines_unless_it_says_otherwise(
    text: str, max_lines: int, max_bytes: int
) -> None:
    lines = text.split("\n")
    if text.endswith("\n") or not text:
        lines.pop()
    head, tail = truncate_head(text, max_lines, max_bytes), truncate_tail(text, max_lines, max_bytes)
    assert head.total_lines == tail.total_lines == len(lines)
    if head.is_truncated and not head.is_line_cut:
        assert head.text == "\n".join(lines[: head.kept_lines])
    if tail.is_truncated and not tail.is_line_cut:
        end = "\n" if text.endswith("\n") and tail.kept_lines else ""
        assert tail.text == "\n".join(lines[len(lines) - tail.kept_lines :]) + end


def test_what_fits_is_kept_whole() -> None:
    assert truncate_tail("a\nb\n").text == "a\nb\n"
    assert not truncate_head("a\nb").is_truncated
    assert truncate_head("").total_lines == 0


def test_heads_and_tails_keep_as_many_whole_lines_as_fit() -> None:
    text = "".join(f"line {number}\n" for number in range(1, 11))
    head, tail = truncate_head(text, 3, 1000), truncate_tail(text, 3, 1000)
    assert (head.text, head.kept_lines, head.total_lines) == ("line 1\nline 2\nline 3", 3, 10)
    assert (tail.text, tail.kept_lines) == ("line 8\nline 9\nline 10\n", 3)
    assert truncate_head(text, 100, 15).text == "line 1\nline 2"
    assert truncate_tail(text, 100, 15).text == "line 9\nline 10\n"
    assert truncate_tail(text, 100, 14).text == "line 10\n"


def test_one_giant_line_is_cut_inside_and_says_so() -> None:
    giant = "漢" * 40_000
    head, tail = truncate_head(giant), truncate_tail(giant)
    assert head.is_line_cut
    assert tail.is_line_cut
    assert 50 * 1024 - 3 < len(head.text.encode()) <= 50 * 1024
    assert set(head.text) == set(tail.text) == {"漢"}
    assert truncate_tail("short\n" + giant + "\n").text.endswith("漢\n")


@given(hostile_text, st.integers(min_value=0, max_value=40))
def test_one_line_is_one_short_line(text: str, max_chars: int) -> None:
    line = one_line(text, max_chars)
    assert len(line) <= max_chars
    assert "\n" not in line
    assert "\t" not in line


def test_one_line_collapses_space_and_marks_the_cut() -> None:
    assert one_line("  a\n\n\tb\x1b[1m c ") == "a b c"
    assert one_line("abcdef", 4) == "abc…"
