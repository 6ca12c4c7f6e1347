"""Real workers that do their worst: they end in time, are told apart, and the run goes on."""

from __future__ import annotations

import asyncio
import time

import pytest

from pi_batch.codemode.values import MAX_OUTPUT_CHARS
from pi_batch.codemode.worker.host import Zygote, _death
from pi_batch.codemode.worker.processes import Ending
from tests.codemode.worker.rigs import ROOT, Rig, children, needs_isolation, reason, run, zygote

pytestmark = needs_isolation

FRAME = """
import json, os, struct
def frame(value):
    body = json.dumps(value).encode()
    return struct.pack(">I", len(body)) + body
"""

ENDED_AT_ONCE = {
    "floods with empty output": (
        FRAME + "piece = frame({'kind': 'output', 'text': ''}) * 1000\nwhile True: os.write(3, piece)",
        "more than 100,000 messages",
    ),
    "floods with output": (
        FRAME + "piece = frame({'kind': 'output', 'text': 'x' * 60000})\nwhile True: os.write(3, piece)",
        f"more than {MAX_OUTPUT_CHARS:,} characters of output",
    ),
    "floods with bytes": (
        "import os\nwhile True: os.write(3, b'\\xff' * 65536)",
        "a frame of 4,294,967,295 bytes",
    ),
    "claims a large frame": (
        FRAME + "os.write(3, struct.pack('>I', 1 << 30)); host.receive(None)",
        "a frame of",
    ),
    "nests deeply": (
        FRAME + "body = b'[' * 100000; os.write(3, struct.pack('>I', len(body)) + body); host.receive(None)",
        "not JSON: RecursionError",
    ),
    "sends bombs of brackets": (
        FRAME + "body = b'[' + b'{},' * 1000000 + b'0]'\n"
        "os.write(3, struct.pack('>I', len(body)) + body); host.receive(None)",
        "more than 250,000 lists and objects",
    ),
    "calls without end": (
        "for number in range(1, 100): host.call(number, 'wait', {})\nhost.receive(None)",
        "at once",
    ),
    "calls what it may not": (
        "host.call(1, 'codemode', {}); host.receive(None)",
        "'codemode', which is no tool",
    ),
    "dies in a frame": (FRAME + "os.write(3, struct.pack('>I', 100) + b'{'); os._exit(0)", "ended by itself"),
    "fakes its end and goes on": (
        FRAME + "error = {'type': 'E', 'text': 'mine', 'line': None}\n"
        "os.write(3, frame({'kind': 'end', 'status': 'failed', 'value': None, 'has_value': False,"
        " 'error': error, 'store': None, 'notes': []}))\nwhile True: pass",
        "E: mine",
    ),
    "closes its socket": ("import os; os.close(3)\nwhile True: pass", "closed its connection and went on"),
    "crashes by C recursion": (
        "import itertools\nx = iter([])\nfor _ in range(10**6): x = itertools.chain(x)\nnext(x)",
        "crashed its process (SIGSEGV)",
    ),
    "takes memory in steps": ("x = []\nwhile True: x.append(bytearray(10**6))", "more than 512 MiB"),
    "takes memory by mapping": (
        "import mmap\nx = [mmap.mmap(-1, 10**8) for _ in range(10)]",
        "Cannot allocate",
    ),
    "makes a large number": ("x = 1 << (1 << 33)", "more than 512 MiB"),
    "returns too many things": (
        "value = [{}] * 300_000",
        "what the script returned or stored is more than 250,000",
    ),
    "raises a memory error of its own": ("raise MemoryError('my words')", "MemoryError: my words"),
    "returns too much": ("value = 'x' * 17_000_000", "bytes as JSON, more than 16,777,216"),
}


@pytest.mark.slow
@pytest.mark.parametrize(("source", "expected"), ENDED_AT_ONCE.values(), ids=ENDED_AT_ONCE.keys())
async def test_a_worker_is_ended_at_once_that(source: str, expected: str) -> None:
    rig = Rig()
    async with zygote() as made:
        await made.ready()
        before = children()
        started = time.monotonic()
        end = await run(made, source, rig, timeout_s=30)
        assert expected in reason(end)
        assert time.monotonic() - started < 10
        assert children() == before
        assert rig.running == 0
        assert (await run(made, "value = 1")).value == 1


