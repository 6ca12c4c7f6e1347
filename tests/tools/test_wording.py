"""Numbers and notes as the tools write them."""

from __future__ import annotations

import pytest

from pi_batch.tools.wording import count_of, size_of, with_notes


@pytest.mark.parametrize(
    ("number", "expected"), [(0, "0 lines"), (1, "1 line"), (2, "2 lines"), (1_000_000, "1000000 lines")]
)
def test_counts_agree_with_their_noun(number: int, expected: str) -> None:
    assert count_of(number, "line") == expected


@pytest.mark.parametrize(
    ("size_bytes", "expected"),
    [
        (0, "0 bytes"),
        (1, "1 byte"),
        (1023, "1023 bytes"),
        (1024, "1.0 KB"),
        (50 * 1024, "50.0 KB"),
        (1024**2 - 1, "1024.0 KB"),
        (1024**2, "1.0 MB"),
        (3 * 1024**3 // 2, "1.5 GB"),
        (5 * 1024**4, "5120.0 GB"),
    ],
)
def test_sizes_have_a_unit(size_bytes: int, expected: str) -> None:
    assert size_of(size_bytes) == expected


def test_notes_stand_behind_the_text_in_brackets() -> None:
    assert with_notes("text", ()) == "text"
    assert with_notes("text", ["one", "two"]) == "text\n\n[one. two.]"
