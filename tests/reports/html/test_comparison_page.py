"""The page of a comparison."""

from __future__ import annotations

import pytest

from pi_batch.reports.html.comparison_page import comparison_page
from pi_batch.statistics.comparison import compare
from tests.reports.batches import HOSTILE
from tests.reports.html.pages import Page, assert_safe
from tests.reports.html.test_session_page import PAYLOADS
from tests.statistics.making import entrant, single


def page_of(a: str, b: str, margin: float = 0.0) -> Page:
    return assert_safe(comparison_page(compare([(single("base", a), single("other", b))], margin=margin)))


@pytest.mark.parametrize(
    ("a", "b", "word"),
    [
        ("++", "++", "PASS"),
        ("+" * 9, "-" * 9, "REGRESSION"),
        ("+", "-", "INCONCLUSIVE"),
        ("+", "m", "MISSING"),
    ],
)
def test_the_word_is_the_title(a: str, b: str, word: str) -> None:
    page = page_of(a, b)
    assert page.texts["h1"] == [f"{word}: other"]
    assert page.texts["span"].count(word) == 2


def test_flipped_tasks_and_what_is_missing_are_listed() -> None:
    page = page_of("+" * 30 + "+", "-" * 30 + "m")
    assert page.texts["span"].count("worse") == 30
    assert "Flipped tasks: 30 worse, 0 better" in page.text
    assert "Not compared: 1" in page.text
    assert "no scored trial in other" in page.text


def test_the_interval_is_drawn_with_the_margin_where_there_is_one() -> None:
    assert page_of("+-", "++").values("rect", "class") == ["ground", "span", "zero", "at"]
    assert page_of("+-", "++", margin=0.1).values("rect", "class") == [
        "ground",
        "span",
        "zero",
        "margin",
        "at",
    ]


def test_several_comparisons_stand_one_below_the_other() -> None:
    a = single("a", "+" * 8)
    page = assert_safe(comparison_page(compare([(a, single("b", "+" * 8)), (a, single("c", "-" * 8))])))
    assert page.tags.count("section") == 2
    assert page.texts["h1"] == ["REGRESSION: 2 comparisons"]


@pytest.mark.parametrize("text", [*PAYLOADS, HOSTILE])
def test_hostile_text_in_any_field_stays_text(text: str) -> None:
    a = entrant(text, {text: "+", "gone" + text: "+", "changed": "+"})
    b = entrant(f"b{text}", {text: "-"}, digest="d")
    assert_safe(comparison_page(compare([(a, b)])))
