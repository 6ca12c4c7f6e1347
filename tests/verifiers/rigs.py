"""What a verifier is told, for tests: a directory, a real sandbox, and a start made by hand."""

from __future__ import annotations

import sys
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from msgspec.structs import replace

from pi_batch.protocols import Changes, CheckContext, Judgement, Sandbox, TestEvidence
from pi_batch.results import ChangedFile, FileStatus, VerificationResult
from pi_batch.sandboxes.none import NoneSandbox
from pi_batch.spec import Check

BIN = Path(sys.executable).parent


@asynccontextmanager
async def context(tmp_path: Path, **keys: Any) -> AsyncIterator[CheckContext]:
    """A context at `tmp_path/tree` with nothing to compare with, other fields as given."""
    tree, scratch = tmp_path / "tree", tmp_path / "scratch"
    for directory in (tree, scratch):
        directory.mkdir(exist_ok=True)
    sandbox = NoneSandbox()
    await sandbox.start()
    env = {
        "PATH": f"{BIN}:/usr/local/bin:/usr/bin:/bin",
        "HOME": str(tmp_path),
        "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1",
        "PYTHONDONTWRITEBYTECODE": "1",
    }
    made = CheckContext(
        sandbox=sandbox,
        path=str(tree),
        env=env,
        scratch=str(scratch),
        log_path=tmp_path / "logs" / "check.log",
        log_name="tasks/t/check.log",
        attempt=1,
        mask=lambda text: text,
    )
    try:
        yield replace(made, **keys)
    finally:
        await sandbox.close()


def check(run: str, timeout_s: float = 60) -> Check:
    """A check named `tests`."""
    return Check(name="tests", run=run, timeout_s=timeout_s)


def changes(*paths: str, status: FileStatus = "modified") -> Changes:
    """Changes of some paths, without a patch."""
    return Changes(b"", tuple(ChangedFile(path, status, 1, 1) for path in paths), ())


def evidence(runner: str = "pytest", executed: int = 0, skipped: int = 0, **keys: Any) -> TestEvidence:
    """What a runner left."""
    return TestEvidence(runner, executed, skipped, **keys)


def judgement(*seen: TestEvidence, passed: bool = False) -> Judgement:
    """A judgement of the start."""
    result = VerificationResult("tests", "x", 0 if passed else 1, passed, 0.1, 1)
    return Judgement(result, seen)


class Start:
    """A start made by hand; counts how often it is asked."""

    def __init__(
        self, *seen: TestEvidence, passed: bool = False, files: Mapping[str, str] | None = None
    ) -> None:
        self._judgement = judgement(*seen, passed=passed)
        self._files = files or {}
        self.asked = 0

    async def baseline(self) -> Judgement:
        self.asked += 1
        return self._judgement

    async def text(self, path: str) -> str | None:
        return self._files.get(path)


async def printed_by(sandbox: Sandbox, argv: Sequence[str], cwd: str, env: Mapping[str, str]) -> bytes:
    """What a command prints."""
    output: list[bytes] = []
    await sandbox.exec(argv, cwd=cwd, env=env, timeout_s=60, on_output=output.append)
    return b"".join(output)
