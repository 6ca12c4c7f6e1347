"""The runner's end of the line to a porter: requests out, answers and exits in.

What comes from inside is believed as far as it concerns the sandbox itself, and read with care: it may be
anything.
"""

from __future__ import annotations

import asyncio
import itertools
import os
import signal
import socket
from collections.abc import Mapping, Sequence

from pi_batch.errors import SandboxError
from pi_batch.porter import wire
from pi_batch.sandboxes.output import Output

ANSWER_S = 60.0
"""How long an answer may take: a file operation on a slow disk, not a command."""

Answer = tuple[list[bytes], list[int]]
"""Fields, and files that are the asker's to close."""


class RemoteCommand:
    """A command that a porter started."""

    def __init__(self) -> None:
        self.output = Output()
        self.returncode: int | None = None
        """The exit code, minus the signal that ended it, or None while it runs."""

    @property
    def leaders(self) -> tuple[int, ...]:
        """Unknown here: what it started is found by its mark."""
        return ()

    def ended(self, code: int) -> None:
        """It has exited."""
        self.returncode = code
        self.output.wake()

    def close(self) -> None:
        """Let go of the pipe."""
        self.output.close()


class Line:
    """One porter at work."""

    def __init__(self, name: str, end: socket.socket) -> None:
        self._name = name
        self._end = end
        self._loop = asyncio.get_running_loop()
        self._numbers = itertools.count(1)
        self._waiting: dict[bytes, asyncio.Future[Answer]] = {b"": self._loop.create_future()}
        self._running: dict[bytes, RemoteCommand] = {}
        self._sending = asyncio.Lock()
        self.is_closed = False
        """True once the porter or its runner has gone."""
        end.setblocking(False)
        self._loop.add_reader(end, self._take)

    async def ready(self, timeout_s: float) -> None:
        """Wait until the porter is up. Raises: SandboxError, TimeoutError."""
        async with asyncio.timeout(timeout_s):
            await self._waiting[b""]

    async def ask(self, what: str, *fields: bytes, files: Sequence[int] = ()) -> Answer:
        """Have something done. Raises: OSError as it came up inside; SandboxError when nobody answers."""
        return await self._ask(b"%d" % next(self._numbers), what, fields, files)

    async def spawn(
        self, argv: Sequence[str], *, cwd: str, env: Mapping[str, str], mark: int
    ) -> RemoteCommand:
        """Start a command. Raises: OSError when it cannot be started; SandboxError."""
        number = b"%d" % next(self._numbers)
        words = [os.fsencode(word) for word in argv]
        variables = [os.fsencode(f"{name}={value}") for name, value in env.items()]
        _refuse_nul(*words, *variables, os.fsencode(cwd))
        command = RemoteCommand()
        self._running[number] = command
        fields = (b"%d" % mark, os.fsencode(cwd), b"%d" % len(words), *words, *variables)
        try:
            await self._ask(number, "spawn", fields, (command.output.writing_end,))
        except BaseException:
            self._running.pop(number, None)
            command.close()
            raise
        finally:
            os.close(command.output.writing_end)
        return command

    def close(self) -> None:
        """Hang up: the porter ends all that it started, and itself."""
        self._hang_up("was closed")

    async def _ask(self, number: bytes, what: str, fields: Sequence[bytes], files: Sequence[int]) -> Answer:
        if self.is_closed:
            raise SandboxError(f"{self._name}: the sandbox was ended from inside")
        answer = self._waiting[number] = self._loop.create_future()
        try:
            async with asyncio.timeout(ANSWER_S):
                await self._send([number, what.encode(), *fields], files)
                (kind, *rest), sent = await answer
        except TimeoutError as error:
            raise SandboxError(f"{self._name}: the sandbox does not answer") from error
        finally:
            self._waiting.pop(number, None)
        if kind == b"ok":
            return rest, sent
        wire.close_all(sent)
        raise _error(rest)

    async def _send(self, fields: Sequence[bytes], files: Sequence[int]) -> None:
        async with self._sending:
            while True:
                try:
                    wire.send(self._end, fields, files)
                except BlockingIOError:
                    await asyncio.sleep(0.005)
                except OSError as error:
                    self._hang_up(f"was ended from inside ({error.strerror})")
                    raise SandboxError(f"{self._name}: the sandbox was ended from inside") from error
                else:
                    return

    def _take(self) -> None:
        """One message from inside."""
        try:
            message = wire.receive(self._end)
        except BlockingIOError:
            return
        except (OSError, wire.WireError):
            message = None
        if message is None or len(message[0]) < 2:
            self._hang_up("was ended from inside")
            return
        (number, kind, *rest), sent = message
        if kind == b"exit" and number in self._running:
            wire.close_all(sent)
            code = rest[0] if rest else b""
            is_code = code.removeprefix(b"-").isdigit() and len(code) < 5
            self._running.pop(number).ended(int(code) if is_code else -signal.SIGKILL)
        elif (answer := self._waiting.get(number)) is not None and not answer.done():
            answer.set_result(([kind, *rest], sent))
        else:
            wire.close_all(sent)

    def _hang_up(self, why: str) -> None:
        if self.is_closed:
            return
        self.is_closed = True
        self._loop.remove_reader(self._end)
        self._end.close()
        for answer in self._waiting.values():
            if not answer.done():
                answer.set_exception(SandboxError(f"{self._name}: the sandbox {why}"))
                answer.exception()  # nobody may be waiting any more
        for command in self._running.values():
            command.ended(-signal.SIGKILL)
        self._running.clear()


def _refuse_nul(*texts: bytes) -> None:
    if any(b"\0" in text for text in texts):
        raise OSError(22, "cannot be passed to a program: embedded null byte")


def _error(fields: Sequence[bytes]) -> OSError:
    """An error as it came up inside."""
    code, text, name = [*fields, b"", b"", b""][:3]
    number = int(code) if code.isdigit() and len(code) < 6 else 5
    return OSError(number, text.decode("utf-8", "replace"), os.fsdecode(name) or None)
