"""Pull requests over HTTP: one per branch."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

import pytest

from pi_batch.publishing.github import ForgeError, Repository, publish
from tests.servers.http_server import Connection, Request, serve

TOKEN = "token-of-this-test"


@dataclass
class Forge:
    """As much of GitHub as this needs."""

    open: list[dict[str, Any]] = field(default_factory=list)
    seen: list[Request] = field(default_factory=list)
    refuses: tuple[int, object] | None = None
    api: str = ""

    async def answer(self, request: Request, connection: Connection) -> None:
        self.seen.append(request)
        assert request.headers["authorization"] == f"Bearer {TOKEN}"
        if self.refuses is not None:
            await connection.document(*self.refuses)
        elif request.method == "GET":
            await connection.document(200, self.open)
        else:
            made = {"number": 7, "html_url": "https://github.example/o/r/pull/7", **json.loads(request.body)}
            if request.method == "POST":
                self.open.append(made)
            await connection.document(201 if request.method == "POST" else 200, made)


@asynccontextmanager
async def running(forge: Forge) -> AsyncIterator[Repository]:
    server = await serve(forge.answer, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    try:
        yield Repository("o/r", TOKEN, f"http://127.0.0.1:{port}/api/v3/")
    finally:
        server.close()
        await server.wait_closed()


async def publish_to(repository: Repository, title: str = "Mend it", *, is_new: bool = True) -> str:
    return await publish(
        repository, branch="pi-batch/mend", base="main", title=title, body="Body.", is_new=is_new
    )


async def test_a_pull_request_is_opened_as_a_draft_and_then_updated() -> None:
    forge = Forge()
    async with running(forge) as repository:
        assert await publish_to(repository) == "https://github.example/o/r/pull/7"
        assert await publish_to(repository, "Mend it again") == "https://github.example/o/r/pull/7"
    methods = [(request.method, request.path.split("?")[0]) for request in forge.seen]
    assert methods == [
        ("GET", "/api/v3/repos/o/r/pulls"),
        ("POST", "/api/v3/repos/o/r/pulls"),
        ("GET", "/api/v3/repos/o/r/pulls"),
        ("PATCH", "/api/v3/repos/o/r/pulls/7"),
    ]
    assert "head=o%3Api-batch%2Fmend" in forge.seen[0].path
    assert json.loads(forge.seen[1].body) == {
        "title": "Mend it",
        "body": "Body.",
        "head": "pi-batch/mend",
        "base": "main",
        "draft": True,
    }
    assert json.loads(forge.seen[3].body) == {"title": "Mend it again", "body": "Body."}


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        ((422, {"message": "Validation Failed", "errors": [{"message": "No commits"}]}), "No commits"),
        ((403, {"message": "Resource not accessible by integration"}), "not accessible"),
        ((502, "<html>Bad gateway</html>"), "HTTP 502"),
        ((200, "<html>a proxy's page</html>"), "HTTP 200"),
    ],
)
async def test_a_refusal_is_one_line_with_the_services_word(answer: tuple[int, object], said: str) -> None:
    async with running(Forge(refuses=answer)) as repository:
        with pytest.raises(ForgeError) as refused:
            await publish_to(repository)
    assert said in str(refused.value)
    assert "\n" not in str(refused.value)
    assert TOKEN not in str(refused.value)


async def test_a_service_that_is_not_there_is_an_error() -> None:
    with pytest.raises(ForgeError, match="GET /repos/o/r/pulls: ConnectError"):
        await publish_to(Repository("o/r", TOKEN, "http://127.0.0.1:9"))


def test_a_token_is_never_shown() -> None:
    assert TOKEN not in repr(Repository("o/r", TOKEN))


async def test_what_a_person_closed_stays_closed_until_there_is_something_new() -> None:
    forge = Forge(open=[{"number": 3, "state": "closed", "merged_at": None, "html_url": "https://h/3"}])
    async with running(forge) as repository:
        assert await publish_to(repository, is_new=False) == "https://h/3"
        assert [request.method for request in forge.seen] == ["GET"]
        assert await publish_to(repository) == "https://github.example/o/r/pull/7"


async def test_after_a_merge_there_may_be_another() -> None:
    forge = Forge(
        open=[{"number": 3, "state": "closed", "merged_at": "2026-01-01", "html_url": "https://h/3"}]
    )
    async with running(forge) as repository:
        assert await publish_to(repository, is_new=False) == "https://github.example/o/r/pull/7"
