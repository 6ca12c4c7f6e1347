"""Sandboxes set up for tests: a root directory, ways to make links and pipes, commands to run."""

from __future__ import annotations

import asyncio
import functools
import os
import tempfile
from collections.abc import AsyncIterator, Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from pi_batch.errors import SandboxError
from pi_batch.protocols import Completed, Sandbox, SandboxPlace
from pi_batch.sandboxes import FAKES, TABLE, load
from pi_batch.sandboxes.fake import FakeCall, FakeFile, FakeRun, FakeSandbox
from tests.sandboxes.engines import ENGINES, settings

ALL_NAMES = (*TABLE, *FAKES)
EACH_NAME = [pytest.param(name, marks=pytest.mark.slow if name in ENGINES else ()) for name in ALL_NAMES]
"""For tests that bring each of them up: containers take their time."""

PATH = "/usr/local/bin:/usr/bin:/bin"

SCRIPTS: Mapping[str, FakeRun] = {
    "echo out; echo err >&2": FakeRun(b"out\nerr\n"),
    "exit 3": FakeRun(exit_code=3),
    "kill -9 $$": FakeRun(signal=9),
    "echo before; sleep 1000": FakeRun(b"before\n", duration_s=1000),
    "true": FakeRun(),
}
"""What the fake does; a real sandbox is given the same scripts."""


@dataclass
class Rig:
    """A started sandbox and what a test needs around it."""

    sandbox: Sandbox
    root: str
    """Absolute and real, empty."""
    link: Callable[[str, str], None]
    """Make a symbolic link: path, target."""
    pipe: Callable[[str], None]
    """Make a named pipe."""
    output: list[bytes] = field(default_factory=list)

    async def run(self, script: str, *, timeout_s: float = 20, cwd: str | None = None) -> Completed:
        """Run a script by `sh`; what it prints goes to `output`."""
        return await self.sandbox.exec(
            ["sh", "-c", script],
            cwd=cwd or self.root,
            env={"PATH": PATH},
            timeout_s=timeout_s,
            on_output=self.output.append,
        )

    @property
    def printed(self) -> str:
        """All output so far."""
        return b"".join(self.output).decode("utf-8", "replace")


def _scripted(call: FakeCall) -> FakeRun:
    if call.argv[0] != "sh":
        raise FileNotFoundError(2, "No such file or directory", call.argv[0])
    return SCRIPTS[call.argv[2]]


def _rig(name: str, root: Path) -> Rig:
    if name == "fake":
        fake = FakeSandbox({"/work": FakeFile(kind="directory", mode=0o755)}, _scripted)

        def put(path: str, file: FakeFile) -> None:
            fake.files[path] = file

        return Rig(
            fake,
            "/work",
            lambda path, target: put(path, FakeFile(kind="link", link_target=target)),
            lambda path: put(path, FakeFile(kind="other")),
        )
    place = place_in(root)
    sandbox = load(name)(place, **(settings(name) or {} if name in ENGINES else {}))
    return Rig(sandbox, place.root, lambda path, target: Path(path).symlink_to(target), os.mkfifo)


def place_in(directory: Path, **more: Any) -> SandboxPlace:
    """A root and a scratch directory for a sandbox."""
    for name in ("root", "scratch"):
        (directory / name).mkdir(exist_ok=True)
    real = directory.resolve()
    return SandboxPlace(str(real / "root"), str(real / "scratch"), **more)


@functools.cache
def works(name: str) -> bool:
    """Whether a sandbox comes up on this machine."""

    async def comes_up(directory: Path) -> bool:
        more = settings(name) if name in ENGINES else {}
        if more is None:
            return False
        sandbox = load(name)(place_in(directory), **more)
        try:
            await sandbox.start()
        except SandboxError:
            return False
        await sandbox.close()
        return True

    if name in FAKES or name == "none":
        return True
    with tempfile.TemporaryDirectory() as directory, ThreadPoolExecutor(1) as pool:
        return pool.submit(asyncio.run, comes_up(Path(directory))).result()


@asynccontextmanager
async def started(name: str, root: Path) -> AsyncIterator[Rig]:
    """A sandbox of the table, started, and closed in the end; skips where this machine has it not."""
    if not works(name):
        pytest.skip(f"{name} does not come up on this machine")
    rig = _rig(name, root)
    await rig.sandbox.start()
    try:
        yield rig
    finally:
        await rig.sandbox.close()