OUTLASTED = {
    "computes": "while True: pass",
    "computes in C": "import re; re.match('(a+)+b', 'a' * 60)",
    "sleeps": "import time; time.sleep(60)",
    "waits for a reply": "host.call(1, 'wait', {}); host.receive(None)",
    "never reads what it asked for": (
        "for number in range(1, 5): host.call(number, 'big', {'value': 4_000_000})\n"
        "import time; time.sleep(60)"
    ),
    "swallows everything": "while True:\n try:\n  while True: pass\n except BaseException: pass",
    "writes to nobody": FRAME + "os.write(3, struct.pack('>I', 1000)); import time; time.sleep(60)",
}


@pytest.mark.slow
@pytest.mark.parametrize("source", OUTLASTED.values(), ids=OUTLASTED.keys())
async def test_at_the_deadline_a_worker_is_gone_that(source: str) -> None:
    rig = Rig()
    async with zygote() as made:
        await made.ready()
        before = children()
        started = time.monotonic()
        end = await run(made, f"host.output('kept')\n{source}", rig, timeout_s=0.5)
        assert 0.5 <= time.monotonic() - started < 1.5
        assert "took longer than 0.5 s" in reason(end)
        assert rig.text == "kept"
        assert rig.running == 0
        assert children() == before


@pytest.mark.slow
async def test_a_million_prints_arrive_whole_and_leave_the_host_free() -> None:
    rig = Rig()
    longest = 0.0
    async with zygote() as made:
        await made.ready()
        source = "for number in range(1_000_000): host.output(f'{number}\\n')"
        task = asyncio.create_task(run(made, source, rig, timeout_s=60))
        while not task.done():
            before = time.monotonic()
            await asyncio.sleep(0)
            longest = max(longest, time.monotonic() - before)
        assert (await task).status == "completed"
    assert rig.text == "".join(f"{number}\n" for number in range(1_000_000))
    assert longest < 0.5


async def test_the_first_prints_are_there_even_if_the_process_dies_at_once() -> None:
    rig = Rig()
    async with zygote() as made:
        source = "for number in range(500): host.output(f'{number} ')\nimport ctypes; ctypes.string_at(0)"
        await run(made, source, rig)
    assert rig.text == "".join(f"{number} " for number in range(500))


@pytest.mark.slow
async def test_processor_time_is_a_backstop_that_is_told() -> None:
    made = Zygote(runner="tests.codemode.worker.quick_runner", paths=[ROOT])
    try:
        end = await run(made, "while True: pass", timeout_s=30)
        assert reason(end) == "TimeoutError: the script used more than 30 s of CPU time"
        ignoring = "import signal; signal.signal(signal.SIGXCPU, signal.SIG_IGN)\nwhile True: pass"
        assert "killed" in reason(await run(made, ignoring, timeout_s=30))
    finally:
        await made.close()


@pytest.mark.slow
async def test_many_scripts_one_after_another_leave_nothing() -> None:
    async with zygote() as made:
        await made.ready()
        before = children()
        for number in range(200):
            assert (await run(made, f"value = {number}")).value == number
        ends = await asyncio.gather(*[run(made, f"value = {number}") for number in range(50)])
        assert [end.value for end in ends] == list(range(50))
        assert children() == before


@pytest.mark.parametrize(
    ("ending", "expected"),
    [
        (Ending(24, None, 30.0), "TimeoutError: the script used more than 30 s of CPU time"),
        (Ending(9, None, 31.0), "TimeoutError: the script used more than 30 s of CPU time"),
        (Ending(9, None, 1.0), "MemoryError: the script's process was killed: this machine has no memory"),
        (Ending(11, None), "WorkerError: the script crashed its process (SIGSEGV)"),
        (Ending(31, None), "WorkerError: the script crashed its process (SIGSYS)"),
        (Ending(40, None), "WorkerError: the script crashed its process (signal 40)"),
        (Ending(None, 0), "WorkerError: the script's process ended by itself (exit code 0)"),
        (Ending(None, None, error="no process left"), "could not go on: no process left"),
    ],
)
def test_every_way_to_end_has_its_words(ending: Ending, expected: str) -> None:
    assert expected in reason(_death(ending))
