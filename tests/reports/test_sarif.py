"""SARIF: findings where code scanning shows them."""

from __future__ import annotations

import json
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from pi_batch.fold import fold
from pi_batch.reports.sarif import RESULTS_MAX, Sarif
from pi_batch.results import BatchResult
from tests.reports.batches import hostile, many, one_of_everything
from tests.streams import Stream

SHAPE = {
    "type": "object",
    "required": ["$schema", "version", "runs"],
    "properties": {
        "version": {"const": "2.1.0"},
        "runs": {
            "type": "array",
            "minItems": 1,
            "items": {
                "required": ["tool", "results"],
                "properties": {
                    "results": {
                        "items": {
                            "required": ["ruleId", "level", "message", "locations", "partialFingerprints"],
                            "properties": {
                                "level": {"enum": ["none", "note", "warning", "error"]},
                                "message": {
                                    "required": ["text"],
                                    "properties": {"text": {"type": "string", "minLength": 1}},
                                },
                                "locations": {"minItems": 1, "maxItems": 1},
                            },
                        }
                    }
                },
            },
        },
    },
}
"""What of the standard's schema this document uses."""


def results(batch: BatchResult) -> list[dict[str, Any]]:
    document = json.loads(Sarif().render(batch))
    Draft202012Validator(SHAPE).validate(document)
    (run,) = document["runs"]
    rules = [rule["id"] for rule in run["tool"]["driver"]["rules"]]
    assert {result["ruleId"] for result in run["results"]} <= set(rules)
    found: list[dict[str, Any]] = run["results"]
    return found


def review(*findings: dict[str, Any]) -> BatchResult:
    output = {"verdict": "approve", "summary": "s", "findings": list(findings)}
    stream = Stream("review").start("review", has_checks=True).agent("review").check("review")
    return fold(stream.end("review", structured_output=output).finish().records)


def test_a_finding_stands_at_its_line() -> None:
    (result,) = results(review({"file": "a b/ü.py", "line": 7, "severity": "warning", "message": "m"}))
    place = result["locations"][0]["physicalLocation"]
    assert place == {"artifactLocation": {"uri": "a%20b/%C3%BC.py"}, "region": {"startLine": 7}}
    assert (result["level"], result["message"]["text"]) == ("warning", "m")


def test_nothing_found_is_an_empty_document() -> None:
    assert results(review()) == []


def test_a_remark_keeps_its_mark_when_lines_move_and_no_other_has_it() -> None:
    def mark(**fields: Any) -> str:
        item = {"file": "a", "line": 1, "severity": "error", "message": "m", **fields}
        return str(results(review(item))[0]["partialFingerprints"])

    assert mark() == mark(line=9)
    assert len({mark(), mark(file="b"), mark(message="n")}) == 3


def test_what_did_not_pass_is_a_result_at_its_spec() -> None:
    found = {result["ruleId"]: result for result in results(one_of_everything())}
    assert found["red"]["locations"][0]["physicalLocation"]["artifactLocation"]["uri"] == "tasks/red.yaml"
    assert "never" in found
    assert "green" not in found


def test_hostile_text_is_text() -> None:
    assert len(results(hostile())) == 2


@pytest.mark.slow
def test_a_run_of_too_many_results_says_what_was_left_out() -> None:
    batch = many(RESULTS_MAX + 3, "x")
    document = json.loads(Sarif().render(batch))["runs"][0]
    assert len(document["results"]) == RESULTS_MAX
    assert "3 more results were left out" in json.dumps(document["invocations"])
