"""Running programs and knowing what they took."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]


@dataclass(frozen=True, slots=True)
class Cost:
    """What a program took, everything that it started and waited for included."""

    cpu_ms: float
    """User and system time of the whole tree."""
    wall_ms: float
    peak_mb: float
    """Resident memory of its largest process."""

    def least(self, other: Cost) -> Cost:
        """The smaller of each: what a loaded machine adds is never less than nothing."""
        return Cost(
            min(self.cpu_ms, other.cpu_ms), min(self.wall_ms, other.wall_ms), min(self.peak_mb, other.peak_mb)
        )


@dataclass(frozen=True, slots=True)
class Program:
    """A command line, where it runs and in what environment."""

    argv: Sequence[str]
    cwd: Path
    env: Mapping[str, str]

    def run(self, on_start: Callable[[int], None] = lambda _pid: None) -> Cost:
        """Run it to its end. Raises: RuntimeError with its output when it fails."""
        log = self.cwd / "bench.log"
        with log.open("wb") as output:
            started_s = time.perf_counter()
            child = subprocess.Popen(
                self.argv, cwd=self.cwd, env=self.env, stdin=subprocess.DEVNULL, stdout=output, stderr=output
            )
            on_start(child.pid)
            _, status, used = os.wait4(child.pid, 0)
            wall_s = time.perf_counter() - started_s
        child.returncode = os.waitstatus_to_exitcode(status)
        if child.returncode:
            told = log.read_text(encoding="utf-8", errors="replace")[-2000:]
            raise RuntimeError(f"{' '.join(self.argv)}: exit code {child.returncode}: {told}")
        kilo = 1024 if sys.platform == "darwin" else 1
        return Cost(1000 * (used.ru_utime + used.ru_stime), 1000 * wall_s, used.ru_maxrss / 1024 / kilo)


def least_costs(rounds: int, *programs: Program) -> list[Cost]:
    """The least that each took, run in turns so that all see the same machine."""
    least = [program.run() for program in programs]
    for _ in range(rounds - 1):
        least = [cost.least(program.run()) for cost, program in zip(least, programs, strict=True)]
    return least


@contextmanager
def model_server() -> Iterator[str]:
    """The service of `scripts.bench.server` in a process of its own; its base URL."""
    argv = [sys.executable, "-m", "scripts.bench.server"]
    with subprocess.Popen(argv, cwd=ROOT, stdout=subprocess.PIPE) as server:
        try:
            assert server.stdout is not None  # noqa: S101 - a pipe was asked for
            yield server.stdout.readline().decode().strip()
        finally:
            server.kill()
