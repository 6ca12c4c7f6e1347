"""How much a task has written: bytes and files in its directories since its sandbox came up.

No limit of a process holds what many files take together, and quotas need rights that nobody has. So the
file system is asked four times a second how full it is, which costs microseconds; only when it has grown by
more than the task may write, and every few seconds in any case, is the task's own part counted: what changed
since the start in its directories (a change's time cannot be set back), and what its processes hold open
though it has no name any more.

Source: statvfs(3), inode(7).
"""

from __future__ import annotations

import contextlib
import os
import stat
import time
from collections.abc import Iterable, Iterator

LOOK_S = 0.25
TICK_NS = 10_000_000
"""How far a file's time may lag behind the clock."""
COUNT_AGAIN_S = 5.0
"""Between two counts, which may take long, when somebody else fills the disk, or empties it."""
COUNT_SHARE = 0.05
"""Of the time, counting takes this much at most while the file system says that it has not grown."""
FREE_SHARE = 0.5
"""Of what is free at the start, one task may take this much at most."""
MORE = 1.02
"""After an ending: how much more there may be before the next one, so that files can be removed."""


class DiskWatch:
    """Watches the directories of one sandbox. Times are of the file system's clock."""

    def __init__(self, paths: Iterable[str], most_bytes: int, most_files: int) -> None:
        self._paths = tuple(paths)
        self._since_ns = time.time_ns() - TICK_NS
        self._start = _used(self._paths)
        free_bytes = min((free for _, _, free, _ in self._start), default=0)
        free_files = min((free for _, _, _, free in self._start if free), default=0)
        self._most_bytes = min(most_bytes, int(free_bytes * FREE_SHARE))
        self._most_files = min(most_files, int(free_files * FREE_SHARE) or most_files)
        self._limits = (self._most_bytes, self._most_files)
        self._counted_at_s = -COUNT_AGAIN_S
        self._count_anyway_at_s = time.monotonic() + COUNT_AGAIN_S

    def complaint(self, pids: Iterable[int] = ()) -> str:
        """What is too much, in one line; empty when nothing is. `pids`: the task's own processes."""
        begun_s = self._counted_at_s = time.monotonic()
        written, files = 0, 0
        for size, _ in self._changed(pids):
            written, files = written + size, files + 1
        ended_s = time.monotonic()
        self._count_anyway_at_s = ended_s + max(COUNT_AGAIN_S, (ended_s - begun_s) / COUNT_SHARE)
        said = ""
        if written > self._most_bytes:
            said = f"its files have grown by {written >> 20:,} MiB, more than {self._most_bytes >> 20:,} MiB"
            self._most_bytes = int(written * MORE)
        if files > self._most_files:
            said = f"it has made {files:,} files, more than {self._most_files:,}"
            self._most_files = int(files * MORE)
        if said:
            self._counted_at_s = -COUNT_AGAIN_S
        return said

    def may_be_over(self) -> bool:
        """Whether any of the file systems has grown by more than the task may write; asked often.

        True now and then in any case: what others remove meanwhile hides what the task writes.
        """
        now_s = time.monotonic()
        if now_s - self._counted_at_s < COUNT_AGAIN_S:
            return False
        if now_s >= self._count_anyway_at_s:
            return True
        grown = [
            (used - before, files - files_before)
            for (used, files, _, _), (before, files_before, _, _) in zip(
                _used(self._paths), self._start, strict=True
            )
        ]
        if all(size < self._limits[0] and files < self._limits[1] for size, files in grown):
            self._most_bytes, self._most_files = self._limits  # room was made
        return any(size > self._most_bytes or files > self._most_files for size, files in grown)

    def _changed(self, pids: Iterable[int]) -> Iterator[tuple[int, int]]:
        """(bytes on disk, inode) of everything that changed since the start, each once."""
        seen: set[tuple[int, int]] = set()
        for status in (*_below(self._paths), *_nameless(pids)):
            key = (status.st_dev, status.st_ino)
            if status.st_ctime_ns >= self._since_ns and key not in seen:
                seen.add(key)
                yield status.st_blocks * 512, status.st_ino


def _used(paths: Iterable[str]) -> list[tuple[int, int, int, int]]:
    """Bytes and files in use, bytes and files free, of each path's file system."""
    found = []
    for path in paths:
        try:
            system = os.statvfs(path)
        except OSError:
            found.append((0, 0, 0, 0))
            continue
        used = (system.f_blocks - system.f_bfree) * system.f_frsize
        free = system.f_bavail * system.f_frsize
        found.append((used, system.f_files - system.f_ffree, free, system.f_favail))
    return found


def _below(paths: Iterable[str]) -> Iterator[os.stat_result]:
    """Everything in some directories, links not followed, other file systems not entered."""
    waiting = list(paths)
    while waiting:
        try:
            with os.scandir(waiting.pop()) as entries:
                for entry in entries:
                    with contextlib.suppress(OSError):
                        yield entry.stat(follow_symlinks=False)
                        if entry.is_dir(follow_symlinks=False):
                            waiting.append(entry.path)
        except OSError:
            continue


def _nameless(pids: Iterable[int]) -> Iterator[os.stat_result]:
    """Files that processes hold open and that have no name any more."""
    for pid in pids:
        try:
            numbers = os.listdir(f"/proc/{pid}/fd")  # noqa: PTH208
        except OSError:
            continue
        for number in numbers:
            with contextlib.suppress(OSError):
                status = os.stat(f"/proc/{pid}/fd/{number}")  # noqa: PTH116
                if status.st_nlink == 0 and stat.S_ISREG(status.st_mode):
                    yield status
