"""Starts the programs of workers: exec'd, with nothing of the runner's in memory or environment."""

from __future__ import annotations

import importlib.util
import os
import socket
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from pi_batch.errors import SandboxError

RUNNER = "pi_batch.codemode.script.run"
"""What runs scripts: a module with `prepare()` and `run_script(request, host)`."""

_PROGRAM = """
import sys
from importlib import import_module
sys.path += sys.argv[5:]
import_module("pi_batch.codemode.worker." + sys.argv[1]).main(sys.argv[2:5])
"""
_PACKAGES = ("pi_batch", "RestrictedPython")


@dataclass(frozen=True, slots=True)
class Launch:
    """How the program is started."""

    needs_seccomp: bool
    """Whether a worker without a system-call filter refuses to run scripts."""
    runner: str = RUNNER
    paths: Sequence[str] = ()
    """Where else it looks for modules."""

    def start(self, program: Literal["zygote", "child"], theirs: socket.socket) -> subprocess.Popen[bytes]:
        """Start it with this end of a socket. Raises: SandboxError."""
        descriptor = theirs.fileno()
        # -S: no .pth file and no sitecustomize of anybody runs here, and it saves 3 ms.
        argv = [sys.executable, "-I", "-S", "-c", _PROGRAM, program, str(descriptor), self.runner]
        argv += ["1" if self.needs_seccomp else "0", *_roots(), *self.paths]
        try:
            return subprocess.Popen(
                argv,
                cwd="/",
                env={"PATH": os.defpath, "LC_ALL": "C.UTF-8"},
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                start_new_session=True,
                pass_fds=(descriptor,),
            )
        except OSError as error:
            raise SandboxError(f"codemode's worker: cannot start {sys.executable!r}: {error}") from error


def _roots() -> list[str]:
    """The directories that the packages a worker needs are in; one that is missing is said by the worker."""
    roots: list[str] = []
    for name in _PACKAGES:
        spec = importlib.util.find_spec(name)
        if spec is not None and spec.origin is not None:
            root = str(Path(spec.origin).resolve().parents[1])
            roots += [root] if root not in roots else []
    return roots
