"""A session's story on its run's page: the active branch, with ids that clash with no other story's."""

from __future__ import annotations

import re

import pytest

from pi_batch.reports.html.run_page import Html
from pi_batch.reports.html.story import story
from pi_batch.session import parse_session
from tests.reports.batches import one_of_everything, read_log
from tests.reports.html.pages import Page, assert_safe
from tests.reports.html.test_session_page import PAYLOADS, hostile_session
from tests.reports.test_export import WHOLE

PATCH = "diff --git a/x b/x\n--- a/x\n+++ b/x\n@@ -1 +1 @@\n-old\n+new\n"


def test_a_story_holds_prompt_calls_costs_and_patch() -> None:
    page = Page(story(parse_session(WHOLE), PATCH, "s1-"))
    for words in ("Fix it.", "A thought.", "pytest -q", "Costs by turn", "The patch", "+new"):
        assert words in page.text, words
    assert "The patch" not in story(parse_session(WHOLE), " \n", "s1-")


def test_every_id_and_link_has_the_prefix() -> None:
    text = story(parse_session(WHOLE), "", "s7-")
    ids, links = re.findall(r'\bid="([^"]*)"', text), re.findall(r'href="#([^"]*)"', text)
    assert ids
    assert all(one.startswith("s7-e-") for one in ids)
    assert set(links) <= set(ids)


def test_stories_on_one_page_share_no_id_and_are_escaped_once() -> None:
    batch = one_of_everything()
    session = parse_session(WHOLE)
    stories = {one.key: story(session, PATCH, f"s{number}-") for number, one in enumerate(batch.results)}
    page = assert_safe(Html(read_log, {}, stories).render(batch))
    ids = page.values("article", "id") + page.values("details", "id")
    assert len(ids) == len(set(ids))
    assert page.text.count("The story") == len(stories)
    assert "&lt;article" not in page.document


@pytest.mark.parametrize("text", PAYLOADS)
def test_hostile_text_in_a_session_stays_text(text: str) -> None:
    batch = one_of_everything()
    key = batch.results[0].key
    assert_safe(Html(read_log, {}, {key: story(hostile_session(text), text, "s1-")}).render(batch))
