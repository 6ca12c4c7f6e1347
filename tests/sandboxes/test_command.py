"""One running command: its output and its exit are two things."""

from __future__ import annotations

import asyncio
import os

import pytest

from pi_batch.sandboxes.adoption import ADOPTION
from pi_batch.sandboxes.command import Command


def start(script: str) -> Command:
    return Command(["sh", "-c", script], cwd="/", env={"PATH": os.defpath})


def has_exited(command: Command) -> bool:
    return command.returncode is not None


async def test_the_exit_is_seen_though_somebody_still_holds_the_output() -> None:
    output: list[bytes] = []
    command = start("echo now; (sleep 0.2; echo later) & exit 3")
    await asyncio.wait_for(command.output.follow(output.append, lambda: has_exited(command)), 5)
    assert command.returncode == 3
    assert not command.output.is_at_end
    await command.output.linger(output.append, 5)
    assert b"".join(output) == b"now\nlater\n"
    assert command.output.is_at_end
    command.close()


async def test_the_end_of_output_is_seen_though_the_command_goes_on() -> None:
    output: list[bytes] = []
    command = start("echo now; exec >&- 2>&-; sleep 0.2; exit 4")
    await asyncio.wait_for(command.output.follow(output.append, lambda: command.output.is_at_end), 5)
    assert command.returncode is None
    await asyncio.wait_for(command.output.follow(output.append, lambda: has_exited(command)), 5)
    assert command.returncode == 4
    command.close()


async def test_lingering_takes_what_is_there_and_no_endless_rest() -> None:
    output: list[bytes] = []
    command = start("yes & exit 0")
    await asyncio.wait_for(command.output.follow(lambda _: None, lambda: has_exited(command)), 5)
    await asyncio.wait_for(command.output.linger(output.append, 0.05), 5)
    assert output
    os.killpg(command.pid, 9)
    command.close()


async def test_what_is_discarded_tells_its_end() -> None:
    ended = asyncio.Event()
    command = start("(sleep 0.1; head -c 3000000 /dev/zero) & exit 0")
    await asyncio.wait_for(command.output.follow(lambda _: None, lambda: has_exited(command)), 5)
    command.output.discard(ended.set)
    await asyncio.wait_for(ended.wait(), 10)
    assert command.output.is_at_end
    command.close()


async def test_a_command_that_cannot_be_started_leaves_no_descriptor() -> None:
    before = sorted(os.listdir("/proc/self/fd"))  # noqa: PTH208
    for _ in range(3):
        with pytest.raises(FileNotFoundError):
            Command(["no-such-program"], cwd="/", env={})
    assert sorted(os.listdir("/proc/self/fd")) == before  # noqa: PTH208


async def test_a_command_is_known_until_it_is_reaped() -> None:
    command = start("exit 0")
    assert command.pid in ADOPTION.commands
    await asyncio.wait_for(command.output.follow(print, lambda: has_exited(command)), 5)
    assert command.pid not in ADOPTION.commands
    command.close()
