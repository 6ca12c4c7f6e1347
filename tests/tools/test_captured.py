"""Output as it comes in: bounded memory, whole characters, the rest in a file."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pi_batch.tools.captured import HELD_BYTES, SHOWN_BYTES, Capture, Captured
from tests.tools.context import MemoryOutput


class Outputs:
    """Makes the files that a capture asks for."""

    def __init__(self) -> None:
        self.files: list[MemoryOutput] = []

    def open(self) -> MemoryOutput:
        self.files.append(MemoryOutput(f"/outputs/{len(self.files)}.txt"))
        return self.files[-1]


def captured(*chunks: bytes) -> tuple[Captured, list[MemoryOutput]]:
    outputs = Outputs()
    capture = Capture(outputs.open)
    for chunk in chunks:
        capture.feed(chunk)
    return capture.finish(), outputs.files


def test_a_short_output_is_whole_and_no_file_is_made() -> None:
    output, files = captured(b"a\n", b"b")
    assert (output.text, output.shown.text, output.note) == ("a\nb", "a\nb", "")
    assert (output.total_lines, output.total_bytes, output.is_cut) == (2, 3, False)
    assert files == []


def test_no_output_is_nothing() -> None:
    output, files = captured()
    assert (output.text, output.total_lines, output.note, files) == ("", 0, "", [])


def test_more_than_a_model_reads_is_in_the_file_and_the_note_says_where() -> None:
    raw = b"".join(b"line %d\n" % number for number in range(1, 3001))
    output, (file,) = captured(raw[:1000], raw[1000:])
    assert output.shown.text.startswith("line 1001\n")
    assert output.text == raw.decode()
    assert not output.is_cut
    assert output.note == (
        "[output truncated: only the last 2000 of 3000 lines shown, 19.5 KB of 28.2 KB; "
        "full output: /outputs/0.txt]"
    )
    assert (file.content, file.is_closed) == (raw, True)


def test_more_than_memory_holds_goes_to_the_file_as_it_comes() -> None:
    chunk = b"x" * 59 + b"\n"
    count = 3 * HELD_BYTES // 60
    output, (file,) = captured(*[chunk * 100] * (count // 100))
    assert file.content == chunk * (count // 100 * 100)
    assert output.is_cut
    assert HELD_BYTES - 60 <= len(output.text) <= HELD_BYTES
    assert output.text.startswith("x" * 59 + "\n")
    assert output.total_lines == count // 100 * 100


def test_a_giant_line_is_cut_at_a_character() -> None:
    output, (file,) = captured(*["漢".encode() * 1000] * 500)
    assert set(output.text) == set(output.shown.text) == {"漢"}
    assert output.note.startswith(
        "[output truncated: only the end of the last of 1 line shown, 50.0 KB of 1.4 MB"
    )
    assert len(file.content) == 1_500_000


def test_memory_stays_bounded_whatever_the_chunks() -> None:
    capture = Capture(Outputs().open)
    for size in [1, 65_536, 3 * HELD_BYTES, 10, 65_536] * 4:
        capture.feed(b"y" * size)
        assert len(capture._tail) <= 2 * HELD_BYTES


@given(st.text(max_size=80), st.lists(st.integers(min_value=0, max_value=200), max_size=8))
def test_characters_over_chunk_borders_are_whole(text: str, borders: list[int]) -> None:
    raw = text.encode()
    cuts = sorted({min(border, len(raw)) for border in borders} | {0, len(raw)})
    whole, _ = captured(raw)
    pieces, _ = captured(*(raw[start:end] for start, end in itertools.pairwise(cuts)))
    assert pieces == whole


@pytest.mark.parametrize(
    ("chunk", "text"),
    [
        (b"a\nb", "a\nb"),
        (b"\x1b[2K10%\r20%", "20%"),
        (b"", ""),
        (b"x" * (SHOWN_BYTES + 9), "x" * SHOWN_BYTES),
    ],
)
def test_progress_is_given_the_end_of_what_came(chunk: bytes, text: str) -> None:
    capture = Capture(Outputs().open)
    capture.feed(chunk)
    assert capture.so_far() == text
