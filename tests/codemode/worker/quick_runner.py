"""The tests' runner where processor time is short."""

from __future__ import annotations

from pi_batch.codemode.worker import lockdown
from tests.codemode.worker import runners

run_script = runners.run_script


def prepare() -> None:
    """The same, and one second of CPU for a script."""
    runners.prepare()
    lockdown.CPU_S = (1, 2)
