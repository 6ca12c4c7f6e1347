"""Sandboxes set up for tests: a root directory, ways to make links and pipes, commands to run."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path

from pi_batch.protocols import Completed, Sandbox
from pi_batch.sandboxes import FAKES, TABLE, load
from pi_batch.sandboxes.fake import FakeCall, FakeFile, FakeRun, FakeSandbox

ALL_NAMES = (*TABLE, *FAKES)

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
    sandbox = load(name)()
    return Rig(sandbox, str(root.resolve()), lambda path, target: Path(path).symlink_to(target), os.mkfifo)


@asynccontextmanager
async def started(name: str, root: Path) -> AsyncIterator[Rig]:
    """A sandbox of the table, started, and closed in the end."""
    rig = _rig(name, root)
    await rig.sandbox.start()
    try:
        yield rig
    finally:
        await rig.sandbox.close()
