"""A sandbox in memory, for tests: files are values, commands do what the test says."""

from __future__ import annotations

import asyncio
import errno
import itertools
import os
import posixpath
import sys
from collections.abc import Callable, Mapping, Sequence

from msgspec import Struct
from msgspec.structs import replace

from pi_batch.errors import SandboxError
from pi_batch.protocols import Completed, DirEntry, FileKind, FileStat

MAX_LINKS = 40
"""In one path, as on Linux."""


class FakeFile(Struct, frozen=True):
    """One path of the fake: a file with content, a link with a target, a directory, or something else."""

    content: bytes = b""
    mode: int = 0o644
    kind: FileKind = "file"
    link_target: str = ""
    mtime_ns: int = 0


class FakeCall(Struct, frozen=True):
    """What `exec` was asked for."""

    argv: tuple[str, ...]
    cwd: str
    env: Mapping[str, str]
    timeout_s: float


class FakeRun(Struct, frozen=True):
    """What a command does."""

    output: bytes = b""
    exit_code: int = 0
    signal: int | None = None
    """Ends it in place of the exit code."""
    duration_s: float = 0.0
    """Waited for in fact; beyond the time limit it times out."""


def no_commands(call: FakeCall) -> FakeRun:
    """No program is installed."""
    raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), call.argv[0])


class FakeSandbox:
    """The Sandbox protocol without a machine."""

    name = "fake"
    layers: tuple[str, ...] = ()
    python = sys.executable

    def __init__(
        self,
        files: Mapping[str, bytes | FakeFile] | None = None,
        run: Callable[[FakeCall], FakeRun] = no_commands,
    ) -> None:
        self.files: dict[str, FakeFile] = {"/": _DIRECTORY}
        """Every path there is, by its real name; hard links do not exist here."""
        self.calls: list[FakeCall] = []
        self._run = run
        self._is_open = False
        self._ticks = itertools.count(1)
        for path, file in (files or {}).items():
            self._add(path, FakeFile(file) if isinstance(file, bytes) else file)

    async def start(self) -> None:
        """Open it."""
        self._is_open = True

    async def close(self) -> None:
        """Close it; files stay to be looked at."""
        self._is_open = False

    async def exec(
        self,
        argv: Sequence[str],
        *,
        cwd: str,
        env: Mapping[str, str],
        timeout_s: float,
        on_output: Callable[[bytes], None],
    ) -> Completed:
        """Do what the test says. Raises: SandboxError when not open; OSError without such a program."""
        if not self._is_open:
            raise SandboxError("fake: the sandbox is not open")
        if self._kind_of(cwd) != "directory":
            raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), cwd)
        call = FakeCall(tuple(argv), cwd, dict(env), timeout_s)
        self.calls.append(call)
        run = self._run(call)
        if run.output:
            on_output(run.output)
        timed_out = run.duration_s > timeout_s
        await asyncio.sleep(min(run.duration_s, timeout_s))
        exit_code = None if timed_out or run.signal is not None else run.exit_code
        return Completed(exit_code, run.signal, timed_out, min(run.duration_s, timeout_s))

    async def resolve(self, path: str) -> str:
        """The real path, links before `..`. Raises: OSError when links go in a circle."""
        if not path.startswith("/") or "\0" in path:
            raise OSError(errno.EINVAL, "is not a possible absolute path", path)
        return self._walk(path)

    async def stat(self, path: str) -> FileStat | None:
        """What is there, links followed."""
        try:
            file = self.files.get(await self.resolve(path))
        except OSError as error:
            if error.errno == errno.ELOOP:
                return None
            raise
        return None if file is None else FileStat(file.kind, len(file.content), file.mode, file.mtime_ns)

    async def read(self, path: str, *, offset: int = 0, limit_bytes: int | None = None) -> bytes:
        """Bytes of a file. Raises: OSError."""
        content = self._regular(await self.resolve(path)).content
        return content[offset : None if limit_bytes is None else offset + limit_bytes]

    async def write(self, path: str, content: bytes) -> None:
        """Replace a file's content, keeping its mode, or make it with its parents. Raises: OSError."""
        real = await self.resolve(path)
        old = self._regular(real) if real in self.files else FakeFile()
        self._add(real, replace(old, content=content, mtime_ns=next(self._ticks)))

    async def list(self, path: str) -> list[DirEntry]:
        """A directory's entries by name. Raises: OSError."""
        real = await self.resolve(path)
        if real not in self.files:
            raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), path)
        if self.files[real].kind != "directory":
            raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR), path)
        children = sorted(child for child in self.files if posixpath.dirname(child) == real and child != "/")
        return [
            DirEntry(posixpath.basename(child), file.kind, file.link_target or None)
            for child in children
            for file in (self.files[child],)
        ]

    def _walk(self, path: str) -> str:
        """Follow a path part by part."""
        real, rest, links = "/", path.split("/"), 0
        while rest:
            part = rest.pop(0)
            if part in {"", "."}:
                continue
            if part == "..":
                real = posixpath.dirname(real)
                continue
            real = posixpath.join(real, part)
            file = self.files.get(real)
            if file is not None and file.kind == "link":
                links += 1
                if links > MAX_LINKS:
                    raise OSError(errno.ELOOP, os.strerror(errno.ELOOP), path)
                rest = [*file.link_target.split("/"), *rest]
                real = "/" if file.link_target.startswith("/") else posixpath.dirname(real)
        return real

    def _kind_of(self, path: str) -> FileKind | None:
        file = self.files.get(self._walk(path))
        return None if file is None else file.kind

    def _regular(self, real: str) -> FakeFile:
        """A file. Raises: OSError for what is no regular file."""
        file = self.files.get(real)
        if file is None:
            raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), real)
        if file.kind == "directory":
            raise IsADirectoryError(errno.EISDIR, "is a directory", real)
        if file.kind != "file":
            raise OSError(errno.EINVAL, "is something else, not a regular file", real)
        return file

    def _add(self, path: str, file: FakeFile) -> None:
        """Put a path there, with its parents."""
        parent = posixpath.dirname(path)
        if parent not in self.files:
            self._add(parent, _DIRECTORY)
        elif self.files[parent].kind != "directory":
            raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR), path)
        self.files[path] = file


_DIRECTORY = FakeFile(mode=0o755, kind="directory")
