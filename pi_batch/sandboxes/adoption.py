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
import threading

from pi_batch.sandboxes import marks, processes
from pi_batch.sandboxes.marks import Mark

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

    def take_marks_off_others(self, mark: Mark) -> None:
        """Undo what `marks.inherited` did to children that another thread started in that moment.

        They are in this process's session, where no command's process can be.
        """
        if threading.active_count() > 1:
            for pid in set(processes.children(os.getpid())) - self.commands:
                with contextlib.suppress(ProcessLookupError):
                    if os.getsid(pid) == os.getsid(0) and marks.read_limit(pid) == mark:
                        marks.take_off(pid)

    def reap(self, pid: int) -> None:
        """Take the exit status of an orphan that has ended."""
        if pid not in self.commands:
            with contextlib.suppress(ChildProcessError):
                os.waitpid(pid, os.WNOHANG)

    def reap_ended(self) -> None:
        """Reap ended orphans of sandboxes, up to the first child that somebody else may be waiting for.

        One system call where there is nothing to do.
        """
        # Another thread may reap a child of its own between two of these calls.
        with contextlib.suppress(ChildProcessError, ProcessLookupError):
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
