"""Where an agent works and how its work is told from what was there: one file an isolation, by this table."""

from __future__ import annotations

import importlib
from pathlib import Path
from typing import TYPE_CHECKING, Protocol, cast

if TYPE_CHECKING:
    from pi_batch.protocols import Workspace

TABLE = {
    "clone": "pi_batch.workspaces.clone:clone_workspace",
    "copy": "pi_batch.workspaces.copy:copy_workspace",
    "none": "pi_batch.workspaces.none:workspace_in_place",
}
"""Isolation -> "module:function", for the names that a spec may give; each is a `MakeWorkspace`."""

FAKES = {
    "fake": "pi_batch.workspaces.fake:FakeWorkspace",
}
"""The same, for tests alone: conformance runs over both tables, specs are offered only the first."""


class MakeWorkspace(Protocol):
    """Makes a workspace that is not open yet."""

    def __call__(
        self, source: Path, state_dir: Path, include_uncommitted: bool = True, user_home: Path | None = None
    ) -> Workspace:
        """Arguments as for `open_workspace`."""
        ...


def load(name: str) -> MakeWorkspace:
    """What makes workspaces of an isolation, fakes included. Raises: KeyError for a name in no table."""
    module, _, attribute = {**FAKES, **TABLE}[name].partition(":")
    return cast("MakeWorkspace", getattr(importlib.import_module(module), attribute))


def is_kept(state_dir: Path) -> bool:
    """True when a private directory holds a workspace that can be taken up."""
    return (state_dir / "workspace.json").is_file()


def open_workspace(
    isolation: str,
    source: Path,
    state_dir: Path,
    include_uncommitted: bool = True,
    user_home: Path | None = None,
) -> Workspace:
    """A workspace for the user's directory `source`; its own `open` makes it.

    `state_dir` is a private directory that exists, outside the user's tree: the agent's tree
    (`state_dir/w/NAME`), the shadow repository and clean copies go there. A state_dir that holds a workspace
    kept by an earlier process takes that one up. `user_home` is where the user's own git ignore rules are
    looked for; None: only the repository's own count.
    """
    return load(isolation)(source, state_dir, include_uncommitted, user_home)
