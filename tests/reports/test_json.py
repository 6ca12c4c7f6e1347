"""run.json: field for field, valid everywhere."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from hypothesis import given, settings
from msgspec.structs import replace

from pi_batch.events import Record
from pi_batch.fold import fold
from pi_batch.reports.json import MAX_DEPTH, Json, json_value, result_json
from pi_batch.results import BatchResult, RunResult
from pi_batch.schemas import result_schema
from tests.reports.batches import hostile, many, one_of_everything
from tests.reports.golden import GOLDEN, assert_golden
from tests.streams import Stream, streams

SCHEMA = jsonschema.Draft202012Validator(result_schema())


def rendered(batch: BatchResult) -> Any:
    """The report, through a reader that takes no NaN."""

    def refuse(name: str) -> None:
        raise AssertionError(name)

    return json.loads(Json().render(batch).encode("utf-8"), parse_constant=refuse)


def test_run_json_is_as_it_was_looked_at() -> None:
    assert_golden("run.json", Json().render(one_of_everything()))
    assert_golden("run-hostile.json", Json().render(hostile()))
    assert_golden("run-unfinished.json", Json().render(fold(Stream("a", "b").start("a").agent("a").records)))


def plainly(batch: BatchResult) -> str:
    """What the standard library makes of the whole."""
    return json.dumps(json_value(batch), ensure_ascii=False, indent=2, allow_nan=False) + "\n"


@given(streams())
@settings(max_examples=30, deadline=None)
def test_a_report_that_is_made_again_and_again_is_the_same_as_one_made_at_once(records: list[Record]) -> None:
    report = Json()
    for length in range(0, len(records) + 1, 5):
        batch = fold(records[:length])
        # As values: 1e16 is 1e+16 where Python's own encoder wrote it.
        assert json.loads(report.render(batch)) == json.loads(plainly(batch))
        assert report.render(batch) == report.render(batch)


def test_a_result_that_changed_is_written_anew() -> None:
    report, batch = Json(), one_of_everything()
    report.render(batch)
    first = replace(batch.results[0], reason="another\none")
    changed = replace(batch, results=(first, *batch.results[1:]))
    assert report.render(changed) == plainly(changed)


def test_keys_are_the_fields_in_their_order() -> None:
    document = rendered(one_of_everything())
    assert list(document) == list(BatchResult.__struct_fields__)
    assert list(document["results"][0]) == list(RunResult.__struct_fields__)


def test_text_is_utf8_and_ends_in_one_newline() -> None:
    text = Json().render(one_of_everything())
    assert "Grün & gut" in text
    assert text.endswith("}\n")
    assert not text.endswith("\n\n")


@pytest.mark.parametrize("path", sorted(GOLDEN.glob("*.json")), ids=lambda path: path.name)
def test_every_golden_document_fits_the_schema(path: Path) -> None:
    SCHEMA.validate(json.loads(path.read_text(encoding="utf-8")))


def test_the_schema_refuses_what_is_no_result() -> None:
    document = rendered(one_of_everything())
    document["results"][0]["outcome"] = "probably"
    assert not SCHEMA.is_valid(document)
    del document["results"][0]["outcome"]
    assert not SCHEMA.is_valid(document)


def test_one_result_alone_is_what_stands_among_the_results() -> None:
    batch = one_of_everything()
    assert json.loads(result_json(batch.results[2])) == rendered(batch)["results"][2]


def test_hostile_text_stays_inside_its_strings() -> None:
    document = rendered(hostile())
    assert len(document["results"]) == 4
    text = json.dumps(document, ensure_ascii=False)
    assert "\\u0000" not in text
    assert "tail-x" in document["results"][0]["answer"]
    SCHEMA.validate(document)


def test_numbers_that_json_lacks_are_null() -> None:
    batch = one_of_everything()
    result = replace(
        batch.results[0], duration_s=math.inf, structured_output={"x": math.nan, "y": [-math.inf]}
    )
    [shown] = rendered(replace(batch, results=(result,)))["results"]
    assert (shown["duration_s"], shown["structured_output"]) == (None, {"x": None, "y": [None]})


def test_values_of_any_type_are_written() -> None:
    assert json_value({1: {"b"}, "p": Path("a"), None: (1, 2)}) == {"1": ["b"], "p": "a", "None": [1, 2]}


def test_deep_values_are_cut_before_a_reader_gives_up() -> None:
    deep: Any = "bottom"
    for _ in range(10 * MAX_DEPTH):
        deep = [deep]
    text = json.dumps(json_value(deep))
    assert "nested too deeply" in text
    assert text.count("[") == MAX_DEPTH


def test_an_unknown_cost_is_null_and_a_missing_result_is_counted() -> None:
    document = rendered(one_of_everything())
    assert document["totals"]["missing"] == 1
    assert document["exit_code"] == 143
    assert len(document["planned"]) == 11


def test_one_report_of_many_tasks_is_whole() -> None:
    assert len(rendered(many(60, "x"))["results"]) == 60


@given(streams())
def test_every_run_has_a_valid_document(records: list[Record]) -> None:
    SCHEMA.validate(rendered(fold(records)))


def test_the_quick_way_of_writing_a_result_gives_what_the_careful_one_gives() -> None:
    for result in one_of_everything().results:
        careful = json.dumps(json_value(result), ensure_ascii=False, indent=2, allow_nan=False)
        assert result_json(result) == careful


@pytest.mark.parametrize("text", ["a\0b", "\ud800", "\\u0000", "\u2028", 'q"\n'])
def test_text_that_json_readers_cannot_take_is_replaced_in_any_field(text: str) -> None:
    result = replace(one_of_everything().results[0], reason=text, answer=text)
    written = json.loads(result_json(result).encode())
    assert written["reason"] == written["answer"] == text.replace("\0", "\ufffd").replace("\ud800", "\ufffd")
