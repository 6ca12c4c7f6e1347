"""A task's shell: one bash per command, in the state that the last one in order left."""

from __future__ import annotations

import contextlib
import itertools
import secrets
from collections.abc import Callable, Iterator

from msgspec import Struct

from pi_batch.errors import ToolError
from pi_batch.protocols import Completed, ToolContext
from pi_batch.tools import shell_state
from pi_batch.tools.shell_state import MAX_STATE_BYTES, Saved, ShellState
from pi_batch.tools.wording import size_of

MAX_ARGUMENT_BYTES = 100_000
"""Longer commands go by file: Linux takes no argument over 128 KiB."""
PROBE_S = 5.0
"""How long a shell may take to come up with its old state and do nothing."""

OnOutput = Callable[[bytes], None]


class ShellRun(Struct, frozen=True):
    """One command that has ended."""

    completed: Completed
    notes: tuple[str, ...] = ()
    """What the model has to know about the shell's state."""


class Shell:
    """Keeps what persists between commands; knows nothing of results."""

    def __init__(self, state: ShellState | None = None, *, probe_s: float = PROBE_S) -> None:
        self._state = state
        self._probe_s = probe_s
        self._begun = 0
        """Commands so far."""
        self._kept = 0
        """The number of the command whose state is kept: of those at once, the last in order."""
        self._slots: set[int] = set()
        """Numbers of the commands that run at the moment: the names of their files."""

    async def run(
        self, command: str, *, limit_s: float, context: ToolContext, on_output: OnOutput
    ) -> ShellRun:
        """Run a command. A time-out, or a shell that ends without saving, leaves the old state.

        Raises: ToolError when no shell can be started.
        """
        self._begun += 1
        number = self._begun
        cwd, notes = await self._directory(context)
        completed, saved = await self._start(command, cwd, limit_s, context, on_output)
        if not saved.is_ready and not await self._comes_back(cwd, context):
            self._state = None
            notes.append("[the shell's old variables and functions could not be brought back and are gone]")
            if not completed.timed_out:  # it ended before it came to the command
                completed, saved = await self._start(command, cwd, limit_s, context, on_output)
        if saved.too_large:
            limit = size_of(MAX_STATE_BYTES)
            notes.append(f"[variables and functions of this call are not kept: they are over {limit}]")
        if saved.state is not None and not completed.timed_out and number > self._kept:
            self._state, self._kept = saved.state, number
        return ShellRun(completed, tuple(notes))

    async def _directory(self, context: ToolContext) -> tuple[str, list[str]]:
        """Where the next command starts, and a note where that is not where the last one ended."""
        cwd = self._state.cwd if self._state is not None else context.workspace
        stat = await context.sandbox.stat(cwd) if cwd.startswith("/") else None
        if stat is not None and stat.kind == "directory":
            return cwd, []
        shown = cwd.encode("utf-8", "replace").decode()
        return context.workspace, [f"[{shown} no longer exists: started in {context.workspace}]"]

    async def _comes_back(self, cwd: str, context: ToolContext) -> bool:
        """Whether a shell comes up in the old state: a command may have removed what ours wrote."""
        if self._state is None or not self._state.script:
            return True
        _, saved = await self._start(":", cwd, self._probe_s, context, lambda _: None)
        return saved.is_ready

    async def _start(
        self, command: str, cwd: str, limit_s: float, context: ToolContext, on_output: OnOutput
    ) -> tuple[Completed, Saved]:
        """One bash, with its files."""
        state, token = self._state, secrets.token_hex(8)
        with self._slot() as slot:
            base = f"{context.scratch}/.shell/{slot}"
            prelude = shell_state.prelude(state, command, f"{base}.state", token, context.env)
            await context.sandbox.write(f"{base}.prelude", prelude)
            script = command.encode("utf-8", "surrogateescape")
            argv = ["bash", "--noprofile", "--norc"]
            if len(script) > MAX_ARGUMENT_BYTES:
                await context.sandbox.write(f"{base}.command", script)
                argv += [f"{base}.command"]
            else:
                argv += ["-c", command]
            try:
                completed = await context.sandbox.exec(
                    argv,
                    cwd=cwd,
                    env=shell_state.environment(context.env, state, cwd, f"{base}.prelude"),
                    timeout_s=limit_s,
                    on_output=on_output,
                )
            except OSError as error:
                raise ToolError(_why_not(error)) from error
            raw = b""
            with contextlib.suppress(OSError):
                raw = await context.sandbox.read(f"{base}.state", limit_bytes=MAX_STATE_BYTES + 1)
        return completed, shell_state.parse_saved(raw, token)

    @contextlib.contextmanager
    def _slot(self) -> Iterator[int]:
        """A number that no other command of this shell uses at the moment."""
        slot = next(number for number in itertools.count() if number not in self._slots)
        self._slots.add(slot)
        try:
            yield slot
        finally:
            self._slots.discard(slot)


def _why_not(error: OSError) -> str:
    """Why no shell could be started, on one line, with what to do."""
    if isinstance(error, FileNotFoundError) and error.filename == "bash":
        return "bash is not installed where commands run: work with the other tools"
    return f"bash could not be started: {error.strerror or error}: {error.filename or 'no file'}"
