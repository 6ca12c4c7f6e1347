"""Runs in forked children that are killed at a chosen write, and a model service that notes what it is asked.

One process imports everything; each run is a fork of it, so that a trial costs what the run itself does.
"""

from __future__ import annotations

import asyncio
import json
import os
import signal
import socket
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import httpx
import jinja2
import yaml

from pi_batch.wiring import run as program
from pi_batch.wiring.options import RunOptions
from tests.servers.loopback import LoopbackServer
from tests.servers.script import Call, Reply, Step

assert httpx
assert jinja2
assert yaml

Moment = Literal["before", "half", "after"]
COUNTED = ("write", "fsync", "replace", "rename")
"""What a run calls to put something on the disk."""
MODEL = "anthropic/claude-sonnet-5"
EFFECTS = ("k0", "k1", "k2", "k3")


@dataclass(frozen=True, slots=True)
class Kill:
    """A moment in a process: at its n-th write."""

    number: int
    moment: Moment

    def arm(self) -> None:
        """Have this process die at that moment; it is a child that nobody needs."""
        count = 0
        at, how = self.number, self.moment

        def wrapped(name: str, real: Callable[..., Any]) -> Callable[..., Any]:
            def call(*args: Any, **kwargs: Any) -> Any:
                nonlocal count
                count += 1
                if count != at:
                    return real(*args, **kwargs)
                if how == "half" and name == "write":
                    real(args[0], args[1][: len(args[1]) // 2])
                elif how == "after":
                    real(*args, **kwargs)
                os.kill(os.getpid(), signal.SIGKILL)
                time.sleep(10)
                return None

            return call

        for name in COUNTED:
            setattr(os, name, wrapped(name, getattr(os, name)))


def in_child(work: Callable[[], int], kill: Kill | None = None, after_s: float | None = None) -> int:
    """Fork, work, exit; the exit code, or minus the signal. `after_s`: killed then."""
    pid = os.fork()
    if pid == 0:
        code = 70
        try:
            os.setpgid(0, 0)
            quiet = os.open(os.devnull, os.O_RDWR)
            for handle in (0, 1, 2):
                os.dup2(quiet, handle)
            if kill is not None:
                kill.arm()
            code = work()
        finally:
            os._exit(code)
    if after_s is not None:
        time.sleep(after_s)
        os.kill(pid, signal.SIGKILL)
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])


def count_writes(work: Callable[[], int], note: Path) -> int:
    """How many writes a whole run makes."""

    def counted() -> int:
        count = 0

        def wrapped(real: Callable[..., Any]) -> Callable[..., Any]:
            def call(*args: Any, **kwargs: Any) -> Any:
                nonlocal count
                count += 1
                return real(*args, **kwargs)

            return call

        for name in COUNTED:
            setattr(os, name, wrapped(getattr(os, name)))
        code = work()
        note.write_text(str(count))
        return code

    assert in_child(counted) == 0
    return int(note.read_text())


class Service:
    """A model service in a process of its own; notes how many replies each request held."""

    def __init__(self, directory: Path, side: Path) -> None:
        self.asked_file = directory / "asked"
        self._side = side
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]
        self.pid = os.fork()
        if self.pid == 0:
            try:
                asyncio.run(self._serve())
            finally:
                os._exit(0)
        self._wait()

    @property
    def asked(self) -> list[int]:
        """For each request, how many replies its history held."""
        if not self.asked_file.exists():
            return []
        return [int(line) for line in self.asked_file.read_text().split("\n") if line]

    @property
    def environ(self) -> Mapping[str, str]:
        """What the program needs to find it."""
        return {"ANTHROPIC_API_KEY": "k" * 20, "ANTHROPIC_BASE_URL": f"http://127.0.0.1:{self.port}"}

    def stop(self) -> None:
        """End it."""
        os.kill(self.pid, signal.SIGKILL)
        os.waitpid(self.pid, 0)

    async def _serve(self) -> None:
        async with LoopbackServer(self._answer, port=self.port):
            await asyncio.sleep(3600)

    def _answer(self, body: Mapping[str, Any]) -> Step:
        said = sum(message["role"] == "assistant" for message in body["messages"])
        with self.asked_file.open("a") as file:
            file.write(f"{said}\n")
        match said:
            case 0:
                return Reply("on it", calls=(self._effect("k0"),))
            case 1:
                write = Call("write", {"path": "made.txt", "content": "made\n"}, id=f"w{said}")
                return Reply(calls=(write, self._effect("k1"), self._effect("k2")))
            case 2:
                return Reply(calls=(self._effect("k3"),))
            case _:
                return Reply("done")

    def _effect(self, name: str) -> Call:
        return Call("bash", {"command": f"echo {name} >> {self._side}"}, id=f"call_{name}")

    def _wait(self) -> None:
        until_s = time.monotonic() + 10
        while time.monotonic() < until_s:
            with socket.socket() as probe:
                if probe.connect_ex(("127.0.0.1", self.port)) == 0:
                    return
            time.sleep(0.01)
        raise AssertionError("the service does not come up")


@dataclass(frozen=True, slots=True)
class Trial:
    """One run in a directory of its own."""

    path: Path
    service: Service

    @property
    def run_dir(self) -> Path:
        return self.path / "out"

    @property
    def side(self) -> Path:
        """Where effects of calls can be counted, outside of every workspace."""
        return self.path / "effects"

    def run(self) -> int:
        """The program, in a child of this process."""
        os.chdir(self.path)
        os.environ.update(self.service.environ, HOME=str(self.path), TMPDIR=str(self.path / "tmp"))
        for name in [name for name in os.environ if name.startswith(("PI_BATCH_", "GITHUB_", "CI"))]:
            del os.environ[name]
        import tempfile

        tempfile.tempdir = None
        return program.run(["task.yaml"], RunOptions(models=(MODEL,), output=Path("out"), quiet=True))

    def entries(self) -> list[dict[str, Any]]:
        """The session's entries; a torn last line is left out."""
        path = self.run_dir / "tasks/task/session.jsonl"
        if not path.exists():
            return []
        lines = path.read_bytes().split(b"\n")
        return [json.loads(line) for line in lines[:-1] if line]

    def messages(self, role: str) -> list[dict[str, Any]]:
        """Recorded messages of a role."""
        said = [entry["message"] for entry in self.entries() if entry["type"] == "message"]
        return [message for message in said if message["role"] == role]
