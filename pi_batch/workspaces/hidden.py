"""Files that no agent has seen: read before it begins, and laid into clean copies when they are judged."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from msgspec import Struct, field

from pi_batch.task_content import Content, read_parts
from pi_batch.workspaces.boundary import workspace_errors
from pi_batch.workspaces.removal import remove_tree


class HiddenFiles(Struct, frozen=True):
    """Hidden files as they were when the task was opened: what is done to the originals later is in vain."""

    names: tuple[str, ...] = ()
    """Of the files and directories that are laid down."""
    content: Content = field(default_factory=dict)

    def lay(self, directory: str) -> None:
        """Put them into a directory, in place of whatever has their names there. Raises: WorkspaceError."""
        with workspace_errors(directory):
            for name in self.names:
                remove_tree(Path(directory, name))
            for path, content in self.content.items():
                file = Path(directory, path)
                file.parent.mkdir(parents=True, exist_ok=True)
                file.write_bytes(content)


def read_hidden(paths: Sequence[Path]) -> HiddenFiles:
    """Read files and directories. Raises: WorkspaceError."""
    with workspace_errors(str(paths[0]) if paths else ""):
        return HiddenFiles(tuple(path.name for path in paths), read_parts(paths))
