"""What the model services' side costs, beside a bare httpx loop in the same run.

    python -m scripts.bench_providers

CPU seconds of this process only; the service answers from a process of its own on loopback.
"""

# ruff: noqa: INP001 - a script, no package

from __future__ import annotations

import asyncio
import json
import resource
import subprocess
import sys
import tempfile
from collections.abc import Awaitable, Callable
from pathlib import Path
from statistics import median
from time import process_time
from typing import Any

from pi_batch.messages import AssistantMessage, Message, TextBlock, ToolCall, ToolResultMessage, user_text
from pi_batch.protocols import Delta, ModelRequest, ToolDeclaration
from pi_batch.providers.anthropic_wire import MessagesRules, messages_body, messages_tools
from pi_batch.providers.catalog import SERVICES
from pi_batch.providers.encoded import EncodedHistory
from pi_batch.providers.endpoint import Endpoint
from pi_batch.providers.openai_chat import OpenAIChat
from pi_batch.providers.openai_wire import ChatRules, chat_body, chat_tools

ROOT = Path(__file__).parents[1]
DELTAS = 20_000
REQUESTS = 200
TOOL = ToolDeclaration("read", "Read a file", {"type": "object", "properties": {"path": {"type": "string"}}})


def say(name: str, figure: float, unit: str, beside: float | None = None) -> None:
    """One line of the report."""
    ratio = f"   bare httpx {beside:8.3f} {unit}   ratio {figure / beside:.2f}" if beside else ""
    sys.stdout.write(f"{name:44} {figure:8.3f} {unit}{ratio}\n")


def child_ms(code: str) -> float:
    """CPU milliseconds that some code takes in a fresh interpreter, beyond starting it."""
    script = f"import asyncio, time\nstart = time.process_time()\n{code}\nprint(time.process_time() - start)"
    runs = [
        float(
            subprocess.run([sys.executable, "-c", script], capture_output=True, check=True, cwd=ROOT).stdout
        )
        for _ in range(5)
    ]
    return median(runs) * 1000


