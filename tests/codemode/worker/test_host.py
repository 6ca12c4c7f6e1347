"""Scripts in real workers: what they say arrives, what they do to themselves is told, nothing stays."""

from __future__ import annotations

import asyncio
import signal
import sys
import time

import pytest

from pi_batch.codemode.worker.host import Zygote
from pi_batch.errors import SandboxError
from pi_batch.sandboxes.processes import snapshot
from tests.codemode.worker.rigs import (
    ROOT,
    RUNNER,
    Rig,
    children,
    kill,
    needs_isolation,
    pid_of,
    reason,
    run,
    zygote,
)
from tests.living import until

pytestmark = needs_isolation

CALLS = """
host.call(1, "echo", {"value": {"deep": [1, "é", None]}})
host.call(2, "fail", {})
replies = {}
while len(replies) < 2:
    reply = host.receive(None)
    replies[reply.call_id] = [reply.value, reply.error]
value = [replies[1], replies[2]]
"""


async def test_scripts_run_call_print_return_and_leave_no_process() -> None:
    rig = Rig()
    async with zygote() as made:
        assert "seccomp" in await made.ready()
        before = children()
        end = await run(made, CALLS + "\nhost.output('printed\\n'); host.image('aGk=', 'image/png')", rig)
        assert end.value == [[{"deep": [1, "é", None]}, None], [None, "it failed"]]
        assert (rig.text, rig.images) == ("printed\n", [("aGk=", "image/png")])
        assert children() == before
    assert not children() & before


async def test_nothing_survives_into_the_next_script() -> None:
    async with zygote() as made:
        await run(made, "import re, builtins; re.mark = builtins.mark = 1")
        end = await run(made, "import re, builtins; value = [hasattr(re, 'mark'), hasattr(builtins, 'mark')]")
        assert end.value == [False, False]


async def test_scripts_run_side_by_side() -> None:
    source = "host.call(1, 'wait', {'value': 0.2}); value = host.receive(None).call_id"
    rig = Rig()
    async with zygote() as made:
        ends = await asyncio.gather(*[run(made, source, rig) for _ in range(2)])
    assert [end.value for end in ends] == [1, 1]
    assert rig.most_running == 2


DEATHS = {
    "raises": ("1 / 0", "ZeroDivisionError: division by zero"),
    "asks to exit": ("raise SystemExit(3)", "SystemExit: 3"),
    "is interrupted": ("raise KeyboardInterrupt", "KeyboardInterrupt: "),
    "crashes": (
        "import ctypes; ctypes.string_at(0)",
        "WorkerError: the script crashed its process (SIGSEGV)",
    ),
    "leaves": ("import os; os._exit(7)", "the script's process ended by itself (exit code 7)"),
    "takes memory at once": ("x = bytearray(10**9)", "MemoryError: the script used more than 512 MiB"),
    "returns no JSON": ("value = object()", "ValueError: what the script returned or stored is not JSON"),
}


async def test_how_a_script_dies_is_told_and_the_next_one_runs() -> None:
    async with zygote() as made:
        for source, expected in DEATHS.values():
            rig = Rig()
            end = await run(made, f"host.output('partial')\n{source}", rig, timeout_s=20)
            assert expected in reason(end)
            assert rig.text == "partial"
        assert (await run(made, "value = 1")).value == 1


async def test_a_script_is_killed_at_its_deadline_whatever_it_ignores() -> None:
    source = """
import signal
for number in set(signal.Signals) - {signal.SIGKILL, signal.SIGSTOP}:
    try: signal.signal(number, signal.SIG_IGN)
    except (OSError, ValueError): pass
host.call(1, "wait", {})
while True:
    try:
        while True: pass
    except BaseException: pass
"""
    rig = Rig()
    async with zygote() as made:
        await made.ready()
        before = children()
        started = time.monotonic()
        end = await run(made, source, rig, timeout_s=0.3)
        assert 0.3 <= time.monotonic() - started < 1.3
        assert "took longer than 0.3 s" in reason(end)
        assert children() == before
    assert rig.cancelled == [1]


