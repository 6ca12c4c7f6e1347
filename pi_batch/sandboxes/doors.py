"""Sockets that a porter calls from inside, where no open file can be handed in: for containers.

The path is there for as long as nobody has called; then it is removed, and nobody else can.

Source: unix(7).
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import socket
import subprocess
from collections.abc import Iterator
from pathlib import Path

from pi_batch.errors import SandboxError

LOOK_S = 0.005


@contextlib.contextmanager
def opened(path: str) -> Iterator[socket.socket]:
    """A door at a path, in a directory that only this user can enter and that is made; closed afterwards.

    Raises: OSError.
    """
    Path(path).parent.mkdir(exist_ok=True, mode=0o700)
    Path(path).unlink(missing_ok=True)
    door = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    try:
        with _short(path) as short:
            door.bind(short)
        door.listen(1)
        door.setblocking(False)
        yield door
    finally:
        door.close()
        Path(path).unlink(missing_ok=True)


async def caller(door: socket.socket, child: subprocess.Popen[bytes]) -> socket.socket:
    """Who calls. Raises: SandboxError when the program that was to bring the caller up has ended."""
    while True:
        with contextlib.suppress(BlockingIOError):
            return door.accept()[0]
        if child.poll() is not None:
            raise SandboxError(f"ended with exit code {child.returncode}")
        await asyncio.sleep(LOOK_S)


@contextlib.contextmanager
def _short(path: str) -> Iterator[str]:
    """The path through a directory's descriptor: addresses end after 107 bytes."""
    parent = os.open(Path(path).parent, os.O_PATH | os.O_DIRECTORY)
    try:
        yield f"/proc/self/fd/{parent}/{Path(path).name}"
    finally:
        os.close(parent)
