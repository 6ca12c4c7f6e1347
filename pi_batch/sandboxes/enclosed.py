"""A sandbox with a porter inside: whatever the walls are made of, the calls are the same.

Commands are started and files are opened by the porter, within the walls, so that no path leads out and a
link that changes at the right moment leads nowhere either. Processes are accounted for from outside.
"""

from __future__ import annotations

import asyncio
import errno
import functools
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Protocol, TypeVar, cast

from pi_batch.errors import SandboxError
from pi_batch.porter import wire
from pi_batch.porter.files import require_regular
from pi_batch.protocols import Completed, DirEntry, FileKind, FileStat, SandboxPlace
from pi_batch.sandboxes import doors, local_files
from pi_batch.sandboxes.adoption import ADOPTION
from pi_batch.sandboxes.calls import GRACE_S, LINGER_S, Calls
from pi_batch.sandboxes.disk import LOOK_S, DiskWatch
from pi_batch.sandboxes.ending_inside import end_inside
from pi_batch.sandboxes.limits import Limits
from pi_batch.sandboxes.line import Line
from pi_batch.sandboxes.marks import Mark
from pi_batch.text import one_line

START_S = 20.0
"""How long a sandbox may take to come up."""
END_S = 3.0
"""How long its end may take before it is killed from outside."""
MAX_RESTARTS = 3

Asked = TypeVar("Asked")

_PORTER = "import sys; sys.path.append({root!r}); from pi_batch.porter.serve import main; main({number})"
_OLDEST_PYTHON = 8
_ROOT = str(Path(__file__).resolve().parents[2])


class Enclosure(Protocol):
    """Walls: how to start a porter within them."""

    name: str
    layers: tuple[str, ...]
    """What isolates, strongest first."""
    python: str
    """What runs programs of ours inside."""
    door: str | None
    """A socket's path that the porter calls, where it can inherit no open file; None: it inherits its end."""
    is_remote: bool
    """True where processes inside are not below this one: they are found and signalled from inside."""
    variables: Mapping[str, str]
    """What the program that builds the walls gets."""
    place: SandboxPlace

    def command(self, porter: Sequence[str]) -> tuple[Sequence[str], Sequence[int]]:
        """The command that brings the porter up inside, and files that it inherits. Raises: SandboxError."""
        ...

    async def lock(self, line: Line) -> None:
        """What is left to be done once the porter is up. Raises: SandboxError, OSError."""
        ...

    def environment(self, env: Mapping[str, str]) -> Mapping[str, str]:
        """A command's environment as it has to be inside."""
        ...

    def close(self) -> None:
        """Release what the walls hold."""
        ...

    def force(self) -> None:
        """End what is left inside, where the porter did not go by itself."""
        ...


PLAIN_VARIABLES: Mapping[str, str] = {"PATH": os.defpath, "LANG": "C.UTF-8"}
"""Enough for a program that builds walls here."""


@functools.cache
def porters_python() -> str:
    """The system's Python where it will do, as it starts faster than most others; else ours."""
    system = os.path.realpath("/usr/bin/python3")
    version = system.rpartition("/python3.")[2]
    is_enough = version.isdigit() and int(version) >= _OLDEST_PYTHON and os.access(system, os.X_OK)
    return system if is_enough else os.path.realpath(sys.executable)


def porter_command(number: int) -> list[str]:
    """What runs a porter on an inherited socket."""
    return [
        porters_python(),
        *("-I", "-S", "-X", "utf8", "-c"),
        _PORTER.format(root=_ROOT, number=number),
    ]


