"""What the model reads when its work did not pass."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

from pi_batch.protocols import Judgement
from pi_batch.text import truncate_tail

MAX_OUTPUT_BYTES = 8 * 1024
"""Of each failing check."""
MAX_PATHS = 20


def feedback(
    judgements: Sequence[Judgement], logs: Path, restored: Sequence[str], protect: Sequence[str]
) -> str:
    """Which checks failed and how, the ends of their outputs, and which changes do not count.

    `logs` is the directory of the checks' logs.
    """
    parts = ["Your work was checked and did not pass."]
    parts += [_failure(one, logs) for one in judgements if not one.result.passed]
    if any(one.with_start_tests is not None for one in judgements):
        parts.append(
            "The start's tests count as they were: a check that failed at the start has to pass with them."
            " Put them back as they were and change what they test; you may add tests."
        )
    if restored:
        more = f"\n- and {len(restored) - MAX_PATHS} more" if len(restored) > MAX_PATHS else ""
        paths = "\n".join(f"- {path}" for path in restored[:MAX_PATHS])
        parts.append(
            "These paths decide how the work is checked. They were judged as they were at the start, so"
            f" changing them does not help; leave them as they were:\n{paths}{more}"
        )
    elif protect:
        parts.append(f"Protected paths, judged as they were at the start: {', '.join(protect)}")
    parts.append("Find the cause, fix it, and finish again.")
    return "\n\n".join(parts)


def _failure(judgement: Judgement, logs: Path) -> str:
    """One failed check, with the end of the output that shows why."""
    result, again = judgement.result, judgement.with_start_tests
    command = f"\n$ {result.command}" if result.command else ""
    text = f"Check {result.name!r} failed: {result.message}{command}"
    log = again.result.log if again is not None else result.log
    tail = log_tail(logs / Path(log).name).strip("\n") if log else ""
    if not tail.strip():
        return text
    where = " with the start's tests" if again is not None else ""
    fence = "`" * max(3, 1 + max((len(run) for run in re.findall(r"`+", tail)), default=0))
    return f"{text}\n\nThe end of its output{where}:\n{fence}\n{tail}\n{fence}"


def log_tail(path: Path, max_bytes: int = MAX_OUTPUT_BYTES) -> str:
    """The last lines of a log, whole ones where they fit; empty when there is none."""
    try:
        with path.open("rb") as file:
            size = file.seek(0, 2)
            file.seek(max(size - 2 * max_bytes, 0))
            content = file.read()
    except OSError:
        return ""
    return truncate_tail(content.decode("utf-8", "replace"), max_bytes=max_bytes).text
