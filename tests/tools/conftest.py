"""A workspace for each test of a tool."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from pi_batch.sandboxes.none import NoneSandbox
from tests.tools.context import FakeContext


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    """An empty directory; its neighbour `outputs` may be read, nothing else."""
    made = tmp_path.resolve() / "workspace"
    made.mkdir()
    (tmp_path / "scratch").mkdir()
    (tmp_path / "outputs").mkdir()
    return made


@pytest.fixture
async def context(workspace: Path) -> AsyncIterator[FakeContext]:
    """What one call sees: the workspace through the sandbox that isolates nothing."""
    sandbox = NoneSandbox()
    await sandbox.start()
    yield FakeContext(
        sandbox,
        str(workspace),
        scratch=str(workspace.parent / "scratch"),
        outputs_dir=str(workspace.parent / "outputs"),
    )
    await sandbox.close()
