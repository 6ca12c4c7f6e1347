"""The page of a run: every task, why each did not pass, and links that lead somewhere."""

from __future__ import annotations

import re

import pytest

from pi_batch.fold import fold
from pi_batch.messages import Usage
from pi_batch.reports.html.run_page import LOG_MAX_BYTES, Html
from pi_batch.results import BatchResult
from tests.reports.batches import HOSTILE, hostile, many, one_of_everything, read_log
from tests.reports.html.pages import Page, assert_safe
from tests.reports.html.test_session_page import PAYLOADS
from tests.streams import Stream, planned


def page_of(batch: BatchResult, **links: str) -> Page:
    return assert_safe(Html(read_log, links).render(batch))


def test_every_planned_task_has_its_line_and_what_stands_behind_it() -> None:
    batch = one_of_everything()
    page = page_of(batch)
    assert page.tags.count("tr") == len(batch.planned) + 1
    assert page.tags.count("details") >= len(batch.planned)
    for one in batch.planned:
        assert one.task_id in page.text
    assert page.texts["h1"][0].startswith("pi-batch: ")


def test_failing_checks_show_the_end_of_their_output() -> None:
    page = page_of(one_of_everything())
    for words in (
        "1 failed, 2 passed",
        "a.py:1: E501 line too long",
        "write.deny: tests/**",
        "src/a.py +3 −1",
    ):
        assert words in page.text, words


def test_a_long_output_is_cut_at_its_beginning() -> None:
    page = assert_safe(Html(lambda _: "x" * 100_000 + "THE END").render(one_of_everything()))
    assert "THE END" in page.text
    assert len(page.text) < 5 * LOG_MAX_BYTES + 20_000


def test_what_did_not_pass_is_open_and_the_rest_folded() -> None:
    document = Html(read_log).render(one_of_everything())
    batch = one_of_everything()
    bad = sum(result.outcome in ("failed", "error") for result in batch.results)
    assert len(re.findall(r'class="branch task"[^>]* open', document)) == bad
    assert 0 < bad < len(batch.planned)


def test_a_session_is_linked_where_its_page_lies() -> None:
    page = page_of(one_of_everything(), red="run-sessions/red.html")
    assert page.values("a", "href").count("run-sessions/red.html") == 2
    targets = {value for _, name, value in page.attributes if name == "id"}
    inner = {href[1:] for href in page.values("a", "href") if href.startswith("#")}
    assert inner <= targets


def test_a_run_that_has_not_ended_says_so() -> None:
    stream = Stream("a", "b").start("a")
    page = page_of(fold(stream.records))
    assert "running" in page.text
    assert "not run: the run has not ended" in page.text


def test_the_share_of_input_from_a_cache_is_shown() -> None:
    stream = Stream("a").start("a").reply("a", usage=Usage(25, 5, 75, 0))
    page = page_of(fold(stream.end("a").finish().records))
    assert "75%" in page.texts["td"]
    assert "105 tokens (input 75% cached)" in page.text


def test_an_empty_run_is_a_page() -> None:
    assert "There was nothing to run." in page_of(fold(Stream().finish().records)).text


@pytest.mark.parametrize("text", [*PAYLOADS, HOSTILE])
def test_hostile_text_in_any_field_stays_text(text: str) -> None:
    batch = hostile(text)
    assert_safe(Html(lambda _: text).render(batch))


@pytest.mark.slow
def test_a_thousand_failing_tasks_are_a_page_of_bounded_size() -> None:
    document = Html(lambda _: "x" * 100_000).render(many(1_000, answer="é" * 1_000))
    assert len(document.encode()) < 40_000_000


def test_what_a_benchmark_task_is_made_of_is_said() -> None:
    stream = Stream(planned("one", digest="a1b2" * 16, edition="2026.12\n"), "two")
    for key in ("one", "two"):
        stream.start(key).agent(key).end(key)
    page = page_of(fold(stream.finish(0).records))
    assert page.text.count("a1b2" * 16 + ", edition 2026.12") == 1
    assert page.text.count("digest") == 1
