"""The process of one script, from the fork to its end: lock, read the script, run it, say how it ended.

`serve` never returns, and nothing leaves it by an exception.
"""

from __future__ import annotations

import gc
import importlib
import json
import os
import select
import signal
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NoReturn

from pi_batch.codemode.values import (
    MAX_MEMORY_BYTES,
    CallReply,
    ScriptEnd,
    ScriptError,
    ScriptHost,
    ScriptRequest,
)
from pi_batch.codemode.worker import lockdown
from pi_batch.codemode.worker.frames import (
    MAX_CALL_BYTES,
    FrameError,
    FrameReader,
    encoded,
    encoded_by_worker,
)
from pi_batch.codemode.worker.wire import (
    Call,
    Drop,
    Image,
    Message,
    Output,
    Ready,
    message_json,
    reply_from,
    request_from,
)

DESCRIPTOR = 3
"""The one socket of a worker, whatever number it comes by; 0 to 2 are /dev/null."""
PIECE_CHARS = 64 * 1024
AT_ONCE_PIECES = 1000
"""Pieces of output that are sent one by one. Who prints more has them gathered."""
GATHER_CHARS = 8 * 1024
GATHER_S = 0.01
_READ_BYTES = 256 * 1024
_MOST_DESCRIPTORS = 1024
"""More than the program that starts workers ever has open."""
_FOREVER_S = 1e9
_LONGEST_POLL_S = 3600.0
"""Poll takes no number of milliseconds beyond 32 bits."""
_BROKEN = 70
"""The exit code of a worker that could not say how its script ended."""

Run = Callable[[ScriptRequest, ScriptHost], ScriptEnd]


def load(runner: str) -> tuple[Callable[[], None], Run]:
    """The `prepare` and `run_script` of a module named by the program that starts workers."""
    module = importlib.import_module(runner)
    return module.prepare, module.run_script


def serve(descriptor: int, run: Run, *, parent: int | None, needs_seccomp: bool) -> NoReturn:
    """Be the worker of the one script that comes on this socket, then end."""
    try:
        _keep_only(descriptor)
        _reset_signals()
        port = _Port(DESCRIPTOR)
        ready = _locked(parent, needs_seccomp=needs_seccomp)
        port.send(ready)
        if ready.refusal is None:
            _run(port, run)
        os._exit(0)
    finally:
        os._exit(_BROKEN)


def probe(*, parent: int | None, needs_seccomp: bool) -> Ready:
    """What `serve` would be held by, tried in this process, which is good for nothing else then."""
    return _locked(parent, needs_seccomp=needs_seccomp)


def _locked(parent: int | None, *, needs_seccomp: bool) -> Ready:
    try:
        layers = lockdown.lock(parent=parent)
    except (OSError, ValueError) as error:
        return Ready((), f"the worker cannot be locked: {error}")
    if needs_seccomp and "seccomp" not in layers:
        return Ready(layers, "the kernel does not take a system-call filter (seccomp)")
    return Ready(layers, None)


def _keep_only(descriptor: int) -> None:
    """Close every descriptor but this one and 0 to 2, which lead nowhere since the program's start."""
    if descriptor != DESCRIPTOR:
        os.dup2(descriptor, DESCRIPTOR, inheritable=False)
    os.closerange(DESCRIPTOR + 1, _MOST_DESCRIPTORS)


def _reset_signals() -> None:
    signal.set_wakeup_fd(-1)
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    signal.signal(signal.SIGINT, signal.SIG_DFL)


def _run(port: _Port, run: Run) -> None:
    """Read the request, run it, tell the end; the last words are made before the script may use memory up."""
    out_of_memory = encoded(message_json(_failed("MemoryError", memory_text())))
    gc.enable()
    request = port.request()
    if request is None:
        return
    try:
        end = run(request, port)
        port.flush()
        port.send(end)
    except MemoryError as error:
        error.__traceback__ = None  # lets go of what the script holds
        port.write(_last_words(error) if error.args else out_of_memory)
    except FrameError as error:
        port.send(_failed("ValueError", f"what the script returned or stored is {error}"))
    except BaseException as error:  # noqa: BLE001 -- the last words of a process: no one is above it
        port.write(_last_words(error))


