"""`oracle` and `nop`: the ends of the scale that a benchmark's checks are tried by.

A solution is a directory: each file in it is written to the same path of the workspace; `.deleted` lists
paths to be removed, one a line; `.script` is a shell script that is run; `.answer` is the last reply.
"""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from pi_batch.errors import ProviderError
from pi_batch.messages import AssistantMessage
from pi_batch.providers.steps import Steps, calls, says
from pi_batch.task_content import read_tree

DELETED, ANSWER, SCRIPT = ".deleted", ".answer", ".script"
DONE = "Done as the reference solution does it."
NOTHING = "Nothing was done."


class Oracle(Steps):
    """Does what a solution says."""

    name = "oracle"

    def __init__(self, solution: Path) -> None:
        """Read the solution. Raises: ProviderError."""
        super().__init__(self.name, tuple(_replies(solution)))


class Nop(Steps):
    """Does nothing and says so."""

    name = "nop"

    def __init__(self) -> None:
        super().__init__(self.name, (says(self.name, NOTHING),))


def _replies(solution: Path) -> Iterator[AssistantMessage]:
    try:
        content = {name: body.decode() for name, body in read_tree(solution).items()}
    except (OSError, ValueError) as error:
        why = error.strerror if isinstance(error, OSError) else "holds a file that is no UTF-8 text"
        message = f"oracle: {solution}: cannot be read as a solution: {why}"
        raise ProviderError(message, kind="invalid_request") from error
    wanted = list(_work(content))
    if wanted:
        yield calls(Oracle.name, wanted)
    yield says(Oracle.name, content.get(ANSWER, DONE))


def _work(content: Mapping[str, str]) -> Iterator[tuple[str, Mapping[str, Any]]]:
    gone = [path for path in content.get(DELETED, "").split("\n") if path.strip()]
    if gone:
        yield "bash", {"command": f"rm -r -- {shlex.join(gone)}"}
    for path, text in content.items():
        if path not in (DELETED, ANSWER, SCRIPT):
            yield "write", {"path": path, "content": text}
    if SCRIPT in content:
        yield "bash", {"command": content[SCRIPT], "timeout_s": 600}
