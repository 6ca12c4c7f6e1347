"""The summary: aligned without a terminal, coloured on one, never an instrument of foreign text."""

from __future__ import annotations

import re
import subprocess
import sys

from hypothesis import given, settings

from pi_batch.events import Record
from pi_batch.fold import fold
from pi_batch.reports.table import Table
from tests.reports.batches import hostile, many, one_of_everything
from tests.reports.golden import assert_golden
from tests.streams import Stream, planned, streams


def test_the_plain_table_is_as_it_was_looked_at() -> None:
    assert_golden("table.txt", Table(run_dir=".pi-batch/runs/run-1").render(one_of_everything()))


def test_the_last_lines_are_the_totals_and_the_run_directory() -> None:
    lines = Table(run_dir=".pi-batch/runs/x").render(one_of_everything()).rstrip("\n").split("\n")
    assert lines[-1] == ".pi-batch/runs/x"
    assert lines[-2].startswith(
        "4 passed (1 unverified), 3 failed, 1 error, 2 skipped, 1 not run (interrupted)"
    )


def test_columns_line_up_with_wide_characters_too() -> None:
    stream = Stream(planned("日本語"), planned("plain"), planned("e\u0301")).finish()
    lines = Table().render(fold(stream.records)).split("\n")
    assert lines[1].index("not run:") + 3 == lines[2].index("not run:")
    assert lines[3].index("not run:") == lines[2].index("not run:") + 1


def test_a_terminal_gets_colour_and_unverified_stands_out() -> None:
    text = Table(is_terminal=True, has_color=True, width=140).render(one_of_everything())
    assert "\x1b[32mpassed" in text
    assert "\x1b[33munverified" in text
    assert "\x1b[31mfailed" in text
    assert "\x1b[35mnot run" in text


def test_no_color_leaves_no_code_at_all() -> None:
    """Bold is not a colour, but a dumb terminal knows neither."""
    text = Table(is_terminal=True, has_color=False, width=140).render(one_of_everything())
    assert "\x1b" not in text
    assert "outcome" in text


def test_a_narrow_terminal_still_shows_every_outcome() -> None:
    text = Table(is_terminal=True, has_color=True, width=60).render(one_of_everything())
    assert text.count("\x1b[31mfailed") == 3


def test_forced_colour_paints_the_outcomes_of_the_plain_table() -> None:
    plain, coloured = Table().render(one_of_everything()), Table(has_color=True).render(one_of_everything())
    assert "\x1b" not in plain
    assert "\x1b[32mpassed    \x1b[0m  green" in coloured
    assert re.sub(r"\x1b\[[0-9;]*m", "", coloured) == plain


def test_the_plain_table_does_not_need_rich() -> None:
    code = (
        "import sys; from pi_batch.reports.table import Table; from pi_batch.fold import fold;"
        "Table().render(fold([])); sys.exit('rich' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_an_empty_run_has_totals_alone() -> None:
    assert Table().render(fold(Stream().finish().records)).startswith("nothing to run · 0 turns")


def test_no_foreign_control_reaches_the_terminal() -> None:
    text = Table(run_dir="run\x1b]0;title\x07").render(hostile())
    assert re.search("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\ud800-\udfff]", text) is None
    # The title, the rows and the two last lines: foreign line breaks make no line.
    assert len(text.rstrip("\n").split("\n")) == 1 + 4 + 1 + 2


def test_rich_markup_in_foreign_text_is_only_text() -> None:
    batch = fold(Stream(planned("[bold]x[/bold]")).finish().records)
    assert "[bold]x[/bold]" in Table(is_terminal=True, width=120).render(batch)


def test_the_actions_runner_finds_nothing_to_obey() -> None:
    stream = Stream(planned("::error::EVIL"), planned("##[error]EVIL"))
    stream.start("::error::EVIL").end("::error::EVIL", skip_reason="::add-mask::EVIL ##[add-path]EVIL")
    for text in (
        Table(run_dir="::set-output::EVIL", is_ci=True).render(fold(stream.records)),
        Table(run_dir="x", is_ci=True).render(hostile()),
    ):
        assert "EVIL" in text
        for line in text.split("\n"):
            assert not line.strip().startswith("::")
            assert "##[" not in line


def test_many_tasks_are_many_lines() -> None:
    assert len(Table().render(many(500, "x")).split("\n")) == 500 + 4


@given(streams())
@settings(max_examples=30, deadline=None)
def test_every_planned_task_has_a_line(records: list[Record]) -> None:
    batch = fold(records)
    lines = Table().render(batch).split("\n")
    assert len(lines) == len(batch.planned) + 4