async def test_a_cancelled_run_leaves_no_process_and_no_call() -> None:
    rig = Rig()
    async with zygote() as made:
        await made.ready()
        before = children()
        task = asyncio.create_task(run(made, "host.call(1, 'wait', {})\nwhile True: pass", rig))
        await until(lambda: rig.running)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert rig.cancelled == [1]
        assert children() == before


async def test_an_error_of_the_host_ends_the_script_and_comes_out() -> None:
    async with zygote() as made:
        with pytest.raises(LookupError):
            await run(made, "host.call(1, 'raise', {}); host.receive(None)")
        assert (await run(made, "value = 1")).value == 1


async def test_a_dead_zygote_is_started_again() -> None:
    async with zygote() as made:
        await made.ready()
        kill(pid_of(made), signal.SIGKILL)
        assert (await run(made, "value = 1")).value == 1
        first = pid_of(made)
        kill(first, signal.SIGKILL)
        await asyncio.sleep(0.05)
        assert (await run(made, "value = 2")).value == 2
        assert pid_of(made) != first


async def test_a_zygote_that_dies_under_a_script_takes_it_along() -> None:
    rig = Rig()
    async with zygote() as made:
        await made.ready()
        task = asyncio.create_task(run(made, "host.call(1, 'wait', {})\nwhile True: pass", rig))
        await until(lambda: rig.running)
        kill(pid_of(made), signal.SIGKILL)
        assert "the process that workers come from has ended" in reason(await task)
        await until(lambda: not children())
        assert (await run(made, "value = 1")).value == 1


@pytest.mark.slow
async def test_a_zygote_that_hangs_is_killed_when_it_does_not_kill() -> None:
    async with zygote() as made:
        await made.ready()
        task = asyncio.create_task(run(made, "while True: pass", timeout_s=0.3))
        await asyncio.sleep(0.1)
        kill(pid_of(made), signal.SIGSTOP)
        started = time.monotonic()
        assert "took longer" in reason(await task)
        assert time.monotonic() - started < 3
        await until(lambda: not children())


HOST = """
import asyncio, os, signal, sys
from tests.codemode.worker.rigs import Rig, children, run, zygote

async def main():
    async with zygote() as made:
        rig = Rig()
        task = asyncio.create_task(run(made, "host.call(1, 'wait', {})\\nwhile True: pass", rig))
        while not rig.running:
            await asyncio.sleep(0.01)
        print(*children(), flush=True)
        os.kill(os.getpid(), signal.SIGKILL)

asyncio.run(main())
"""


async def test_zygote_and_workers_end_when_their_host_is_killed() -> None:
    host = await asyncio.create_subprocess_exec(
        sys.executable, "-c", HOST, cwd=ROOT, stdout=asyncio.subprocess.PIPE
    )
    printed, _ = await host.communicate()
    pids = [int(pid) for pid in printed.split()]
    assert len(pids) == 2
    await until(lambda: not [pid for pid in pids if (each := snapshot().get(pid)) and not each.is_zombie])


async def test_a_worker_that_cannot_be_prepared_is_an_error_that_says_why() -> None:
    made = Zygote(runner="no.such.module")
    with pytest.raises(SandboxError, match="cannot be prepared: ModuleNotFoundError: No module named 'no'"):
        await made.ready()
    await made.close()


@pytest.mark.slow
async def test_where_forks_are_not_usable_each_script_has_a_program_of_its_own() -> None:
    rig = Rig()
    made = Zygote(runner=RUNNER, paths=[ROOT], can_fork=False)
    await made.start()
    try:
        assert (await run(made, "host.output('x'); value = 1", rig)).value == 1
        assert "seccomp" in made.layers
        assert rig.text == "x"
        assert "took longer" in reason(await run(made, "while True: pass", timeout_s=0.4))
        assert "SIGSEGV" in reason(await run(made, "import ctypes; ctypes.string_at(0)"))
    finally:
        await made.close()
    assert not children()


async def test_closing_what_never_started_is_nothing() -> None:
    await Zygote().close()
