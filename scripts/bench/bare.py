"""The least that could do it: an agent loop with httpx and asyncio, without anything that makes it safe.

    python scripts/bench/bare.py MODEL [TASKS JOBS]

No budget, log, report, retry, permission, masking or time limit; commands run in the current directory.
"""

from __future__ import annotations

import asyncio
import json
import os
import sys
from pathlib import Path
from typing import Any

import httpx

_PATH = {"type": "object", "properties": {"path": {"type": "string"}}, "required": ["path"]}
_COMMAND = {"type": "object", "properties": {"command": {"type": "string"}}, "required": ["command"]}
TOOLS = [
    {"type": "function", "function": {"name": "read", "description": "Read a file.", "parameters": _PATH}},
    {"type": "function", "function": {"name": "bash", "description": "Run it.", "parameters": _COMMAND}},
]


async def ask(client: httpx.AsyncClient, url: str, model: str, messages: list[Any]) -> dict[str, Any]:
    """One streamed reply."""
    body = {"model": model, "stream": True, "stream_options": {"include_usage": True}}
    content, calls = "", dict[int, dict[str, Any]]()
    async with client.stream("POST", url, json={**body, "tools": TOOLS, "messages": messages}) as response:
        response.raise_for_status()
        async for line in response.aiter_lines():
            if not line.startswith("data: {"):
                continue
            for choice in json.loads(line[6:])["choices"]:
                delta = choice["delta"]
                content += delta.get("content") or ""
                for call in delta.get("tool_calls", ()):
                    calls.setdefault(call["index"], call)
    reply: dict[str, Any] = {"role": "assistant", "content": content}
    if calls:
        reply["tool_calls"] = [
            {"id": call["id"], "type": "function", "function": call["function"]} for call in calls.values()
        ]
    return reply


async def act(call: dict[str, Any]) -> dict[str, Any]:
    """One tool call."""
    function = call["function"]
    arguments = json.loads(function["arguments"])
    if function["name"] == "read":
        text = Path(arguments["path"]).read_text(encoding="utf-8")
    else:
        process = await asyncio.create_subprocess_shell(
            arguments["command"],
            executable="/bin/bash",
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.STDOUT,
        )
        output, _ = await process.communicate()
        text = output.decode()
    return {"role": "tool", "tool_call_id": call["id"], "content": text}


async def work(client: httpx.AsyncClient, url: str, model: str) -> str:
    """One task; its answer."""
    messages: list[Any] = [
        {"role": "system", "content": "You are an agent."},
        {"role": "user", "content": "Do it."},
    ]
    while True:
        reply = await ask(client, url, model, messages)
        messages.append(reply)
        if "tool_calls" not in reply:
            return str(reply["content"])
        messages += await asyncio.gather(*(act(call) for call in reply["tool_calls"]))


async def main(model: str, tasks: int = 1, jobs: int = 1) -> None:
    """Some tasks, some at a time."""
    slots = asyncio.Semaphore(jobs)
    url = os.environ["OPENAI_BASE_URL"] + "/chat/completions"
    async with httpx.AsyncClient(timeout=600) as client:

        async def one() -> None:
            async with slots:
                answer = await work(client, url, model)
            assert answer  # noqa: S101 - the loop must have come to its end

        await asyncio.gather(*(one() for _ in range(tasks)))


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1], *map(int, sys.argv[2:])))