def _last_words(error: BaseException) -> bytes:
    return encoded(message_json(_failed(type(error).__name__, str(error))))


def _failed(kind: str, text: str) -> ScriptEnd:
    return ScriptEnd("failed", error=ScriptError(kind, text))


def memory_text() -> str:
    """For the model, when the memory was not enough."""
    return f"the script used more than {MAX_MEMORY_BYTES // 1024**2} MiB of memory"


class _Port:
    """The script's host as seen from here: a socket, by read and write alone."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor
        self._reader = FrameReader()
        self._frames: list[bytes] = []
        self._poll = select.poll()
        self._poll.register(descriptor, select.POLLIN)
        self._pieces = 0
        self._gathered: list[str] = []
        self._gathered_chars = 0
        self._sent_at = 0.0

    # --- ScriptHost ---------------------------------------------------------------------------------

    def call(self, call_id: int, name: str, arguments: Mapping[str, Any]) -> None:
        """Start a tool call. Raises: FrameError (a ValueError) for arguments that are no JSON or too long."""
        frame = encoded_by_worker(message_json(Call(call_id, name, arguments)), limit_bytes=MAX_CALL_BYTES)
        self.flush()
        self.write(frame)

    def drop(self, call_id: int) -> None:
        """End a call that nobody waits for."""
        self.flush()
        self.write(encoded(message_json(Drop(call_id))))

    def output(self, text: str) -> None:
        """Print; from a certain number of pieces on they are gathered for a moment."""
        self._gathered.append(text)
        self._gathered_chars += len(text)
        self._pieces += 1
        if (
            self._pieces <= AT_ONCE_PIECES
            or self._gathered_chars >= GATHER_CHARS
            or time.monotonic() - self._sent_at >= GATHER_S
        ):
            self.flush()

    def image(self, data: str, mime_type: str) -> None:
        """Show an image. Raises: FrameError (a ValueError) for one that is too large."""
        frame = encoded(message_json(Image(data, mime_type)))
        self.flush()
        self.write(frame)

    def receive(self, timeout_s: float | None) -> CallReply | None:
        """The next reply. A host that has gone away ends the process: no one waits for it any more."""
        self.flush()
        deadline = time.monotonic() + (_FOREVER_S if timeout_s is None else timeout_s)
        while not self._frames:
            left_s = max(0.0, deadline - time.monotonic())
            if self._poll.poll(min(left_s, _LONGEST_POLL_S) * 1000):
                self._read()
            elif left_s <= _LONGEST_POLL_S:
                return None
        return reply_from(json.loads(self._frames.pop(0)))

    # --- the socket ---------------------------------------------------------------------------------

    def request(self) -> ScriptRequest | None:
        """The script, once it is there."""
        while not self._frames:
            self._read()
        return request_from(json.loads(self._frames.pop(0)))

    def flush(self) -> None:
        """Send what was gathered."""
        if not self._gathered:
            return
        text = "".join(self._gathered)
        self._gathered.clear()
        self._gathered_chars = 0
        for start in range(0, len(text), PIECE_CHARS):
            self.send(Output(text[start : start + PIECE_CHARS]))
        self._sent_at = time.monotonic()

    def send(self, message: Message) -> None:
        """Write a message."""
        self.write(encoded_by_worker(message_json(message)))

    def write(self, frame: bytes) -> None:
        """Write a frame, whole; a host that has gone away ends the process."""
        left = memoryview(frame)
        while left:
            try:
                left = left[os.write(self._descriptor, left) :]
            except OSError:
                os._exit(0)

    def _read(self) -> None:
        piece = os.read(self._descriptor, _READ_BYTES)
        if not piece:
            os._exit(0)
        self._frames += self._reader.feed(piece)


def main(arguments: Sequence[str]) -> NoReturn:
    """The program of a system without usable forks: prepare, lock, wait for the one script.

    Arguments: the socket's descriptor, the runner's module, "1" where seccomp is needed.
    """
    descriptor, runner, needs_seccomp = arguments
    gc.disable()
    prepare, run = load(runner)
    prepare()
    gc.freeze()
    serve(int(descriptor), run, parent=None, needs_seccomp=needs_seccomp == "1")
