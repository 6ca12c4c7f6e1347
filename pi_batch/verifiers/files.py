"""Files that the agent must leave: `output.files`."""

from __future__ import annotations

import posixpath
from collections.abc import Sequence

from pi_batch.protocols import CheckContext, Judgement, Sandbox
from pi_batch.results import VerificationResult
from pi_batch.text import one_line


class Files:
    """Judges by regular files that are there and not empty.

    They are looked for in the agent's workspace and not in the clean copy: what git ignores is in no patch,
    and an output is often just that.
    """

    name = "files"

    async def verify(self, check: Sequence[str], context: CheckContext) -> Judgement:
        """Look for every file; the message names those that do not do."""
        problems = [problem for path in check if (problem := await _problem(path, context)) is not None]
        result = VerificationResult(
            name="output.files",
            command="",
            exit_code=None,
            passed=not problems,
            duration_s=0.0,
            attempt=context.attempt,
            message=one_line("; ".join(problems)),
        )
        return Judgement(result)


async def _problem(path: str, context: CheckContext) -> str | None:
    """What is wrong with one file; None when nothing is."""
    sandbox: Sandbox = context.sandbox
    root = await sandbox.resolve(context.path)
    real = await sandbox.resolve(posixpath.join(root, path))
    if posixpath.commonpath((root, real)) != root:
        return f"{path!r} leads out of the workspace"
    found = await sandbox.stat(real)
    if found is None:
        return f"{path!r} is not there"
    if found.kind != "file":
        return f"{path!r} is no regular file"
    return None if found.size_bytes else f"{path!r} is empty"
