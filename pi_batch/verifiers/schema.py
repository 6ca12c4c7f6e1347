"""A final answer that must be JSON of a given shape: `output.schema`.

Source: JSON Schema draft 2020-12, unless the schema names another one in `$schema`.
"""

from __future__ import annotations

import json
import math
import re
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from pi_batch.errors import VerificationError
from pi_batch.jsonl import MAX_FOREIGN_DEPTH, is_too_deep
from pi_batch.messages import JsonObject
from pi_batch.protocols import CheckContext, Judgement
from pi_batch.results import RunError, VerificationResult
from pi_batch.text import one_line

MAX_PROBLEMS = 3
"""Named in the message."""

TOO_DEEP = f"nested too deeply, need <= {MAX_FOREIGN_DEPTH} levels"
MAX_CPU_S = 10.0
"""For matching: a `pattern` of the schema may need for ever for an answer that almost fits."""

_FENCE = re.compile(r"[ ]{0,3}(`{3,}|~{3,})[ \t]*([^`\s]*)[^`]*")


class Schema:
    """Judges the answer: the whole text, or the single fenced JSON block in it."""

    name = "schema"

    def __init__(self, max_cpu_s: float = MAX_CPU_S) -> None:
        self._max_cpu_s = max_cpu_s

    async def verify(self, check: JsonObject, context: CheckContext) -> Judgement:
        """Parse and validate; the value goes to the engine when it is valid."""
        error: RunError | None = None
        value: Any = None
        try:
            value = parse_answer(context.answer)
            message = _mismatch(check, value, self._max_cpu_s)
        except ValueError as problem:
            message = str(problem)
        except VerificationError as problem:
            message = str(problem)
            error = RunError("verification", one_line(message))
        result = VerificationResult(
            name="output.schema",
            command="",
            exit_code=None,
            passed=not message,
            duration_s=0.0,
            attempt=context.attempt,
            message=one_line(message),
            error=error,
        )
        return Judgement(result, value=None if message else value)


def parse_answer(answer: str | None) -> Any:
    """The JSON value of an answer. Raises: ValueError that says what is wrong with it."""
    text = (answer or "").strip().lstrip("\ufeff")
    if not text:
        raise ValueError("the final answer is empty; it must be JSON")
    try:
        return _loads(text)
    except ValueError as problem:
        blocks = _fenced_blocks(text)
        if len(blocks) > 1:
            raise ValueError(f"the final answer holds {len(blocks)} JSON blocks; it must hold one") from None
        if not blocks:
            raise ValueError(f"the final answer is not JSON: {problem}") from problem
    try:
        return _loads(blocks[0])
    except ValueError as problem:
        raise ValueError(f"the JSON block of the final answer is not JSON: {problem}") from problem


def _fenced_blocks(text: str) -> list[str]:
    """The fenced blocks marked as JSON; without any, those that are not marked at all."""
    blocks: dict[str, list[str]] = {}
    fence, tag = "", ""
    lines: list[str] = []
    for line in text.split("\n"):
        match = _FENCE.fullmatch(line.rstrip("\r"))
        if fence and match and match[1].startswith(fence) and not match[2]:
            blocks.setdefault(tag, []).append("\n".join(lines))
            fence = ""
        elif fence:
            lines.append(line)
        elif match:
            fence, tag, lines = match[1], match[2].lower(), []
    return blocks.get("json") or blocks.get("") or []


def _loads(text: str) -> Any:
    try:
        value = json.loads(text, parse_constant=_refuse, parse_float=_finite)
    except RecursionError as problem:
        raise ValueError(TOO_DEEP) from problem
    if is_too_deep(value):
        raise ValueError(TOO_DEEP)
    return value


def _refuse(word: str) -> float:
    raise ValueError(f"{word} is no JSON value")


def _finite(number: str) -> float:
    value = float(number)
    if not math.isfinite(value):
        raise ValueError(f"{number} is too large")
    return value


def _mismatch(schema: JsonObject, value: Any, max_cpu_s: float) -> str:
    """Where the value does not match and why; empty when it matches. Raises: VerificationError."""
    import jsonschema  # 60 ms
    from referencing import Registry
    from referencing.exceptions import Unresolvable

    plain = dict(schema)
    kind = jsonschema.validators.validator_for(plain, default=jsonschema.Draft202012Validator)
    nothing_remote: Any = Registry()
    try:
        with _cpu_limit(max_cpu_s):
            kind.check_schema(plain)
            errors = kind(plain, registry=nothing_remote).iter_errors(value)
            found = sorted(errors, key=lambda error: error.json_path)
    except _TooLong as problem:
        what = f"not matched within {max_cpu_s:g} s of CPU time: make its patterns simpler"
        raise VerificationError(f"output.schema: {what}") from problem
    except jsonschema.SchemaError as problem:
        raise VerificationError(f"output.schema: {problem.json_path}: {problem.message}") from problem
    except Unresolvable as problem:
        raise VerificationError(f"output.schema: a reference leads nowhere: {problem}") from problem
    except RecursionError as problem:
        raise VerificationError("output.schema: its references go in a circle") from problem
    shown = [f"{error.json_path}: {error.message}" for error in found[:MAX_PROBLEMS]]
    more = f" and {len(found) - MAX_PROBLEMS} more" if len(found) > MAX_PROBLEMS else ""
    return f"the final answer does not match output.schema: {'; '.join(shown)}{more}" if shown else ""


class _TooLong(Exception):
    """Matching took too much CPU time."""


@contextmanager
def _cpu_limit(seconds: float) -> Iterator[None]:
    """Raise _TooLong in what runs for longer. The matcher of `re` lets signals through and nothing else.

    In a thread, which gets no signals, there is no limit.
    """

    def stop(_number: int, _frame: object) -> None:
        raise _TooLong

    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGVTALRM, stop)
    signal.setitimer(signal.ITIMER_VIRTUAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, before)
