"""Predictions as SWE-bench's evaluation takes them."""

from __future__ import annotations

import json

from pi_batch.reports.predictions import Prediction, predictions_json, predictions_lines

TWO = (
    Prediction("acme__calc-1", "a/x", "diff --git a/x b/x\n+é\n"),
    Prediction("acme__calc-2", "a/x", ""),
)


def test_an_object_has_each_instance_under_its_id() -> None:
    found = json.loads(predictions_json(TWO))
    assert found["acme__calc-1"] == {
        "model_name_or_path": "a/x",
        "instance_id": "acme__calc-1",
        "model_patch": "diff --git a/x b/x\n+é\n",
    }
    assert list(found) == ["acme__calc-1", "acme__calc-2"]


def test_lines_are_one_prediction_each_however_many_lines_a_patch_has() -> None:
    lines = predictions_lines(TWO).split("\n")
    assert lines[-1] == ""
    assert [json.loads(line)["instance_id"] for line in lines[:-1]] == ["acme__calc-1", "acme__calc-2"]


def test_no_prediction_is_an_empty_object_or_no_line() -> None:
    assert json.loads(predictions_json(())) == {}
    assert predictions_lines(()) == ""
