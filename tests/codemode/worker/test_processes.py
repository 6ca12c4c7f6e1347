"""Where workers come from, below the host: endings, restarts, spares."""

from __future__ import annotations

import asyncio
import signal

import pytest

from pi_batch.codemode.worker.launch import Launch
from pi_batch.codemode.worker.processes import Forking, Spawning
from tests.codemode.worker.rigs import ROOT, RUNNER, children, kill, needs_isolation
from tests.living import until

pytestmark = needs_isolation

LAUNCH = Launch(needs_seccomp=True, runner=RUNNER, paths=[ROOT])


async def test_a_killed_worker_is_reported_with_its_signal() -> None:
    forking = Forking(LAUNCH)
    try:
        await forking.ready()
        worker = forking.worker()
        with worker.socket:
            worker.kill()
            worker.kill()
            ending = await asyncio.wait_for(worker.ended, 5)
        worker.kill()  # nothing any more
        assert (ending.signal, ending.exit_code) == (signal.SIGKILL, None)
    finally:
        await forking.close()
    assert not forking.is_alive
    await forking.close()


async def test_a_worker_whose_host_closes_ends_by_itself() -> None:
    forking = Forking(LAUNCH)
    try:
        worker = forking.worker()  # even before the zygote is ready
        worker.socket.close()
        ending = await asyncio.wait_for(worker.ended, 10)
        assert (ending.signal, ending.exit_code) == (None, 0)
    finally:
        await forking.close()


async def test_a_zygote_that_is_gone_gives_workers_that_have_ended() -> None:
    forking = Forking(LAUNCH)
    await forking.ready()
    running = forking.worker()
    kill(forking.pid, signal.SIGKILL)
    ending = await asyncio.wait_for(running.ended, 5)
    assert ending.error == "the process that workers come from has ended"
    assert not forking.is_alive
    late = forking.worker()
    for worker in (running, late):
        worker.socket.close()
    assert late.ended.done()


async def test_a_zygote_that_dies_before_it_is_ready_says_so() -> None:
    forking = Forking(LAUNCH)
    kill(forking.pid, signal.SIGKILL)
    ready = await forking.ready()
    assert ready.refusal == "its process ended before it was ready"
    await forking.close()


@pytest.mark.slow
async def test_a_spare_that_has_died_is_replaced() -> None:
    spawning = Spawning(LAUNCH)
    try:
        (pid,) = children()
        kill(pid, signal.SIGKILL)
        spare = spawning._spare
        assert spare is not None
        await asyncio.wait_for(spare.ended, 5)
        worker = spawning.worker()
        assert not worker.ended.done()
        worker.socket.close()
        await asyncio.wait_for(worker.ended, 10)
    finally:
        await spawning.close()
    await until(lambda: not children())
