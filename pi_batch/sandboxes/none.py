"""No isolation: commands and files of this machine, with every process accounted for."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence

from pi_batch.errors import SandboxError
from pi_batch.protocols import Completed, DirEntry, FileStat, SandboxPlace
from pi_batch.sandboxes import local_files, marks
from pi_batch.sandboxes.adoption import ADOPTION, has_children
from pi_batch.sandboxes.calls import GRACE_S, LINGER_S, Calls
from pi_batch.sandboxes.command import Command


class NoneSandbox:
    """The Sandbox protocol on the bare machine; `layers` is empty, and reports say so.

    Commands run as this process's own user. What a call leaves running goes on until `close`, which ends
    everything that the task ever started, also what left its session and cleared its environment. What
    it prints after its call has returned is read and thrown away.
    """

    name = "none"
    layers: tuple[str, ...] = ()
    python = sys.executable

    def __init__(
        self, _place: SandboxPlace | None = None, *, grace_s: float = GRACE_S, linger_s: float = LINGER_S
    ) -> None:
        self._calls = Calls(grace_s=grace_s, linger_s=linger_s)
        self._leaders: set[int] = set()
        """Pids of all calls, which are their sessions' ids."""

    async def start(self) -> None:
        """Take over the parentage of orphans. Never fails."""
        if not self._calls.is_open:
            self._calls.is_open = True
            ADOPTION.acquire()

    async def close(self) -> None:
        """End every process of the task: TERM, grace, KILL; when cancelled, at once and still all of them."""
        if not self._calls.is_open:
            return
        self._calls.is_open = False
        try:
            if self._leaders and (has_children() or not ADOPTION.is_active):
                await self._calls.end_all(self._leaders)
        finally:
            self._calls.forget_all()
            ADOPTION.release()

    async def exec(
        self,
        argv: Sequence[str],
        *,
        cwd: str,
        env: Mapping[str, str],
        timeout_s: float,
        on_output: Callable[[bytes], None],
    ) -> Completed:
        """Run a command; see the protocol. `on_output` is never called after this has returned.

        Raises: SandboxError when the sandbox is not open; OSError when the command cannot be started.
        """
        if not self._calls.is_open:
            raise SandboxError("none: the sandbox is not open")
        mark = self._calls.next_mark()
        with marks.inherited(mark):
            command = Command(argv, cwd=cwd, env={**env, **mark.variables})
        ADOPTION.take_marks_off_others(mark)
        self._leaders.add(command.pid)
        return await self._calls.run(command, mark, timeout_s, on_output)

    async def resolve(self, path: str) -> str:
        """The real path; see the protocol. Raises: OSError when links go in a circle."""
        return local_files.resolve(path)

    async def stat(self, path: str) -> FileStat | None:
        """What is there, links followed."""
        return local_files.stat_file(path)

    async def read(self, path: str, *, offset: int = 0, limit_bytes: int | None = None) -> bytes:
        """Bytes of a regular file; everything else is refused. Raises: OSError."""
        return local_files.read(path, offset, limit_bytes)

    async def write(self, path: str, content: bytes) -> None:
        """Replace a file's content, or make it; see `local_files.write`. Raises: OSError."""
        local_files.write(path, content)

    async def list(self, path: str) -> list[DirEntry]:
        """A directory's entries by name. Raises: OSError."""
        return local_files.list_directory(path)
