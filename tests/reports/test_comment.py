"""A comment: the Markdown report, as long as a service takes one."""

from __future__ import annotations

import re

import pytest

from pi_batch.reports.comment import COMMENT_BYTES, Comment
from pi_batch.reports.markdown import Markdown
from pi_batch.results import BatchResult
from tests.reports.batches import hostile, many, one_of_everything, read_log


def test_a_short_one_is_the_markdown_report() -> None:
    assert Comment(read_log).render(one_of_everything()) == Markdown(read_log).render(one_of_everything())


@pytest.mark.parametrize("batch", [many(60), many(2_000, "é"), hostile("é" * 20_000)])
def test_a_long_one_fits_and_counts_what_is_left_out(batch: BatchResult) -> None:
    text = Comment(lambda _: "é" * 60_000).render(batch)
    assert len(text.encode()) <= COMMENT_BYTES < 65_536
    assert "left out" in text
    rows = sum(line.startswith(("| failed | `task-", "| failed | `é")) for line in text.split("\n"))
    if len(batch.results) == 2_000:
        more = [int(count) for count in re.findall(r"(?m)^(\d+) more tasks were left out", text)]
        assert rows + sum(more) == 2_000
    elif len(batch.results) == 60:
        assert rows == 60
