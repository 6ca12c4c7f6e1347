"""A private directory for each workspace, and closing what a test opened."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path

import pytest

from pi_batch.protocols import Workspace
from pi_batch.workspaces import open_workspace

Opener = Callable[..., Awaitable[Workspace]]


@pytest.fixture
def state_dir(tmp_path: Path) -> Path:
    directory = tmp_path / "state"
    directory.mkdir(mode=0o700)
    return directory


@pytest.fixture
async def opened(state_dir: Path) -> AsyncIterator[Opener]:
    """Call it with an isolation and a directory: gives an open workspace, closed after the test."""
    made: list[Workspace] = []

    async def opener(
        isolation: str, source: Path, include_uncommitted: bool = True, user_home: Path | None = None
    ) -> Workspace:
        workspace = open_workspace(isolation, source, state_dir, include_uncommitted, user_home)
        made.append(workspace)
        await workspace.open()
        return workspace

    yield opener
    for workspace in made:
        await workspace.close(keep=False)
