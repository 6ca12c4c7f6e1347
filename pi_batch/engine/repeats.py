"""Notices a model that goes round in circles: the same call with the same result, again and again."""

from __future__ import annotations

import json
import re
from typing import Literal

from msgspec import Struct

from pi_batch.messages import ToolCall, ToolResultMessage

WARN_AT = 3
STOP_AT = 5

_TIMES = re.compile(
    r"\d{4}-\d\d-\d\d[T ]?"  # dates
    r"|\d{1,2}:\d\d(?::\d\d)?(?:[.,]\d+)?"  # times of day
    r"|\d+(?:[.,]\d+)?\s?(?:ns|µs|us|ms|s|secs?|seconds?|m|mins?|minutes?|h|hours?)\b"  # durations
)


class Repeat(Struct, frozen=True):
    """What the latest call was: how many times in a row, and what is to be done."""

    count: int
    action: Literal["none", "warn", "stop"]


class RepeatWatch:
    """Counts consecutive identical calls with identical results over a task."""

    def __init__(self) -> None:
        self._last: tuple[str, str, str] | None = None
        self._count = 0

    def see(self, call: ToolCall, result: ToolResultMessage) -> Repeat:
        """Take the next call with its result, in call order."""
        is_telling = len(call.id) >= 6  # a cut result names its file by the id of its call
        text = result.text.replace(call.id, "") if is_telling else result.text
        fingerprint = (call.name, _canonical(call), _without_times(text))
        self._count = self._count + 1 if fingerprint == self._last else 1
        self._last = fingerprint
        if self._count >= STOP_AT:
            return Repeat(self._count, "stop")
        return Repeat(self._count, "warn" if self._count == WARN_AT else "none")


def warning(tool: str) -> str:
    """What the model is told at the third time."""
    return (
        f"You have now made this same {tool} call {WARN_AT} times with the same result. Do something else: "
        f"at the {STOP_AT}th time the run is stopped."
    )


def _canonical(call: ToolCall) -> str:
    if call.arguments is None:
        return call.raw_arguments
    return json.dumps(call.arguments, sort_keys=True, default=str)


def _without_times(text: str) -> str:
    return " ".join(_TIMES.sub("", text).split())
