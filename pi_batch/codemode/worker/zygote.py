"""The program that scripts' workers are forked from: prepared once, single-threaded, trusted.

Exec'd with an empty environment, so that nothing of the runner's memory is in it. It speaks with the runner
over one socket, one JSON message a packet:

    to it:    {"fork": ID} with the worker's socket (SCM_RIGHTS), {"kill": ID}
    from it:  {"ready": {layers, refusal}}, {"ended": ID, "signal", "exit_code", "cpu_s", "error"}

It ends, and its workers with it, when the runner's end of that socket is closed.
"""

from __future__ import annotations

import contextlib
import gc
import json
import os
import select
import signal
import socket
import sys
from collections.abc import Sequence
from typing import Any, NoReturn

from pi_batch.codemode.worker.child import Run, load, probe, serve
from pi_batch.kernel import process

MESSAGE_BYTES = 4096
_KILLED_FIRST = "1000"
"""For /proc/self/oom_score_adj: when memory runs out, a worker goes before anything else; it is inherited."""


def main(arguments: Sequence[str]) -> NoReturn:
    """Prepare, then fork a worker for each script.

    Arguments: the socket's descriptor, the runner's module, "1" where seccomp is needed.
    """
    descriptor, runner, needs_seccomp = arguments
    control = socket.socket(fileno=int(descriptor))
    gc.disable()
    try:
        prepare, run = load(runner)
        prepare()
    except (ImportError, AttributeError, OSError) as error:
        refusal = f"the worker cannot be prepared: {type(error).__name__}: {error}"
        control.sendall(json.dumps({"ready": {"layers": [], "refusal": refusal}}).encode())
        os._exit(1)
    _harden()
    zygote = _Zygote(control, run, needs_seccomp=needs_seccomp == "1")
    gc.freeze()
    zygote.serve()
    os._exit(0)


def _harden() -> None:
    if sys.platform == "linux":
        with contextlib.suppress(OSError):
            descriptor = os.open("/proc/self/oom_score_adj", os.O_WRONLY)
            os.write(descriptor, _KILLED_FIRST.encode())
            os.close(descriptor)
        process.set_dumpable(is_dumpable=False)


class _Zygote:
    """Workers by number, and the socket to the runner."""

    def __init__(self, control: socket.socket, run: Run, *, needs_seccomp: bool) -> None:
        self._run = run
        self._needs_seccomp = needs_seccomp
        self._control = control
        self._ids: dict[int, int] = {}
        """Of the living workers: pid to number."""
        self._wake, wake_end = socket.socketpair()
        self._wake.setblocking(False)
        wake_end.setblocking(False)
        self._wake_end = wake_end
        signal.signal(signal.SIGCHLD, lambda *_: None)
        signal.set_wakeup_fd(wake_end.fileno(), warn_on_full_buffer=False)

    def serve(self) -> None:
        """Until the runner goes away."""
        self._tell({"ready": self._probe()})
        poll = select.poll()
        poll.register(self._control, select.POLLIN)
        poll.register(self._wake, select.POLLIN)
        while True:
            for descriptor, _ in poll.poll():
                if descriptor == self._wake.fileno():
                    self._reap()
                elif not self._obey():
                    self._kill_all()
                    return

    def _obey(self) -> bool:
        """Do what one message says; False at the end of messages."""
        body, descriptors, _, _ = socket.recv_fds(self._control, MESSAGE_BYTES, 1)
        if not body:
            return False
        message = json.loads(body)
        if "fork" in message:
            self._fork(message["fork"], descriptors[0])
            os.close(descriptors[0])
        else:
            self._kill(message["kill"])
        return True

    def _fork(self, number: int, descriptor: int) -> None:
        parent = os.getpid()
        try:
            pid = os.fork()
        except OSError as error:
            self._tell({"ended": number, "signal": None, "exit_code": None, "cpu_s": 0, "error": str(error)})
            return
        if pid == 0:
            serve(descriptor, self._run, parent=parent, needs_seccomp=self._needs_seccomp)
        self._ids[pid] = number

    def _kill(self, number: int) -> None:
        """KILL a worker. Its pid is this process's child and not yet reaped, hence still its own."""
        for pid, known in self._ids.items():
            if known == number:
                with contextlib.suppress(OSError):
                    os.kill(pid, signal.SIGKILL)

    def _kill_all(self) -> None:
        for pid in self._ids:
            with contextlib.suppress(OSError):
                os.kill(pid, signal.SIGKILL)
        for pid in self._ids:
            with contextlib.suppress(OSError):
                os.waitpid(pid, 0)

    def _reap(self) -> None:
        with contextlib.suppress(BlockingIOError):
            while self._wake.recv(MESSAGE_BYTES):
                pass
        with contextlib.suppress(ChildProcessError):
            while True:
                pid, status, usage = os.wait4(-1, os.WNOHANG)
                if pid == 0:
                    return
                self._tell_end(self._ids.pop(pid, 0), status, usage.ru_utime + usage.ru_stime)

    def _tell_end(self, number: int, status: int, cpu_s: float) -> None:
        code = os.waitstatus_to_exitcode(status)
        self._tell(
            {
                "ended": number,
                "signal": -code if code < 0 else None,
                "exit_code": code if code >= 0 else None,
                "cpu_s": round(cpu_s, 3),
                "error": None,
            }
        )

    def _tell(self, message: dict[str, Any]) -> None:
        with contextlib.suppress(BrokenPipeError, ConnectionResetError):  # the next read finds the end
            self._control.sendall(json.dumps(message).encode())

    def _probe(self) -> dict[str, Any]:
        """What workers are held by here, found out by locking one that runs nothing."""
        reading, writing = os.pipe()
        parent = os.getpid()
        pid = os.fork()
        if pid == 0:
            try:
                ready = probe(parent=parent, needs_seccomp=self._needs_seccomp)
                os.write(writing, json.dumps([ready.layers, ready.refusal]).encode())
            finally:
                os._exit(0)
        os.close(writing)
        with os.fdopen(reading, "rb") as pipe:
            body = pipe.read()
        os.waitpid(pid, 0)
        layers, refusal = json.loads(body) if body else [[], "the worker died while it was being locked"]
        return {"layers": layers, "refusal": refusal}
