"""What a payload is, and what it is let loose on."""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from dataclasses import dataclass

from pi_batch.kernel.calls import libc


@dataclass(frozen=True)
class Target:
    """What was set up around the payloads."""

    folder: str
    """On a file system of its own; holds `secret`, `victim` (to be changed), `socket` and `folder`."""
    secret: str
    """What stands in the file, in the victim's variables, and what the servers say."""
    pid: int
    """The victim: a process of the user that the payload had before it was locked."""
    tcp_port: int
    udp_port: int
    abstract: str
    """The abstract socket's name, without its leading NUL."""


Payload = Callable[[Target], object]
"""Gives a true value only when it has seen the effect; raises or gives a false one else."""

PAYLOADS: dict[str, Payload] = {}


def payload(function: Payload) -> Payload:
    """Register one under its name."""
    PAYLOADS[function.__name__] = function
    return function


def raw(number: int, *arguments: int) -> int:
    """A system call by number, which need not be one. Raises: OSError."""
    result: int = libc().syscall(ctypes.c_long(number), *map(ctypes.c_long, arguments))
    if result == -1:
        raise OSError(ctypes.get_errno(), f"call {number}")
    return result
