"""The words of commits and pull requests: foreign text in them does nothing."""

from __future__ import annotations

import pytest

from pi_batch.errors import UsageError
from pi_batch.fold import fold
from pi_batch.publishing.words import BODY_MAX_BYTES, Texts, commit_message, pull_request_body, title
from tests.publishing.runs import result_of
from tests.reports.batches import hostile
from tests.reports.test_markdown import outside_fences, without_code_spans
from tests.streams import Stream


def test_a_commit_says_what_judged_it_and_where_it_comes_from() -> None:
    assert commit_message("Mend it", result_of(), "run-1") == (
        "Mend it\n\nChecks that passed: tests.\n\n"
        "Pi-Batch-Task: mend\nPi-Batch-Run: run-1\n"
        "Pi-Batch-Model: anthropic/claude-sonnet-5\nPi-Batch-Cost: $0.2500\n"
    )
    assert "Not verified" in commit_message("Mend it", result_of(has_checks=False), "run-1")


def test_a_title_is_one_short_line() -> None:
    for result in hostile().results:
        assert "\n" not in title(result)
        assert 0 < len(title(result)) <= 72


def test_foreign_text_makes_no_heading_mention_or_trailer() -> None:
    for result in hostile().results:
        body = pull_request_body(result, "run-1")
        plain = [without_code_spans(line) for line in outside_fences(body)]
        assert not [line for line in plain if "EVIL" in line or "INJECTED" in line or "@everyone" in line]
        message = commit_message(title(result), result, "run-1")
        assert message.count("Pi-Batch-Task: ") == 1


def test_a_body_fits_however_much_was_done() -> None:
    stream = Stream("t").start("t", has_checks=True)
    for number in range(3000):
        stream.check("t", f"check {number} " + "é" * 40)
    stream.agent("t", answer="é" * 100_000).end("t")
    body = pull_request_body(fold(stream.finish().records).results[0], "run-1")
    assert len(body.encode()) <= BODY_MAX_BYTES


def test_templates_get_values_and_the_usual_words() -> None:
    texts = Texts("[bot] {{ title }} ({{ task_id }})", "{{ summary }}\n{{ files }}\n{{ answer }}")
    assert texts.title(result_of(), "run-1") == "[bot] Mend it (mend)"
    body = texts.body(result_of(), "run-1")
    assert body.startswith("1 turn, ")
    assert "a.txt" in body
    assert "# not a heading" not in list(outside_fences(body))


@pytest.mark.parametrize(
    "template", ["{{ nothing }}", "{% if %}", "{{ title.__class__ }}", "{{ 1 / 0 }}", "{{ ''|attr('x')() }}"]
)
def test_a_template_that_cannot_be_rendered_is_named(template: str) -> None:
    with pytest.raises(UsageError, match=r"--title: .* \(there are: title, body, task_id, "):
        Texts(template).title(result_of(), "run-1")
