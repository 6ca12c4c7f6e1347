"""Words of messages: short, on one line, printable anywhere."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pi_batch.wording import QUOTED_CHARS, listed, nearest, printable, quoted


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("a", "'a'"),
        ("it's", '"it\'s"'),
        ("a\nb", "'a\\nb'"),
        ("\udcff", "'\\udcff'"),
        ("x" * 99, f"'{'x' * 57}...'"),
    ],
)
def test_a_text_is_quoted(text: str, shown: str) -> None:
    assert quoted(text) == shown


@given(st.text(st.characters(), max_size=200))
def test_whatever_is_quoted_is_short_and_printable(text: str) -> None:
    assert quoted(text).isprintable()
    assert len(quoted(text)) <= 10 * QUOTED_CHARS + 2
    quoted(text).encode()


@given(st.text(st.characters(), max_size=50))
def test_a_printable_name_is_left_alone(text: str) -> None:
    shown = printable(text)
    assert shown.isprintable()
    assert shown == text or not text.isprintable()


@pytest.mark.parametrize(
    ("word", "hint"),
    [
        ("verfiy", ", did you mean 'verify'?"),
        ("VERIFY", ", did you mean 'verify'?"),
        ("prompts", ", did you mean 'prompt'?"),
        ("xyz", ""),
        ("", ""),
        ("verify" * 20, ""),
    ],
)
def test_only_a_close_name_is_offered(word: str, hint: str) -> None:
    assert nearest(word, ["verify", "prompt", "tools"]) == hint


def test_nothing_is_near_when_there_is_nothing() -> None:
    assert nearest("a", []) == ""


def test_long_lists_are_counted() -> None:
    assert listed(["a", "b"]) == "a, b"
    assert listed([]) == ""
    assert listed("abcde", limit=3) == "a, b, c and 2 more"