def history(turns: int, chars: int) -> list[Message]:
    """A task of so many turns, each result of so many characters."""
    messages: list[Message] = [user_text("do it")]
    for number in range(turns):
        call = ToolCall(f"call_{number}", "read", {"path": f"src/file{number}.py"})
        content = (TextBlock("Reading the next file."), call)
        messages.append(AssistantMessage(content, "tool_use", "openai-chat", "gpt-4.1"))
        text = "def f(x):\n\treturn 'ü' + x\n" * (chars // 27)
        messages.append(ToolResultMessage(call.id, "read", (TextBlock(text),)))
    return messages


def encode_ms(turns: int, *, is_chat: bool) -> tuple[float, int]:
    """CPU milliseconds to build the request of one more turn, and the body's bytes."""
    model = "gpt-4.1" if is_chat else "claude-sonnet-5"
    service = SERVICES["openai-chat" if is_chat else "anthropic"]
    rules: Any = (
        ChatRules(service.compat, service.name, model) if is_chat else MessagesRules(service.name, model)
    )
    kept = EncodedHistory(rules)
    messages = history(turns + 50, 2_050)
    times, size = [], 0
    for extra in range(50):
        sent = tuple(messages[: 1 + 2 * (turns + extra)])
        request = ModelRequest(model, "Be good. " * 1000, sent, (TOOL,), 9_000, None, 60.0, "s")
        start = process_time()
        units = kept.encode(sent)
        if is_chat:
            body = chat_body(request, service.compat, units, kept.tools(request.tools, chat_tools))
        else:
            body = messages_body(request, service, units, kept.tools(request.tools, messages_tools))
        if extra:
            times.append((process_time() - start) * 1000)
        size = len(body)
    return median(times), size


async def cpu(work: Callable[[], Awaitable[int]]) -> float:
    """CPU seconds per counted thing."""
    start = process_time()
    count = await work()
    return (process_time() - start) / count


async def measure(url: str) -> None:
    """Everything that needs the service."""
    provider = OpenAIChat(SERVICES["llamacpp"], Endpoint("llamacpp", url))

    def request(text: str) -> ModelRequest:
        return ModelRequest("m", "s", (user_text(text),), (), 9_000, None, 600.0)

    async def ours(text: str, times: int) -> int:
        deltas = 0
        for _ in range(times):
            async for item in provider.stream(request(text)):
                deltas += isinstance(item, Delta)
        return deltas if times == 1 else times

    await ours("few", 1)
    import httpx

    client = httpx.AsyncClient(verify=False, trust_env=False)  # noqa: S501 - loopback without TLS

    async def bare(text: str, times: int) -> int:
        body = {"model": "m", "stream": True, "messages": [{"role": "user", "content": text}]}
        deltas = 0
        for _ in range(times):
            async with client.stream(
                "POST", f"{url}/v1/chat/completions", json=body, timeout=600
            ) as response:
                async for line in response.aiter_lines():
                    if line.startswith("data: {"):
                        deltas += bool(json.loads(line[6:])["choices"])
        return deltas if times == 1 else times

    await bare("few", 1)
    for name, unit, scale, text, times in (
        ("CPU of a streamed delta", "µs", 1e6, "many", 1),
        ("CPU of a request of five deltas", "ms", 1e3, "few", REQUESTS),
    ):
        pairs = [
            (await cpu(lambda t=text, n=times: ours(t, n)), await cpu(lambda t=text, n=times: bare(t, n)))
            for _ in range(5)
        ]
        figure, beside = (median(side) for side in zip(*pairs, strict=True))
        say(name, figure * scale, unit, beside * scale)
    await provider.close()
    await client.aclose()


FIRST_OURS = """
from pi_batch.messages import user_text
from pi_batch.protocols import ModelRequest
from pi_batch.providers.catalog import SERVICES
from pi_batch.providers.endpoint import Endpoint
from pi_batch.providers.openai_chat import OpenAIChat
async def main():
    provider = OpenAIChat(SERVICES['llamacpp'], Endpoint('llamacpp', '{url}'))
    async for item in provider.stream(ModelRequest('m', 's', (user_text('few'),), (), 9, None, 60.0)):
        pass
    await provider.close()
asyncio.run(main())
"""
FIRST_BARE = """
import httpx, json
async def main():
    async with httpx.AsyncClient() as client:
        body = {{'model': 'm', 'stream': True, 'messages': [{{'role': 'user', 'content': 'few'}}]}}
        async with client.stream('POST', '{url}/v1/chat/completions', json=body) as response:
            async for line in response.aiter_lines():
                if line.startswith('data: {{'): json.loads(line[6:])
asyncio.run(main())
"""
STEPS = """
import asyncio, sys
from tests.servers import LoopbackServer, Reply
def answer(body):
    return Reply('word ' * ({deltas} if body['messages'][-1]['content'] == 'many' else 5), piece_chars=5)
async def main():
    async with LoopbackServer(answer, profile='llamacpp') as server:
        print(server.url, flush=True)
        await asyncio.Event().wait()
asyncio.run(main())
"""


def main() -> int:
    """Print the figures."""
    code = STEPS.format(deltas=DELTAS)
    with tempfile.TemporaryFile() as errors:
        server = subprocess.Popen(
            [sys.executable, "-c", code], stdout=subprocess.PIPE, stderr=errors, cwd=ROOT
        )
        try:
            assert server.stdout is not None  # noqa: S101 - a pipe was asked for
            url = server.stdout.readline().decode().strip()
            lean = child_ms("from pi_batch.providers.http import load_httpx\nload_httpx()")
            say("import of httpx, its command line left out", lean, "ms", child_ms("import httpx"))
            first, bare = (child_ms(code.format(url=url)) for code in (FIRST_OURS, FIRST_BARE))
            say("first request, imports included", first, "ms", bare)
            asyncio.run(measure(url))
        finally:
            server.kill()
            server.wait()
    for is_chat in (True, False):
        early, _ = encode_ms(10, is_chat=is_chat)
        late, size = encode_ms(200, is_chat=is_chat)
        wire = "Chat" if is_chat else "Messages"
        say(f"{wire}: body of turn 10", early, "ms")
        say(f"{wire}: body of turn 200 ({size / 1000:.0f} kB)", late, "ms")
    peak_mb = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    say("peak memory of this script", peak_mb, "MB")
    return 0


if __name__ == "__main__":
    sys.exit(main())
