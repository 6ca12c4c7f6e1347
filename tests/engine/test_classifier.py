"""A classifier's question and what its answers mean."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pi_batch.engine.classifier import label_in, question
from pi_batch.engine.estimate import text_tokens

LABELS = ("small change", "large change", "question")


@pytest.mark.parametrize(
    ("answer", "label"),
    [
        ("2", "large change"),
        (" 2.\n", "large change"),
        ("**3**", "question"),
        ("Small change", "small change"),
        ('"question"', "question"),
        ("2. large change", "large change"),
        ("The kind is 2.", "large change"),
        ("It is a small change.", "small change"),
        ("1 or 2", None),
        ("small change or large change", None),
        ("4", None),
        ("0", None),
        ("", None),
        ("none of them", None),
        ("99999999999999999999", None),
    ],
)
def test_a_label_is_named_by_number_or_by_words_and_alone(answer: str, label: str | None) -> None:
    assert label_in(answer, LABELS) == label


@given(st.text(max_size=300))
def test_whatever_is_answered_gives_a_label_or_none(answer: str) -> None:
    assert label_in(answer, LABELS) in (*LABELS, None)


def test_the_question_holds_the_task_and_the_kinds_by_number() -> None:
    text = question(LABELS, "Rename x to y.")
    assert "Rename x to y." in text
    assert "1. small change\n2. large change\n3. question" in text


def test_of_a_long_task_beginning_and_end_are_shown() -> None:
    text = question(LABELS, "begin " + "middle " * 50_000 + "end")
    assert text_tokens(text) < 10_000
    assert "begin middle" in text
    assert "middle end" in text
