"""What every report of the table promises: it is made without arguments and renders any batch."""

from __future__ import annotations

import pytest
from hypothesis import given, settings

from pi_batch.events import Record
from pi_batch.fold import fold
from pi_batch.reports import TABLE, load
from tests.reports.batches import hostile, one_of_everything
from tests.streams import streams

every_report = pytest.mark.parametrize("name", sorted(TABLE))


@every_report
def test_a_report_goes_by_its_name(name: str) -> None:
    assert load(name)().name == name


def test_an_unknown_report_is_refused() -> None:
    with pytest.raises(KeyError):
        load("hologram")


@every_report
def test_a_document_is_valid_utf8_ends_in_one_newline_and_holds_no_nul(name: str) -> None:
    for batch in (one_of_everything(), hostile()):
        text = load(name)().render(batch)
        assert "\x00" not in text
        assert "\\u0000" not in text
        text.encode("utf-8")
        assert text.endswith("\n")
        assert not text.endswith("\n\n")


@every_report
def test_equal_batches_give_equal_documents(name: str) -> None:
    assert load(name)().render(one_of_everything()) == load(name)().render(one_of_everything())


@every_report
@given(streams())
@settings(max_examples=20, deadline=None)
def test_any_run_can_be_rendered(name: str, records: list[Record]) -> None:
    batch = fold(records)
    text = load(name)().render(batch)
    for planned in batch.planned:
        assert planned.task_id in text
