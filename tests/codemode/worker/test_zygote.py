"""The zygote's own program, spoken to by hand."""

from __future__ import annotations

import json
import socket
import subprocess
from collections.abc import Iterator
from typing import Any

import pytest

from pi_batch.codemode.worker.frames import FrameReader
from pi_batch.codemode.worker.launch import Launch
from pi_batch.codemode.worker.wire import Ready, message_from
from tests.codemode.worker.rigs import ROOT, RUNNER, needs_isolation

pytestmark = needs_isolation


class Spoken:
    """A zygote and its control socket."""

    def __init__(self) -> None:
        self.control, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self.control.settimeout(20)
        with theirs:
            launch = Launch(needs_seccomp=True, runner=RUNNER, paths=[ROOT])
            self.process: subprocess.Popen[bytes] = launch.start("zygote", theirs)

    def hear(self) -> Any:
        return json.loads(self.control.recv(4096))

    def fork(self, number: int) -> socket.socket:
        own, theirs = socket.socketpair()
        own.settimeout(20)
        with theirs:
            socket.send_fds(self.control, [json.dumps({"fork": number}).encode()], [theirs.fileno()])
        return own

    def kill(self, number: int) -> None:
        self.control.send(json.dumps({"kill": number}).encode())


@pytest.fixture
def spoken() -> Iterator[Spoken]:
    made = Spoken()
    try:
        yield made
    finally:
        made.control.close()
        assert made.process.wait(20) == 0, "it ends when its host goes away"


def first_message(sock: socket.socket) -> object:
    for body in FrameReader().feed(sock.recv(4096)):
        return message_from(body)
    raise AssertionError("no message")


def test_it_tells_what_holds_a_worker_then_forks_and_reports_ends(spoken: Spoken) -> None:
    ready = spoken.hear()["ready"]
    assert ready["refusal"] is None
    assert "seccomp" in ready["layers"]
    one, other = spoken.fork(1), spoken.fork(2)
    with one, other:
        assert first_message(one) == first_message(other) == Ready(tuple(ready["layers"]), None)
        spoken.kill(3)  # nobody
        spoken.kill(2)
        ended = spoken.hear()
        assert (ended["ended"], ended["signal"]) == (2, 9)
    ended = spoken.hear()
    assert (ended["ended"], ended["signal"], ended["exit_code"]) == (1, None, 0)
    assert ended["cpu_s"] < 1


def test_its_workers_end_with_it(spoken: Spoken) -> None:
    spoken.hear()
    with spoken.fork(1) as worker:
        first_message(worker)
        spoken.control.close()
        assert worker.recv(1) == b""
