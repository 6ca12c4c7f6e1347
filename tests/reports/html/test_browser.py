"""The page of a run in headless Chromium: at two widths, light and dark, by keyboard."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from pi_batch.reports.html.run_page import Html
from pi_batch.reports.html.session_page import session_page
from pi_batch.reports.html.story import story
from pi_batch.session import parse_session
from tests.reports.batches import hostile, many, one_of_everything, read_log
from tests.reports.html.browser import Browser
from tests.reports.test_export import WHOLE

pytestmark = pytest.mark.peer
SHOWN_ROWS = "[...document.querySelectorAll('.results tbody tr')].filter(one => !one.hidden).length"
SHOWN_TASKS = "[...document.querySelectorAll('details.task')].filter(one => !one.hidden).length"
FOCUSED = "document.activeElement.name || document.activeElement.tagName"


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    made = Browser(tmp_path_factory.mktemp("profile"))
    yield made
    made.close()


@pytest.fixture(scope="module")
def run_page(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run with one of everything, a story in two of its tasks."""
    batch = one_of_everything()
    stories = {key: story(parse_session(WHOLE), "", f"{key}-") for key in ("red", "green")}
    path = tmp_path_factory.mktemp("page") / "run #1?.html"
    path.write_text(Html(read_log, {}, stories).render(batch), encoding="utf-8")
    return path


@pytest.mark.parametrize("width", [1200, 400])
@pytest.mark.parametrize("is_dark", [False, True], ids=["light", "dark"])
def test_a_page_fits_its_window_and_its_policy(
    browser: Browser, run_page: Path, tmp_path: Path, width: int, is_dark: bool
) -> None:
    browser.open(run_page, width=width, is_dark=is_dark)
    assert browser.complaints == []
    assert browser.requests == [run_page.as_uri()]
    assert browser.value("document.documentElement.scrollWidth") <= width
    back = browser.value("getComputedStyle(document.body).backgroundColor")
    assert back == ("rgb(20, 23, 26)" if is_dark else "rgb(251, 251, 250)")
    assert browser.value("document.querySelector('.filters').checkVisibility()")
    assert browser.picture(tmp_path / "page.png").startswith(b"\x89PNG")


def test_the_table_is_filtered_by_keyboard_alone(browser: Browser, run_page: Path) -> None:
    browser.open(run_page)
    every = browser.value(SHOWN_ROWS)
    browser.press("/")
    assert browser.value(FOCUSED) == "words"
    browser.press(*"red")
    assert browser.value(SHOWN_ROWS) == browser.value(SHOWN_TASKS) == 1
    assert browser.value("document.querySelector('output').textContent") == f"1 of {every} tasks"
    browser.press("Escape")
    assert browser.value(SHOWN_ROWS) == browser.value(SHOWN_TASKS) == every
    browser.value("document.activeElement.blur()")
    for _ in range(60):
        browser.press("Tab")
        if browser.value(FOCUSED) == "outcome":
            break
    browser.press(*"failed")
    assert browser.value("document.querySelector('select[name=outcome]').value") == "failed"
    assert browser.value(SHOWN_ROWS) == 3
    browser.press("Tab", *"openai")
    assert browser.value("document.querySelector('select[name=model]').value") == "openai/gpt-6"
    assert browser.value(SHOWN_ROWS) == 0
    browser.press("Escape")
    assert browser.value(SHOWN_ROWS) == every


def test_every_control_is_reached_and_shown_by_tab(browser: Browser, run_page: Path) -> None:
    browser.open(run_page)
    seen: list[str] = []
    for _ in range(120):
        browser.press("Tab")
        seen.append(browser.value("document.activeElement.className || " + FOCUSED))
        if seen[-1] == "BODY":
            break
        outline = browser.value("getComputedStyle(document.activeElement).outlineStyle")
        assert outline != "none", seen[-1]
    assert {"outcome", "model", "words", "wide", "SUMMARY", "A", "BUTTON"} <= set(seen)


def test_a_link_in_the_table_opens_its_task(browser: Browser, run_page: Path) -> None:
    browser.open(run_page)
    browser.value("document.querySelector('.results a').focus()")
    is_open = "document.getElementById('t-1').open"
    assert browser.value(is_open) is False
    browser.press("Enter")
    look = f"const look = () => {is_open} ? done(true) : setTimeout(look, 10)"
    opened = f"new Promise((done) => {{ {look}; look(); }})"
    assert browser.value(opened) is True


def test_charts_have_names_for_who_does_not_see_them(browser: Browser, run_page: Path) -> None:
    browser.open(run_page)
    tree = browser.call("Accessibility.getFullAXTree")["nodes"]
    names = [node["name"]["value"] for node in tree if node.get("role", {}).get("value") in ("image", "img")]
    assert any(name.startswith("When: 8 tasks in ") for name in names)
    assert any("120, 12% of all" in name for name in names)
    assert all(names)


def test_hostile_text_does_nothing(browser: Browser, tmp_path: Path) -> None:
    text = "</script><img src=x onerror=\"document.title='EVIL'\"><script>document.title='EVIL'</script>"
    path = tmp_path / "hostile.html"
    path.write_text(Html(lambda _: text).render(hostile(text)), encoding="utf-8")
    browser.open(path)
    assert browser.complaints == []
    assert len(browser.requests) == 1
    assert "EVIL" not in browser.value("document.title").replace(text, "")
    assert browser.value("document.images.length") == 0
    session = tmp_path / "session.html"
    session.write_text(session_page(parse_session(WHOLE)), encoding="utf-8")
    browser.open(session)
    assert browser.complaints == []


def test_the_policy_keeps_a_planted_script_from_running(
    browser: Browser, run_page: Path, tmp_path: Path
) -> None:
    """Should anything ever get past the escaping."""
    path = tmp_path / "planted.html"
    planted = (
        "<script>document.title='EVIL'</script><img src=/x.png onerror=\"document.title='EVIL'\"></body>"
    )
    path.write_text(run_page.read_text(encoding="utf-8").replace("</body>", planted), encoding="utf-8")
    browser.open(path)
    assert browser.value("document.title") != "EVIL"
    assert "Content Security Policy" in " ".join(browser.complaints)


def test_a_thousand_results_are_all_there_and_can_be_searched(browser: Browser, tmp_path: Path) -> None:
    path = tmp_path / "thousand.html"
    document = Html(lambda _: "a line of a log\n" * 5_000).render(many(1_000, "An answer. " * 100))
    path.write_text(document, encoding="utf-8")
    assert len(document) < 6_000_000
    browser.open(path)
    assert browser.value(SHOWN_ROWS) == 1_000
    assert browser.value("document.getElementsByTagName('*').length") < 60_000
    browser.press("/", *"task-77")
    assert browser.value(SHOWN_ROWS) == 11
