"""Landlock, by effect."""

from __future__ import annotations

import errno
import os
import signal
import socket
from pathlib import Path

import pytest

from pi_batch.kernel import landlock, process
from tests.kernel.children import errno_of, in_child, needs_landlock

pytestmark = needs_landlock


def denied(path: Path | str, flags: int = os.O_RDONLY) -> int:
    return errno_of(os.open, path, flags, 0o600)


def test_with_no_rule_nothing_can_be_opened_or_made(tmp_path: Path) -> None:
    (tmp_path / "here").write_text("x")

    def payload() -> list[int]:
        process.no_new_privs()
        landlock.restrict()
        return [
            denied(tmp_path / "here"),
            denied(tmp_path / "new", os.O_WRONLY | os.O_CREAT),
            errno_of(os.mkdir, tmp_path / "folder"),
            errno_of(os.unlink, tmp_path / "here"),
            errno_of(os.listdir, tmp_path),
            errno_of(os.execv, "/bin/true", ["true"]),
        ]

    assert in_child(payload).value == [errno.EACCES] * 6
    assert (tmp_path / "here").read_text() == "x"


def test_what_may_be_read_cannot_be_changed(tmp_path: Path) -> None:
    (tmp_path / "here").write_text("x")

    def payload() -> list[int]:
        process.no_new_privs()
        landlock.restrict(read=[tmp_path])
        return [
            denied(tmp_path / "here"),
            errno_of(os.listdir, tmp_path),
            denied(tmp_path / "here", os.O_WRONLY),
            errno_of(os.unlink, tmp_path / "here"),
            denied("/etc/passwd"),
        ]

    assert in_child(payload).value == [0, 0, errno.EACCES, errno.EACCES, errno.EACCES]


def test_what_may_be_written_can_be_read_made_moved_and_removed(tmp_path: Path) -> None:
    (tmp_path / "here").write_text("x")
    (tmp_path / "folder").mkdir()

    def payload() -> list[int]:
        process.no_new_privs()
        landlock.restrict(write=[tmp_path])
        return [
            denied(tmp_path / "here"),
            denied(tmp_path / "new", os.O_WRONLY | os.O_CREAT),
            errno_of(os.truncate, tmp_path / "new", 0),
            errno_of(os.rename, tmp_path / "new", tmp_path / "folder/new"),
            errno_of(os.symlink, "x", tmp_path / "link"),
            errno_of(os.unlink, tmp_path / "here"),
            denied("/etc/passwd"),
        ]

    assert in_child(payload).value == [0, 0, 0, 0, 0, 0, errno.EACCES]


def test_a_single_file_can_be_given(tmp_path: Path) -> None:
    (tmp_path / "one").write_text("x")
    (tmp_path / "other").write_text("x")

    def payload() -> list[int]:
        process.no_new_privs()
        landlock.restrict(read=[tmp_path / "one"], write=["/dev/null"])
        return [denied(tmp_path / "one"), denied(tmp_path / "other"), denied("/dev/null", os.O_WRONLY)]

    assert in_child(payload).value == [0, errno.EACCES, 0]


def test_a_path_that_is_not_there_is_an_error(tmp_path: Path) -> None:
    assert "FileNotFoundError" in in_child(lambda: landlock.restrict(read=[tmp_path / "none"])).value


@pytest.mark.skipif(landlock.abi() < 4, reason="no TCP rules in this kernel")
def test_tcp_is_ended_only_where_asked() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        address = server.getsockname()

        def payload(*, blocks_tcp: bool) -> list[int]:
            process.no_new_privs()
            landlock.restrict(blocks_tcp=blocks_tcp)
            with socket.socket() as client, socket.socket() as own:
                return [errno_of(client.connect, address), errno_of(own.bind, ("127.0.0.1", 0))]

        assert in_child(lambda: payload(blocks_tcp=True)).value == [errno.EACCES] * 2
        assert in_child(lambda: payload(blocks_tcp=False)).value == [0, 0]


@pytest.mark.skipif(landlock.abi() < 6, reason="no scopes in this kernel")
def test_signals_and_abstract_sockets_end_at_the_scope_only_where_asked() -> None:
    name = f"\0pi-batch-test-{os.getpid()}"
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(name)
        server.listen()
        parent = os.getpid()

        def payload(*, is_scoped: bool) -> list[int]:
            process.no_new_privs()
            landlock.restrict(is_scoped=is_scoped)
            with socket.socket(socket.AF_UNIX) as client:
                return [errno_of(os.kill, parent, signal.SIGCONT), errno_of(client.connect, name)]

        assert in_child(lambda: payload(is_scoped=True)).value == [errno.EPERM] * 2
        assert in_child(lambda: payload(is_scoped=False)).value == [0, 0]


def test_the_abi_used_is_told() -> None:
    def payload() -> int:
        process.no_new_privs()
        return landlock.restrict()

    assert in_child(payload).value == landlock.abi()


@pytest.mark.parametrize(
    ("version", "rights"),
    [(1, 0x1FFF), (2, 0x3FFF), (3, 0x7FFF), (4, 0x7FFF), (5, 0xFFFF), (6, 0xFFFF), (9, 0xFFFF)],
)
def test_every_right_that_an_abi_knows_is_handled(version: int, rights: int) -> None:
    assert landlock._handled(version) == rights
