"""Patches as SWE-bench's evaluation reads them: `preds.json` by instance, or `all_preds.jsonl`, a line each.

Source: https://www.swebench.com/SWE-bench/guides/evaluation/, and `get_predictions_from_file` of swebench,
which takes an object or a list from .json and lines from .jsonl.
"""

from __future__ import annotations

import json
from collections.abc import Sequence

from msgspec import Struct


class Prediction(Struct, frozen=True):
    """What a model made of an instance."""

    instance_id: str
    model_name_or_path: str
    model_patch: str
    """Empty: nothing was changed."""


def predictions_json(predictions: Sequence[Prediction]) -> str:
    """One object, instance id -> prediction, as mini-swe-agent writes preds.json."""
    found = {one.instance_id: _fields(one) for one in predictions}
    return json.dumps(found, indent=2) + "\n"


def predictions_lines(predictions: Sequence[Prediction]) -> str:
    """A prediction a line, as SWE-agent writes all_preds.jsonl."""
    return "".join(f"{json.dumps(_fields(one))}\n" for one in predictions)


def _fields(one: Prediction) -> dict[str, str]:
    return {
        "model_name_or_path": one.model_name_or_path,
        "instance_id": one.instance_id,
        "model_patch": one.model_patch,
    }
