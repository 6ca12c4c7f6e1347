"""This process as the parent of every orphan below it, for as long as a sandbox is open.

A process whose parent has ended goes to the nearest ancestor that asked for it (a child sub-reaper), so
that daemons stay below this process, where they are found and reaped. It is a fact of the whole process,
hence the one shared object here.

Source: prctl(2), PR_SET_CHILD_SUBREAPER.
"""

from __future__ import annotations

import contextlib
import os
import sys

from pi_batch.sandboxes import marks, processes
from pi_batch.sandboxes.marks import Mark
from pi_batch.sandboxes.processes import Process

_SET_CHILD_SUBREAPER = 36
_GET_CHILD_SUBREAPER = 37


class Adoption:
    """Counts the open sandboxes; the first asks for orphans, the last gives the role back."""

    def __init__(self) -> None:
        self.commands: set[int] = set()
        """Children that somebody waits for: they are never reaped here."""
        self.is_active = False
        """True when every orphan comes here: what is not below this process is then no one's of ours."""
        self._open = 0
        self._was_active = False

    def acquire(self) -> None:
        """A sandbox opens."""
        self._open += 1
        if self._open == 1 and sys.platform == "linux":
            self._was_active = _is_subreaper()
            _set_subreaper(is_on=True)
            self.is_active = _is_subreaper()

    def release(self) -> None:
        """A sandbox has closed."""
        self._open -= 1
        if self._open == 0 and self.is_active:
            _set_subreaper(is_on=self._was_active)
            self.is_active = self._was_active

    @property
    def is_last(self) -> bool:
        """True when no more than one sandbox is open."""
        return self._open <= 1

    def mark(self, mark: Mark, pid: int) -> None:
        """Mark a command that has just started, with what it has started itself until now.

        That may already have come here as an orphan: a younger child, nobody's command, without a mark, in
        another session than ours.
        """
        marks.put(mark, pid)
        command = processes.one(pid)
        while command is not None and (orphan := self._unmarked_orphan(command)) is not None:
            marks.put(mark, orphan)

    def _unmarked_orphan(self, command: Process) -> int | None:
        """A child that can only come from a command that has just started."""
        own_session = os.getsid(0)
        for pid in processes.children(os.getpid()):
            if pid > command.pid and pid not in self.commands and marks.read_limit(pid) is None:
                orphan = processes.one(pid)
                if orphan and orphan.session != own_session and orphan.started >= command.started:
                    return pid
        return None

    def reap(self, pid: int) -> None:
        """Take the exit status of an orphan that has ended."""
        if pid not in self.commands:
            with contextlib.suppress(ChildProcessError):
                os.waitpid(pid, os.WNOHANG)

    def reap_ended(self) -> None:
        """Reap ended orphans of sandboxes, up to the first child that somebody else may be waiting for.

        One system call where there is nothing to do.
        """
        with contextlib.suppress(ChildProcessError):
            while (pid := _an_ended_child()) is not None and pid not in self.commands:
                # What this process started itself is in its session or leads one.
                if marks.read(pid) is None and os.getsid(pid) in {os.getsid(0), pid}:
                    return
                os.waitpid(pid, os.WNOHANG)


ADOPTION = Adoption()


def has_children() -> bool:
    """False when nothing at all can be left below this process."""
    try:
        _an_ended_child()
    except ChildProcessError:
        return False
    return True


def _an_ended_child() -> int | None:
    """A child that has ended, still unreaped. Raises: ChildProcessError when there is no child at all."""
    if not hasattr(os, "waitid"):
        return None
    status = os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOHANG | os.WNOWAIT)
    return status.si_pid if status else None


def _is_subreaper() -> bool:
    import ctypes

    answer = ctypes.c_int()
    ctypes.CDLL(None).prctl(_GET_CHILD_SUBREAPER, ctypes.byref(answer), 0, 0, 0)
    return bool(answer.value)


def _set_subreaper(*, is_on: bool) -> None:
    """A kernel that refuses leaves orphans to init; marks still find them there."""
    import ctypes

    ctypes.CDLL(None).prctl(_SET_CHILD_SUBREAPER, int(is_on), 0, 0, 0)
