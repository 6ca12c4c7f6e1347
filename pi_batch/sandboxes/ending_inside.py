"""Ending processes that only a porter sees: it signals by mark, and says how many are left."""

from __future__ import annotations

import asyncio
import contextlib
import signal

from pi_batch.errors import SandboxError
from pi_batch.sandboxes.ending import FIRST_LOOK_S, KILL_WAIT_S, LAST_LOOK_S
from pi_batch.sandboxes.line import Line
from pi_batch.sandboxes.marks import CALL_BITS, Mark


async def end_inside(line: Line, mark: Mark, *, grace_s: float, hurry: asyncio.Event) -> int:
    """TERM, a grace, KILL, until nothing is left; how many could not be ended.

    `hurry`, once set, cuts the grace short. A porter that has gone has taken everything with it.
    """
    try:
        await _until_gone(line, mark, signal.SIGTERM, grace_s, hurry)
        return await _until_gone(line, mark, signal.SIGKILL, KILL_WAIT_S, None)
    except SandboxError:
        return 0


async def _until_gone(
    line: Line, mark: Mark, number: signal.Signals, limit_s: float, hurry: asyncio.Event | None
) -> int:
    """Signal what lives (TERM once, KILL again and again), and look until nothing does or time is up."""
    now = asyncio.get_running_loop().time
    deadline = now() + limit_s
    sent, look_s = int(number), FIRST_LOOK_S
    ignored_bits = CALL_BITS if mark.call == 0 else 0
    while left := await _signalled(line, mark, ignored_bits, sent):
        if now() >= deadline or (hurry is not None and hurry.is_set()):
            return left
        sent = int(number) if number == signal.SIGKILL else 0
        pause_s = min(look_s, max(deadline - now(), 0))
        if hurry is None:
            await asyncio.sleep(pause_s)
        else:
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(hurry.wait(), pause_s)
        look_s = min(2 * look_s, LAST_LOOK_S)
    return 0


async def _signalled(line: Line, mark: Mark, ignored_bits: int, number: int) -> int:
    (count, *_), _ = await line.ask("signal", b"%d" % mark.limit, b"%d" % ignored_bits, b"%d" % number)
    return int(count) if count.isdigit() and len(count) < 9 else 1
