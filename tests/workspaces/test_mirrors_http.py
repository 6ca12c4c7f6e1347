"""Mirrors of repositories behind HTTP: a password in the address gets in, and is seen nowhere."""

from __future__ import annotations

import base64
import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from pi_batch.errors import WorkspaceError
from pi_batch.repository_address import address_of
from pi_batch.wiring.repositories import Repositories
from pi_batch.wiring.surroundings import Surroundings
from tests.servers.http_server import Connection, Request, serve
from tests.workspaces.mirroring import Forge
from tests.workspaces.repositories import git

pytestmark = pytest.mark.slow
ALLOWED = f"Basic {base64.b64encode(b'me:pa:55').decode()}"


class Private:
    """A bare repository as files, for those who have the password."""

    def __init__(self, forge: Forge) -> None:
        self.forge = forge
        git(forge.bare, "update-server-info")
        self.seen: list[str] = []

    async def answer(self, request: Request, connection: Connection) -> None:
        path = self.forge.bare / request.path.split("?")[0].removeprefix("/me/r.git/")
        self.seen.append(request.headers.get("authorization", ""))
        is_in = self.seen[-1] == ALLOWED
        status = 401 if not is_in else 200 if path.is_file() else 404
        challenge = [] if is_in else [("WWW-Authenticate", "Basic realm=x")]
        await connection.head(status, [("content-type", "application/octet-stream"), *challenge])
        await connection.chunk(path.read_bytes() if status == 200 else b"")
        await connection.end()


@asynccontextmanager
async def running(private: Private) -> AsyncIterator[str]:
    server = await serve(private.answer, "127.0.0.1", 0)
    try:
        yield f"127.0.0.1:{server.sockets[0].getsockname()[1]}/me/r.git"
    finally:
        server.close()
        await server.wait_closed()


def repositories(tmp_path: Path) -> Repositories:
    environ = {"PATH": os.environ["PATH"], "HOME": str(tmp_path)}
    return Repositories(Surroundings(tmp_path, environ), tmp_path / "mirrors")


async def test_a_password_in_the_address_gets_in_and_is_seen_nowhere(tmp_path: Path) -> None:
    forge = Forge(tmp_path)
    async with running(Private(forge)) as place:
        mirror = await repositories(tmp_path).mirror(address_of(f"http://me:pa%3A55@{place}"))
    assert (await mirror.position("main")).commit == git(forge.work, "rev-parse", "HEAD")
    assert mirror.address.url == f"http://{place}"
    stored = b"".join(path.read_bytes() for path in (tmp_path / "mirrors").rglob("*") if path.is_file())
    assert b"pa:55" not in stored
    assert b"pa%3A55" not in stored


@pytest.mark.parametrize("user", ["", "me:wrong@", "token@"])
async def test_without_the_right_one_nobody_is_asked_and_it_is_one_line(tmp_path: Path, user: str) -> None:
    private = Private(Forge(tmp_path))
    async with running(private) as place:
        with pytest.raises(WorkspaceError) as caught:
            await repositories(tmp_path).mirror(address_of(f"http://{user}{place}"))
    assert str(caught.value).startswith(f"http://{place}: cannot be fetched: ")
    assert "\n" not in str(caught.value)
    assert "wrong" not in str(caught.value)
    assert private.seen
