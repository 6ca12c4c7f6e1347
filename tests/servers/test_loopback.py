"""The loopback server as a whole: scripts, keys, overflow, and as a program of its own."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from pi_batch.messages import user_text
from tests.providers.asking import ask, failure, provider, request
from tests.servers import Call, Drop, LoopbackServer, Raw, Refuse, Reply, Wire, load_steps

ROOT = Path(__file__).parents[2]


def test_steps_are_read_from_a_file(tmp_path: Path) -> None:
    script = tmp_path / "script.json"
    entries: list[Any] = [
        {
            "reply": {"text": "hi", "calls": [{"name": "ls"}], "quirks": ["no_done"], "wire": {"crlf": True}},
            "repeat": 2,
        },
        {"refuse": {"status": 429, "headers": {"retry-after": "1"}}},
        {"raw": {"frames": [{"choices": []}], "wire": {"gzip": True}}},
        {"drop": {"how": "close"}},
    ]
    script.write_text(json.dumps(entries), encoding="utf-8")
    reply = Reply("hi", calls=(Call("ls"),), quirks=("no_done",), wire=Wire(crlf=True))
    assert load_steps(script) == [
        reply,
        reply,
        Refuse(429, headers={"retry-after": "1"}),
        Raw(frames=({"choices": []},), wire=Wire(gzip=True)),
        Drop("close"),
    ]


async def test_a_script_at_its_end_says_so() -> None:
    async with LoopbackServer([Reply("one")]) as server:
        asked = provider(server.url)
        await ask(asked, request())
        error = await failure(asked, request())
        await asked.close()
    assert "the script is at its end" in str(error)


async def test_steps_by_turn_serve_many_tasks_at_once() -> None:
    steps = [Reply(calls=(Call("ls"),)), Reply("done")]

    async def task(asked: Any, number: int) -> str:
        from tests.providers.histories import result

        history: list[Any] = [user_text(f"task {number}")]
        _, message = await ask(asked, request(*history, session_id=str(number)))
        history += [message, result(message.tool_calls[0].id, "x")]
        _, message = await ask(asked, request(*history, session_id=str(number)))
        return str(message.text)

    async with LoopbackServer(steps, by_turn=True) as server:
        asked = provider(server.url)
        assert await asyncio.gather(*(task(asked, number) for number in range(5))) == ["done"] * 5
        await asked.close()
        assert server.refused == []
        assert len(server.requests) == 10


@pytest.mark.parametrize("service", ["openai-chat", "openai", "anthropic", "google"])
async def test_a_request_beyond_the_context_is_an_overflow(service: str) -> None:
    async with LoopbackServer([Reply("never")], context_tokens=100) as server:
        asked = provider(server.url, service)
        model = "claude-sonnet-5" if service == "anthropic" else "gpt-4.1"
        error = await failure(asked, request(user_text("word " * 600), model=model))
        await asked.close()
        assert len(server.requests) == 1
        assert len(server.refused) == 1
    assert (error.kind, error.is_retryable) == ("context_overflow", False)


async def test_an_unknown_path_is_not_found() -> None:
    async with LoopbackServer([]) as server:
        asked = provider(f"{server.url}/elsewhere/v1")
        error = await failure(asked, request())
        await asked.close()
    assert (error.kind, error.status) == ("invalid_request", 404)
    assert "is http://127.0.0.1" in str(error)


async def test_it_runs_as_a_program_and_prints_its_address(tmp_path: Path) -> None:
    script = tmp_path / "script.json"
    script.write_text('[{"reply": {"text": "from a program"}}]', encoding="utf-8")
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "tests.servers", "--key", "sk-test-0123456789", str(script),
        stdout=subprocess.PIPE, cwd=ROOT,
    )  # fmt: skip
    try:
        assert process.stdout is not None
        url = (await process.stdout.readline()).decode().strip()
        asked = provider(url)
        _, message = await ask(asked, request())
        await asked.close()
    finally:
        process.terminate()
        await process.wait()
    assert message.text == "from a program"
