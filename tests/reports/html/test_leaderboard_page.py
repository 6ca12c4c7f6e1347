"""The page of a leaderboard: every model and task, charts, and nothing that is obeyed."""

from __future__ import annotations

import pytest

from pi_batch.reports.html.leaderboard_page import leaderboard_page
from pi_batch.statistics.standing import leaderboard
from pi_batch.statistics.trials import Entrant
from tests.reports.batches import HOSTILE
from tests.reports.html.pages import Page, assert_safe
from tests.reports.html.test_session_page import PAYLOADS
from tests.statistics.making import entrant, single


def page_of(*entrants: Entrant) -> Page:
    return assert_safe(leaderboard_page(leaderboard(entrants)))


def test_every_model_has_its_line_its_interval_and_its_place_in_the_chart() -> None:
    page = page_of(single("good", "+++++-", cost=0.5), single("bad", "----e+", cost=0.25))
    for words in ("2 models on 6 tasks", "83.3%", "43.6% to 97.0%", "5 scored, 1 not", "frontier", "$0.5000"):
        assert words in page.text, words
    assert page.tags.count("circle") == 2
    assert page.values("svg", "class").count("whisker") == 2
    assert page.values("g", "class") == ["mark best", "mark best"]


def test_every_task_has_a_line_with_what_each_model_made_of_it() -> None:
    page = page_of(entrant("m", {"parse": "++-", "sql": "---", "shell": "+++"}), entrant("n", {"sql": "e"}))
    badges = page.texts["span"]
    for word in ("2/3", "0/3", "3/3", "not scored", "–"):
        assert word in badges, word
    assert {"parse", "sql", "shell"} <= set(page.texts["td"])


def test_pairs_say_whether_they_can_be_told_apart() -> None:
    page = page_of(single("a", "+" * 12), single("b", "-" * 12), single("c", "+" * 12))
    assert page.texts["span"].count("differ") == 2
    assert page.texts["span"].count("not told apart") == 1


def test_what_is_not_known_is_not_drawn_and_said() -> None:
    page = page_of(single("known", "+-", cost=0.5), single("secret", "++", cost=None), single("none", "ee"))
    assert page.tags.count("circle") == 1
    assert "for want of a cost or a rate: secret, none" in page.text


def test_no_model_is_a_page() -> None:
    page = page_of()
    assert "no models" in page.text
    assert "circle" not in page.tags


def test_one_model_with_one_task_is_a_page() -> None:
    page = page_of(single("m", "+"))
    assert "1 model on 1 task" in page.text
    assert "none: fewer than 6 tasks" in page.text


@pytest.mark.parametrize("text", [*PAYLOADS, HOSTILE])
def test_hostile_text_in_any_field_stays_text(text: str) -> None:
    page_of(entrant(text, {text: "+-", "other" + text: "e"}), entrant(f"x{text}", {text: "-"}, digest=text))


def test_the_page_is_the_same_each_time() -> None:
    one, two = single("a", "+-" * 9), entrant("b", {"t000": "+-"})
    assert leaderboard_page(leaderboard([one, two])) == leaderboard_page(leaderboard([two, one]))


@pytest.mark.slow
def test_a_thousand_results_are_a_page_of_bounded_size() -> None:
    entrants = [entrant(f"m{number}", {f"t{task}": "+-+-+" for task in range(40)}) for number in range(5)]
    assert len(leaderboard_page(leaderboard(entrants)).encode()) < 300_000
