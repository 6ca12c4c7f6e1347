"""One running command: a child in a session of its own, with one pipe for all that it prints.

asyncio's own subprocesses are not used here, for three reasons. Their transports close the pipe with the
call, so that a background child dies of SIGPIPE; what `wait` waits for (the exit, or the pipes' end too)
and how the exit is seen (a thread per child, or a pidfd) differ between Python 3.11 and 3.14; and they
cost more. This is `subprocess.Popen` with two file descriptors in the event loop.
"""

from __future__ import annotations

import asyncio
import errno
import os
import subprocess
from collections.abc import Mapping, Sequence

from pi_batch.sandboxes.adoption import ADOPTION
from pi_batch.sandboxes.output import Output

FIRST_POLL_S = 0.001
LAST_POLL_S = 0.02
"""Between looks at a child where the system has no pidfd, growing."""


class Command:
    """A child process and its output."""

    def __init__(self, argv: Sequence[str], *, cwd: str, env: Mapping[str, str]) -> None:
        """Start it. Raises: OSError when it cannot be started (its `filename` says what was missing)."""
        self._loop = asyncio.get_running_loop()
        self.output = Output()
        try:
            self._child = _started(argv, cwd, env, self.output.writing_end)
        except BaseException:
            self.output.close()
            raise
        finally:
            os.close(self.output.writing_end)
        self.pid = self._child.pid
        ADOPTION.commands.add(self.pid)
        self._exit: int | None = None
        """A descriptor that turns readable at the exit."""
        self._poll_timer: asyncio.TimerHandle | None = None
        self._watch_exit()

    @property
    def leaders(self) -> tuple[int, ...]:
        """The session that it leads."""
        return (self.pid,)

    @property
    def returncode(self) -> int | None:
        """The exit code, minus the signal that ended it, or None while it runs; reaps it."""
        code = self._child.poll()
        if code is not None:
            ADOPTION.commands.discard(self.pid)
        return code

    def close(self) -> None:
        """Let go of the pipe and of the child's exit."""
        if self._poll_timer is not None:
            self._poll_timer.cancel()
        self.output.close()
        self._end_watch()

    def _watch_exit(self) -> None:
        """Have `follow` woken up when the child ends."""
        try:
            self._exit = os.pidfd_open(self.pid)
        except (AttributeError, OSError):
            self._poll_exit(FIRST_POLL_S)
        else:
            self._loop.add_reader(self._exit, self._end_watch)

    def _end_watch(self) -> None:
        if self._exit is not None:
            self._loop.remove_reader(self._exit)
            os.close(self._exit)
            self._exit = None
        self.output.wake()

    def _poll_exit(self, delay_s: float) -> None:
        """The same where there is no pidfd."""
        if self.returncode is None:
            later_s = min(2 * delay_s, LAST_POLL_S)
            self._poll_timer = self._loop.call_later(delay_s, self._poll_exit, later_s)
        else:
            self.output.wake()


def _started(argv: Sequence[str], cwd: str, env: Mapping[str, str], output: int) -> subprocess.Popen[bytes]:
    """The child. Raises: OSError, also for what no system takes (a NUL, a lone surrogate)."""
    try:
        return subprocess.Popen(
            argv,
            cwd=cwd,
            env=env,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=output,
            start_new_session=True,
        )
    except ValueError as error:
        raise OSError(errno.EINVAL, f"cannot be passed to a program: {error}") from error
