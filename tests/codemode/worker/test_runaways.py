"""Scripts that run away, in the real language and the real process: each ends in time, in words, alone."""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import Any

import pytest

from pi_batch.codemode.values import MAX_OUTPUT_CHARS, CallReply, ScriptEnd, ScriptRequest
from pi_batch.codemode.worker.host import Zygote
from tests.codemode.worker.rigs import TOOLS, Rig, children, needs_isolation, reason

pytestmark = [pytest.mark.slow, needs_isolation]

LIMIT_S = 1.0

ENDLESS = {
    "a loop": "while True:\n    pass",
    "a loop that catches all": "while True:\n    try:\n        while True: pass\n    except:\n        pass",
    "a loop that sleeps": (
        "while True:\n    try:\n        await asyncio.sleep(0.01)\n    except BaseException:\n        pass"
    ),
    "a loop of tasks": (
        "async def f():\n    while True:\n        await asyncio.sleep(0)\nawait gather(f(), f(), f())"
    ),
    "an endless iterator": "for x in iter(int, 1):\n    pass",
    "a search without end": "import itertools\nprint(1 in itertools.repeat(0))",
    "a maximum without end": "import itertools\nprint(max(itertools.count()))",
    "a sum without end": "import itertools\nprint(sum(itertools.repeat(0)))",
    "a pattern that backtracks": "import re\nprint(re.match('(a+)+b', 'a' * 64))",
    "a naive recursion": "def f(n):\n    return n if n < 2 else f(n - 1) + f(n - 2)\nprint(f(60))",
    "a recursion in finally": "def f():\n    try:\n        f()\n    finally:\n        f()\nf()",
    "a large power": "x = 3 ** (10 ** 9)",
    "a large factorial": "import math\nmath.factorial(10 ** 8)",
    "a wait for a slow tool": "await tools.wait()",
    "waits for many slow tools": "await gather(*[tools.wait() for _ in range(100)])",
    "a tool's error swallowed for ever": (
        "while True:\n    try:\n        await tools.wait()\n    except BaseException:\n        pass"
    ),
    "hashes that collide": (
        "class K:\n    def __hash__(self):\n        return 1\n"
        "    def __eq__(self, other):\n        return False\n"
        "d = {K(): 1 for _ in range(10 ** 6)}"
    ),
}
ENDED = {
    "a list without end": ("x = []\nwhile True:\n    x.append('x' * 100000)", "MiB"),
    "a long text": ("x = 'a' * 10 ** 10", "MiB"),
    "a text padded at length": ("print(len('a'.ljust(10 ** 10)))", "MiB"),
    "a format of great width": ("print(len(f'{1:>{10 ** 10}}'))", "MiB"),
    "a long list": ("x = list(range(10 ** 10))", "MiB"),
    "a product": ("import itertools\nx = list(itertools.product(range(1000), repeat=4))", "MiB"),
    "a text that doubles": ("s = 'a' * 2000\nfor _ in range(40):\n    s = s.replace('a', 'aa')", "MiB"),
    "a recursion": ("def f():\n    f()\nf()", "RecursionError"),
    "iterators in iterators": (
        "import itertools\nx = iter([])\nfor _ in range(10 ** 6):\n    x = itertools.chain(x)\nnext(x)",
        "crashed its process (SIGSEGV)",
    ),
    "maps in maps": (
        "x = iter([1])\nfor _ in range(10 ** 6):\n    x = map(int, x)\nnext(x)",
        "crashed its process (SIGSEGV)",
    ),
    "output without end": ("while True:\n    print('spam' * 10000)", "16 Mi characters"),
    "calls without end": ("while True:\n    await tools.echo(value=1)", "1000 tool calls"),
    "a wait for nothing": ("async def f():\n    await t\nt = asyncio.create_task(f())\nawait t", ""),
    "a script too long": ("#" * 300_000, "Refused"),
    "brackets too deep": ("x = " + "[" * 5000 + "]" * 5000, "Refused"),
    "operators too many": ("x = " + "-" * 20_000 + "1", "Refused"),
}


async def ended(made: Zygote, source: str, rig: Rig, timeout_s: float) -> tuple[ScriptEnd, float]:
    await made.ready()
    before = children()
    started = time.monotonic()
    end = await made.run(
        ScriptRequest(source, TOOLS, timeout_s=timeout_s), rig.on_call, rig.output.append, rig.on_image
    )
    took_s = time.monotonic() - started
    assert rig.running == 0
    assert children() == before
    after = await made.run(ScriptRequest("return 1", TOOLS), rig.on_call, rig.output.append, rig.on_image)
    assert after.value == 1
    return end, took_s


@pytest.mark.parametrize("source", ENDLESS.values(), ids=ENDLESS.keys())
async def test_at_its_deadline_a_script_is_gone_that_is(source: str) -> None:
    made = Zygote()
    rig = Rig()
    try:
        end, took_s = await ended(made, f"print('kept')\n{source}", rig, LIMIT_S)
        assert took_s < LIMIT_S + 1
        assert "took longer than 1 s" in reason(end) or "MiB" in reason(end)
        assert rig.text == "kept\n"
        assert len(rig.calls) <= 16
    finally:
        await made.close()


@pytest.mark.parametrize(("source", "expected"), ENDED.values(), ids=ENDED.keys())
async def test_before_its_deadline_a_script_ends_in_words_that_is(source: str, expected: str) -> None:
    made = Zygote()
    rig = Rig()
    try:
        end, took_s = await ended(made, source, rig, 30)
        assert took_s < 15
        assert expected in reason(end)
        assert len(rig.text) <= MAX_OUTPUT_CHARS
    finally:
        await made.close()


async def test_what_a_script_asked_for_after_it_was_ended_never_happens() -> None:
    """Calls that were cancelled with their script have no effect later."""
    done: list[int] = []

    class Late(Rig):
        async def on_call(self, call_id: int, name: str, arguments: Mapping[str, Any]) -> CallReply:
            reply = await super().on_call(call_id, name, arguments)
            done.append(call_id)
            return reply

    made = Zygote()
    rig = Late()
    try:
        wait = "await asyncio.wait_for(tools.wait(value=0.4), 0.05)"
        source = f"try:\n    {wait}\nexcept TimeoutError:\n    pass\n"
        end, _ = await ended(made, source, rig, 30)
        assert end.status == "completed"
        assert rig.cancelled == [1]
        assert done == []
    finally:
        await made.close()
