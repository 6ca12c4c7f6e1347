"""A child process for what cannot be undone: locks stay on for the rest of a process's life."""

from __future__ import annotations

import json
import os
import signal
import sys
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pytest

from pi_batch.kernel import landlock, seccomp

linux_only = pytest.mark.skipif(sys.platform != "linux", reason="Linux's own")
needs_seccomp = pytest.mark.skipif(not seccomp.is_available(), reason="no system-call filters here")
needs_landlock = pytest.mark.skipif(landlock.abi() == 0, reason="no Landlock here")
as_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root can give up being root")


@dataclass(frozen=True)
class Ending:
    """How a child ended."""

    value: Any
    """What its function returned, as JSON; the error's name and text where it raised."""
    signal: str | None
    """The name of what killed it."""


def in_child(function: Callable[[], Any]) -> Ending:
    """Run a function in a fork of this process."""
    reading, writing = os.pipe()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # threads of a parallel test run; none is needed
        pid = os.fork()
    if pid == 0:
        _answer(function, writing)
    os.close(writing)
    with os.fdopen(reading, "rb") as pipe:
        answer = pipe.read()
    _, status = os.waitpid(pid, 0)
    killed_by = signal.Signals(os.WTERMSIG(status)).name if os.WIFSIGNALED(status) else None
    return Ending(json.loads(answer) if answer else None, killed_by)


def _answer(function: Callable[[], Any], writing: int) -> None:
    try:
        value = function()
    except BaseException as error:  # noqa: BLE001 -- the parent wants to know, and nothing may go on here
        value = f"{type(error).__name__}: {error}"
    os.write(writing, json.dumps(value).encode())
    os._exit(0)


def errno_of(function: Callable[..., Any], *arguments: Any) -> int:
    """The error number a call fails with; 0 when it succeeds."""
    try:
        function(*arguments)
    except OSError as error:
        return error.errno or -1
    return 0
