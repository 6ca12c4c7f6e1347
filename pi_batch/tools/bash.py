"""bash: runs a command, and says what became of it."""

from __future__ import annotations

import asyncio
import signal
from typing import Annotated, Any

from pi_batch.arguments import ToolArguments, need_text, said
from pi_batch.messages import TextBlock
from pi_batch.protocols import Completed, ToolContext, ToolOutput
from pi_batch.tools.captured import Capture, Captured
from pi_batch.tools.shell import Shell

DEFAULT_TIMEOUT_S = 120.0
MAX_TIMEOUT_S = 3600.0
UPDATE_EVERY_S = 0.25


def _runnable(command: Any) -> Any:
    if isinstance(command, str):
        need_text(command, "command")
        if "\0" in command:
            raise ValueError("holds a NUL byte, which no shell takes: write \\0 in printf or $'…'")
    return command


class BashArguments(ToolArguments, frozen=True, kw_only=True):
    """What bash takes."""

    command: Annotated[str, said("The command line or script.", "cmd", coerce=_runnable, min_length=1)]
    timeout_s: Annotated[
        float,
        said(
            "Seconds until the command and everything that it started is ended.",
            "timeout",
            gt=0,
            le=MAX_TIMEOUT_S,
        ),
    ] = DEFAULT_TIMEOUT_S


class Bash:
    """Runs commands; variables, functions and working directory live on in the next call."""

    name = "bash"
    description = (
        "Run a command with bash in the workspace; gives stdout and stderr together (the last 2000 lines or "
        "50 KB, the whole in a file) and an exit code that is not 0. Variables, functions and the working "
        "directory persist across calls; shell options and jobs do not. Background processes keep running "
        "until the task ends. There is no terminal and no input: use -y and the like."
    )
    arguments = BashArguments
    is_read_only = False
    returns = "dict  # output: str, exit_code: int | None, truncated: bool, full_output_path: str | None"

    def __init__(self) -> None:
        self._shells: dict[str, Shell] = {}
        """By scratch directory: one per task."""

    def written_paths(self, arguments: BashArguments) -> tuple[str, ...]:
        """What a command writes is not known beforehand."""
        return ()

    async def run(self, arguments: BashArguments, context: ToolContext) -> ToolOutput:
        """Run the command; one that fails is an error result. Raises: ToolError without any shell."""
        limit_s = max(min(arguments.timeout_s, context.seconds_left), 0.0)
        capture = Capture(lambda: context.open_output(".txt"))
        progress = _Progress(capture, context)

        def take(chunk: bytes) -> None:
            capture.feed(chunk)
            progress.show()

        shell = self._shells.setdefault(context.scratch, Shell())
        run = await shell.run(arguments.command, limit_s=limit_s, context=context, on_output=take)
        output = capture.finish()
        ending = _ending(run.completed, limit_s, is_task_limit=limit_s < arguments.timeout_s)
        return _result(run.completed, output, [*run.notes, output.note], ending)


class _Progress:
    """Shows the last line of a running command, a few times a second."""

    def __init__(self, capture: Capture, context: ToolContext) -> None:
        self._capture = capture
        self._context = context
        self._now = asyncio.get_running_loop().time
        self._next_s = self._now() + UPDATE_EVERY_S

    def show(self) -> None:
        """Show it, if it is time."""
        if self._now() >= self._next_s:
            self._next_s = self._now() + UPDATE_EVERY_S
            self._context.update(self._capture.so_far())


def _ending(completed: Completed, limit_s: float, *, is_task_limit: bool) -> str:
    """How a command ended, when not well."""
    if completed.timed_out:
        why = ", all that was left of the task's time" if is_task_limit else ""
        return f"[timed out after {round(limit_s, 1):g} s{why}; everything that the call started was ended]"
    if completed.exit_code is None:
        return f"[ended by signal {_signal_name(completed.signal) or completed.signal}]"
    if completed.exit_code > 128 and (name := _signal_name(completed.exit_code - 128)):
        return f"[exit code {completed.exit_code}: {name}]"
    return f"[exit code {completed.exit_code}]" if completed.exit_code else ""


def _signal_name(number: int | None) -> str:
    """SIGKILL for 9; empty for what is no signal."""
    try:
        return signal.Signals(number or 0).name
    except ValueError:
        return ""


def _result(completed: Completed, output: Captured, notes: list[str], ending: str) -> ToolOutput:
    """What the model reads: what was cut, the output, how it ended."""
    shown = output.shown.text.rstrip("\n")
    parts = [*notes, shown if shown.strip() else "(no output)", ending]
    details: dict[str, Any] = {
        "exit_code": completed.exit_code,
        "signal": completed.signal,
        "timed_out": completed.timed_out,
        "truncated": output.full_output_path is not None,
        "full_output_path": output.full_output_path,
        "duration_s": round(completed.duration_s, 3),
    }
    value = {
        "output": output.text,
        "exit_code": completed.exit_code,
        "truncated": output.is_cut,
        "full_output_path": output.full_output_path,
    }
    return ToolOutput(
        content=(TextBlock("\n".join(part for part in parts if part)),),
        details=details,
        is_error=bool(ending),
        error_kind=("timeout" if completed.timed_out else "failed") if ending else None,
        value=value,
    )