class Enclosed:
    """The Sandbox protocol over a porter."""

    def __init__(
        self,
        enclosure: Enclosure,
        limits: Limits,
        *,
        grace_s: float = GRACE_S,
        linger_s: float = LINGER_S,
    ) -> None:
        self.name = enclosure.name
        self.python = enclosure.python
        self._enclosure = enclosure
        self._wanted = limits
        self._limits = limits
        end_inside = self._end_inside if enclosure.is_remote else None
        self._calls = Calls(grace_s=grace_s, linger_s=linger_s, end_inside=end_inside)
        self._line: Line | None = None
        self._child: subprocess.Popen[bytes] | None = None
        self._restarts = 0
        self._coming_up = asyncio.Lock()
        self._listeners: dict[Mark, Callable[[bytes], None]] = {}
        """Who hears what the commands print that run at the moment."""
        self._watching: asyncio.Task[None] | None = None
        self._making_room = asyncio.Lock()
        """Held while everything is ended: what starts in that moment would be ended with it."""
        self._full = ""
        """Why nothing more is written, until a command has had the chance to make room."""

    @property
    def layers(self) -> tuple[str, ...]:
        """What isolates, strongest first; limits as they are kept once it is up."""
        return (*self._enclosure.layers, *self._limits.layers)

    async def start(self) -> None:
        """Bring the walls and the porter up. Raises: SandboxError."""
        if self._calls.is_open:
            return
        if sys.platform != "linux":
            raise SandboxError(f"{self.name}: needs Linux")
        ADOPTION.acquire()
        self._calls.is_open = True
        self._limits = self._wanted.opened()
        try:
            await self._bring_up()
        except BaseException:
            await self.close()
            raise
        place = self._enclosure.place
        disk = DiskWatch((place.root, place.scratch), self._limits.disk_bytes, self._limits.files)
        self._watching = asyncio.create_task(self._watch(disk))

    async def close(self) -> None:
        """End every process inside: TERM, grace, KILL; then the walls."""
        if not self._calls.is_open:
            return
        self._calls.is_open = False
        if self._watching is not None:
            self._watching.cancel()
        try:
            if await self._has_processes():
                await self._calls.end_all()
        finally:
            self._take_down()
            ADOPTION.reap_ended()
            self._calls.forget_all()
            self._enclosure.close()
            self._limits.close()
            ADOPTION.release()

    async def exec(
        self,
        argv: Sequence[str],
        *,
        cwd: str,
        env: Mapping[str, str],
        timeout_s: float,
        on_output: Callable[[bytes], None],
    ) -> Completed:
        """Run a command; see the protocol.

        Raises: SandboxError when the sandbox is not open; OSError when the command cannot be started.
        """
        mark = self._calls.next_mark()
        inside = self._enclosure.environment({**env, **mark.variables})
        async with self._making_room:
            line = await self._porter()
        started = asyncio.get_running_loop().time()
        try:
            command = await line.spawn(argv, cwd=cwd, env=inside, mark=mark.limit)
        except asyncio.CancelledError:
            await self._calls.end_call(mark)
            raise
        except SandboxError:
            if not line.is_closed or not self._calls.is_open:
                raise
            # The command may have begun, and killed the porter before that could answer: no second try.
            spent_s = asyncio.get_running_loop().time() - started
            return Completed(exit_code=None, signal=signal.SIGKILL, timed_out=False, duration_s=spent_s)

        self._listeners[mark], self._full = on_output, ""
        try:
            return await self._calls.run(command, mark, timeout_s, on_output)
        finally:
            self._listeners.pop(mark, None)

    async def _watch(self, disk: DiskWatch) -> None:
        """End every command when together they have written too much, and say so in what they print."""
        while True:
            await asyncio.sleep(LOOK_S)
            if not disk.may_be_over():
                continue
            pids = () if self._enclosure.is_remote else self._calls.pids()
            if complaint := await asyncio.to_thread(disk.complaint, pids):
                for listener in list(self._listeners.values()):
                    listener(f"\n[ended by pi-batch: {complaint}]\n".encode())
                self._full = complaint
                async with self._making_room:
                    await self._calls.end_all()

    async def resolve(self, path: str) -> str:
        """The real path inside. Raises: OSError when links go in a circle."""
        (real,) = await self._ask("resolve", path)
        return os.fsdecode(real)

    async def stat(self, path: str) -> FileStat | None:
        """What is there, links followed."""
        found = await self._ask("stat", path)
        if not found:
            return None
        kind, size, mode, mtime_ns = found
        return FileStat(_kind(kind), int(size), int(mode), int(mtime_ns))

    async def read(self, path: str, *, offset: int = 0, limit_bytes: int | None = None) -> bytes:
        """Bytes of a regular file. Raises: OSError."""
        _, files = await self._asked(lambda line: line.ask("open", _encoded(path)))
        wire.close_all(files[1:])
        if not files:
            raise SandboxError(f"{self.name}: the sandbox sent no file")
        require_regular(os.fstat(files[0]).st_mode, path)
        return local_files.read_opened(files[0], offset, limit_bytes)

    async def write(self, path: str, content: bytes) -> None:
        """Replace a file's content, or make it; see `porter.files.write`. Raises: OSError."""
        if self._full:
            raise OSError(errno.EDQUOT, self._full, path)
        _, files = await self._asked(lambda line: line.ask("write", _encoded(path), content))
        wire.close_all(files)

    async def list(self, path: str) -> list[DirEntry]:
        """A directory's entries by name. Raises: OSError."""
        fields = await self._ask("list", path)
        return [
            DirEntry(os.fsdecode(name), _kind(kind), os.fsdecode(target) if kind == b"link" else None)
            for name, kind, target in zip(fields[::3], fields[1::3], fields[2::3], strict=True)
        ]

    async def connects(self, host: str, port: int) -> bool:
        """True when a TCP connection from inside comes about."""
        with suppress(OSError):
            await self._asked(lambda line: line.ask("connect", host.encode(), b"%d" % port))
            return True
        return False

    async def _ask(self, what: str, path: str) -> Sequence[bytes]:
        fields, files = await self._asked(lambda line: line.ask(what, _encoded(path)))
        wire.close_all(files)
        return fields

    # --- the porter ---------------------------------------------------------------------------------

    async def _asked(self, ask: Callable[[Line], Awaitable[Asked]]) -> Asked:
        """Ask for what may be done twice: again where the porter was killed from inside."""
        line = await self._porter()
        try:
            return await ask(line)
        except SandboxError:
            if not line.is_closed or not self._calls.is_open:
                raise
        return await ask(await self._porter())

    async def _porter(self) -> Line:
        """The line; a porter that was killed from inside is replaced a few times. Raises: SandboxError."""
        async with self._coming_up:
            if not self._calls.is_open:
                raise SandboxError(f"{self.name}: the sandbox is not open")
            has_ended = self._child is None or self._child.poll() is not None
            if self._line is None or self._line.is_closed or has_ended:
                self._restarts += 1
                if self._restarts > MAX_RESTARTS:
                    raise SandboxError(f"{self.name}: the sandbox is ended from inside again and again")
                self._take_down()
                await self._calls.end_all()
                await self._bring_up()
            assert self._line is not None  # noqa: S101 -- for the types
            return self._line

    async def _bring_up(self) -> None:
        """Start a porter within the walls. Raises: SandboxError."""
        complaints = os.memfd_create("pi-batch-complaints")
        try:
            async with asyncio.timeout(START_S):  # both are on the line before the porter is up
                await self._connect(complaints)
                assert self._line is not None  # noqa: S101 -- for the types
                limits = self._line.ask("limits", *self._limits.fields())
                await asyncio.gather(limits, self._enclosure.lock(self._line))
        except (SandboxError, TimeoutError, OSError) as error:
            self._take_down()
            said = one_line(os.pread(complaints, 4096, 0).decode("utf-8", "replace"), 300)
            raise SandboxError(f"{self.name}: does not come up: {said or one_line(str(error))}") from error
        finally:
            os.close(complaints)

    async def _connect(self, complaints: int) -> None:
        """Start the porter, and have a line to it. Raises: SandboxError, OSError."""
        if self._enclosure.door is None:
            ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
            self._line = Line(self.name, ours)
            with theirs:
                self._child = self._launch(theirs.fileno(), complaints)
            return
        with doors.opened(self._enclosure.door) as door:
            self._child = self._launch(door.fileno(), complaints)
            self._line = Line(self.name, await doors.caller(door, self._child))

    def _launch(self, number: int, complaints: int) -> subprocess.Popen[bytes]:
        argv, files = self._enclosure.command(porter_command(number))
        return subprocess.Popen(
            self._limits.command(argv),
            cwd="/",
            env=self._enclosure.variables,
            stdin=subprocess.DEVNULL,
            stdout=complaints,
            stderr=complaints,
            pass_fds=(number, *files),
            start_new_session=True,
        )

    def _take_down(self) -> None:
        """Hang up and see the porter out; what does not go by itself is killed."""
        if self._line is not None:
            self._line.close()
        child, self._child, self._line = self._child, None, None
        if child is None:
            return
        try:
            child.wait(END_S)
        except subprocess.TimeoutExpired:
            child.kill()
            child.wait()
            self._enclosure.force()

    async def _end_inside(self, mark: Mark, grace_s: float, hurry: asyncio.Event) -> int:
        return 0 if self._line is None else await end_inside(self._line, mark, grace_s=grace_s, hurry=hurry)

    async def _has_processes(self) -> bool:
        """False where nothing can be left: no porter ever came up, or it says so."""
        if self._line is None:
            return False
        try:
            fields, _ = await self._line.ask("idle")
        except (OSError, SandboxError):
            return True
        return not (fields and fields[0])


def _kind(kind: bytes) -> FileKind:
    text = kind.decode("ascii", "replace")
    return cast("FileKind", text) if text in ("file", "directory", "link") else "other"


def _encoded(path: str) -> bytes:
    """A path as bytes. Raises: OSError for what no path can hold."""
    try:
        return os.fsencode(path)
    except UnicodeEncodeError as error:
        raise OSError(22, "holds a character that no path can have", path) from error
