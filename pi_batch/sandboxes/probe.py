"""Does a sandbox come up on this machine, and does it deny what it is there to deny?"""

from __future__ import annotations

import os
import socket
import tempfile
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from pi_batch.errors import SandboxError
from pi_batch.protocols import SandboxPlace
from pi_batch.sandboxes.enclosed import Enclosed

_TRUE_S = 10.0
_CANARY = "a file that nothing in a sandbox may read"

Make = Callable[[SandboxPlace], Enclosed]


async def probe(make: Make, *, network: bool | tuple[str, ...] = False) -> Enclosed:
    """Bring one up, run `true`, and try to get out; the sandbox, closed again, for its name and layers.

    Raises: SandboxError, in one line, when it does not come up or does not hold.
    """
    with tempfile.TemporaryDirectory(prefix="pi-batch-probe-") as directory:
        top = Path(directory).resolve()
        for name in ("root", "scratch", "outside"):
            (top / name).mkdir()
        canary = top / "outside" / "canary"
        canary.write_text(_CANARY, encoding="ascii")
        sandbox = make(SandboxPlace(str(top / "root"), str(top / "scratch"), network=network))
        await sandbox.start()
        try:
            await _runs_true(sandbox, str(top / "root"))
            await _denies_files(sandbox, canary)
            if network is not True:
                await _denies_network(sandbox)
        finally:
            await sandbox.close()
        return sandbox


async def _runs_true(sandbox: Enclosed, cwd: str) -> None:
    said: list[bytes] = []
    try:
        done = await sandbox.exec(
            ["true"], cwd=cwd, env={"PATH": os.defpath}, timeout_s=_TRUE_S, on_output=said.append
        )
    except OSError as error:
        raise SandboxError(f"{sandbox.name}: cannot run `true`: {error.strerror or error}") from error
    if done.exit_code != 0:
        text = b"".join(said).decode("utf-8", "replace").strip()
        raise SandboxError(f"{sandbox.name}: `true` fails inside: {text or done}")


async def _denies_files(sandbox: Enclosed, canary: Path) -> None:
    with suppress(OSError):
        await sandbox.read(str(canary))
        raise SandboxError(f"{sandbox.name}: does not hold: a file outside can be read")
    with suppress(OSError):
        await sandbox.write(str(canary), b"changed")
        await sandbox.write(str(canary.with_name("new")), b"")
    if canary.read_text(encoding="ascii") != _CANARY or canary.with_name("new").exists():
        raise SandboxError(f"{sandbox.name}: does not hold: a file outside can be changed")


async def _denies_network(sandbox: Enclosed) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        if await sandbox.connects("127.0.0.1", server.getsockname()[1]):
            raise SandboxError(f"{sandbox.name}: does not hold: the machine's network can be reached")
