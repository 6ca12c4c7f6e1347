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

SCHEMA = "output.schema"
"""The name of the check of the final answer's form."""
CLEAN_COPY = (
    "The checks ran in a clean copy: the start with your changes, set up anew. Files that git ignores are not"
    " in it, nor is what you installed by hand."
)


def feedback(judgements: Sequence[Judgement], logs: Path, restored: Sequence[str], *, is_clean: bool) -> str:
    """Which checks failed and how, the ends of their outputs, and which changes do not count.

    `logs` is the directory of the checks' logs; `is_clean` says that commands ran in a clean copy.
    """
    failed = [one for one in judgements if not one.result.passed]
    parts = ["Your work was checked and did not pass."]
    parts += [_failure(one, logs) for one in failed]
    if is_clean and any(one.result.command for one in failed):
        parts.append(CLEAN_COPY)
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
    parts.append(_closing(failed))
    return "\n\n".join(parts)


def _closing(failed: Sequence[Judgement]) -> str:
    """What to do now; an answer of the wrong form only has to be given again."""
    answers = [one for one in failed if one.result.name == SCHEMA and not one.result.command]
    if not answers:
        return "Find the cause, fix it, and finish again."
    again = "with JSON and nothing else, valid by the schema that you were given."
    if len(answers) == len(failed):
        return f"Your work in the files stands. Reply again {again}"
    return f"Find the cause, fix it, and finish again, {again}"


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
