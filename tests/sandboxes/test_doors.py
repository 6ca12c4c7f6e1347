"""A door is there until somebody has called, for whoever may enter its directory."""

from __future__ import annotations

import socket
import stat
import subprocess
from pathlib import Path

import pytest

from pi_batch.errors import SandboxError
from pi_batch.sandboxes import doors


async def test_whoever_calls_is_on_the_line_and_the_door_is_gone(tmp_path: Path) -> None:
    deep = tmp_path / ("d" * 120)  # longer than an address may be
    deep.mkdir()
    path = deep / "door" / "socket"
    with doors.opened(str(path)) as door, subprocess.Popen(["sleep", "600"]) as child:
        assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700
        with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as caller:
            link = tmp_path / "l"
            link.symlink_to(path)
            caller.connect(str(link))
            with await doors.caller(door, child) as line:
                caller.send(b"hello")
                assert line.recv(99) == b"hello"
        child.kill()
    assert not path.exists()


async def test_a_program_that_ends_without_a_call_is_said(tmp_path: Path) -> None:
    with (
        doors.opened(str(tmp_path / "door" / "socket")) as door,
        subprocess.Popen(["false"]) as child,
        pytest.raises(SandboxError, match="ended with exit code 1"),
    ):
        await doors.caller(door, child)


def test_what_lay_there_before_is_replaced(tmp_path: Path) -> None:
    path = tmp_path / "door" / "socket"
    path.parent.mkdir()
    path.write_text("old", encoding="ascii")
    with doors.opened(str(path)):
        assert stat.S_ISSOCK(path.stat().st_mode)
