"""What a sandbox's commands may use up: memory, processes, file sizes.

Source: getrlimit(2), cgroups(7).
"""

from __future__ import annotations

import os
import resource
from collections.abc import Sequence

from msgspec import Struct, field
from msgspec.structs import replace

from pi_batch.kernel import cgroups
from pi_batch.kernel.cgroups import Cgroup

MEMORY_SHARE = 0.8
"""Of the machine's memory, for one task."""
PROCESSES = 4096
FILE_BYTES = 16 << 30
DISK_BYTES = 64 << 30
FILES = 4_000_000

_INTO_CGROUP = 'for f in $1; do echo $$ > "$f" || exit 125; done; shift; exec "$@"'


def _memory_bytes() -> int:
    return int(MEMORY_SHARE * os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"))


class Limits(Struct, frozen=True):
    """Ceilings, kept by a control group where one can be made, and by each process's own limits."""

    memory_bytes: int = field(default_factory=_memory_bytes)
    """Of all processes together where there is a control group, of each one where there is none."""
    processes: int = PROCESSES
    """At a time. Without a control group root is never bound, and other users are by all their processes."""
    file_bytes: int = FILE_BYTES
    """Of one file."""
    disk_bytes: int = DISK_BYTES
    """Of all that a sandbox's commands write; at most half of what is free when it comes up."""
    files: int = FILES
    """That they make; at most half of the inodes that are free."""
    wants_cgroup: bool = False
    """Make a control group when the sandbox comes up, where one can be made."""
    cgroup: Cgroup | None = None

    def opened(self) -> Limits:
        """The same with the control group that is wanted; `close` removes it."""
        if not self.wants_cgroup or self.cgroup is not None:
            return self
        most = {"memory": self.memory_bytes, "pids": self.processes}
        return replace(self, cgroup=cgroups.make(most))

    @property
    def layers(self) -> tuple[str, ...]:
        """In a report's words."""
        kept = self.cgroup.controllers if self.cgroup is not None else ()
        memory = "memory" if "memory" in kept else "memory of each process"
        names = [memory, "file size", "disk"]
        if "pids" in kept or os.geteuid() != 0:
            names.insert(1, "processes")
        return (f"limits on {', '.join(names)}",)

    def fields(self) -> Sequence[bytes]:
        """For the porter: resource, soft, hard of each limit."""
        limits = {
            # RLIMIT_DATA and not RLIMIT_AS: WebAssembly in Node reserves 10 GB that it never uses.
            resource.RLIMIT_DATA: self.memory_bytes,
            resource.RLIMIT_FSIZE: self.file_bytes,
            resource.RLIMIT_NPROC: self.processes,
            resource.RLIMIT_CORE: 0,
        }
        return [b"%d" % value for kind, most in limits.items() for value in (kind, most, most)]

    def command(self, argv: Sequence[str]) -> Sequence[str]:
        """A command that enters the control group before anything else."""
        if self.cgroup is None:
            return argv
        return ["/bin/sh", "-c", _INTO_CGROUP, "sh", " ".join(self.cgroup.entrances), *argv]

    def close(self) -> None:
        """Remove the control group."""
        if self.cgroup is not None:
            self.cgroup.remove()
