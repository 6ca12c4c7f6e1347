"""What holds behind walls beyond the protocol: processes, restarts, hostile answers, limits."""

from __future__ import annotations

import asyncio
import os
import socket
from collections.abc import AsyncIterator
from contextlib import suppress
from pathlib import Path

import pytest

from pi_batch.errors import SandboxError
from pi_batch.porter import wire
from pi_batch.protocols import Sandbox
from pi_batch.sandboxes import load
from pi_batch.sandboxes.limits import Limits
from pi_batch.sandboxes.line import Line
from tests.living import a_nap, living, until
from tests.sandboxes.rigs import PATH, place_in, works

WALLED = [
    pytest.param(name, marks=pytest.mark.skipif(not works(name), reason=f"no {name} here"))
    for name in ("bwrap", "landlock")
]


@pytest.fixture(params=WALLED)
async def sandbox(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Sandbox]:
    made = load(request.param)(place_in(tmp_path), grace_s=0.2)
    await made.start()
    yield made
    await made.close()


async def run(sandbox: Sandbox, script: str, *, timeout_s: float = 20) -> str:
    """What a bash script prints."""
    output: list[bytes] = []
    await sandbox.exec(
        ["bash", "-c", script], cwd="/", env={"PATH": PATH}, timeout_s=timeout_s, on_output=output.append
    )
    return b"".join(output).decode()


async def test_background_processes_live_on_between_calls_and_die_at_the_end(sandbox: Sandbox) -> None:
    nap = a_nap()
    await run(sandbox, f"setsid sleep {nap} >/dev/null 2>&1 & (env -i setsid sleep {nap} &)")
    assert len(living(f"sleep {nap}")) == 2
    await sandbox.close()
    await until(lambda: not living(f"sleep {nap}"))


async def test_what_sheds_its_mark_dies_at_the_end_all_the_same(sandbox: Sandbox) -> None:
    nap = a_nap()
    code = (
        "import os, resource; os.fork() and os._exit(0); os.setsid(); os.fork() and os._exit(0)\n"
        "hard = resource.getrlimit(resource.RLIMIT_RTTIME)[1]\n"
        "resource.setrlimit(resource.RLIMIT_RTTIME, (123456789, hard))\n"
        f"os.execve('/bin/sleep', ['sleep', '{nap}'], {{}})"
    )
    await run(sandbox, f'python3 -c "{code}"')
    await until(lambda: len(living(f"sleep {nap}")) == 1)
    await sandbox.close()
    await until(lambda: not living(f"sleep {nap}"))


@pytest.mark.slow
async def test_a_timed_out_call_is_ended_with_all_that_it_started(sandbox: Sandbox) -> None:
    nap = a_nap()
    await run(sandbox, f"trap '' TERM; (setsid sleep {nap} &) ; sleep {nap}", timeout_s=0.3)
    assert not living(f"sleep {nap}")


async def test_a_cancelled_call_is_ended_too(sandbox: Sandbox) -> None:
    nap = a_nap()
    call = asyncio.create_task(run(sandbox, f"(setsid sleep {nap} &) ; sleep {nap}"))
    await until(lambda: len(living(f"sleep {nap}")) == 2)
    call.cancel()
    with pytest.raises(asyncio.CancelledError):
        await call
    assert not living(f"sleep {nap}")


@pytest.mark.slow
async def test_a_hundred_calls_at_once_are_all_right(sandbox: Sandbox) -> None:
    done = await asyncio.gather(*(run(sandbox, f"echo {number}") for number in range(100)))
    assert [text.strip() for text in done] == [str(number) for number in range(100)]


@pytest.mark.slow
async def test_output_of_many_megabytes_comes_whole(sandbox: Sandbox) -> None:
    assert len(await run(sandbox, "head -c 5000000 /dev/zero")) == 5_000_000


@pytest.mark.slow
async def test_large_files_and_directories_pass(sandbox: Sandbox, tmp_path: Path) -> None:
    root = str((tmp_path / "root").resolve())
    await sandbox.write(f"{root}/large", b"x" * 2_000_000)
    assert await sandbox.read(f"{root}/large") == b"x" * 2_000_000
    for number in range(3000):
        (tmp_path / "root" / f"file-with-a-long-name-{number:06}").touch()
    assert len(await sandbox.list(root)) == 3001


async def test_a_file_tool_sees_what_commands_see(sandbox: Sandbox, tmp_path: Path) -> None:
    (tmp_path / "outside").write_text("secret", encoding="ascii")
    outside = str(tmp_path.resolve() / "outside")
    with pytest.raises(OSError, match=r"No such file|Permission denied"):
        await sandbox.read(outside)
    with suppress(OSError):
        await sandbox.write(outside, b"x")
    assert (tmp_path / "outside").read_text(encoding="ascii") == "secret"


@pytest.mark.slow
async def test_a_link_that_changes_at_the_right_moment_does_not_lead_out(
    sandbox: Sandbox, tmp_path: Path
) -> None:
    root = tmp_path.resolve() / "root"
    (tmp_path / "secret").write_text("secret", encoding="ascii")
    (root / "ours").write_text("ours", encoding="ascii")
    swap = f"while :; do ln -sfn ours {root}/l; ln -sfn {tmp_path.resolve()}/secret {root}/l; done"
    swapping = asyncio.create_task(run(sandbox, swap, timeout_s=0.5))
    seen = set()
    while not swapping.done():
        try:
            seen.add(await sandbox.read(f"{root}/l"))
        except OSError:
            seen.add(b"")
        await asyncio.sleep(0)
    assert b"ours" in seen
    assert b"secret" not in seen


async def test_the_environment_is_what_was_given(sandbox: Sandbox) -> None:
    names = {line.partition("=")[0] for line in (await run(sandbox, "env")).split("\n") if line}
    assert names <= {"PATH", "PWD", "SHLVL", "_", "TAR_OPTIONS", "PI_BATCH_TASK", "PI_BATCH_CALL", "OLDPWD"}


@pytest.mark.slow
@pytest.mark.parametrize("name", WALLED)
async def test_limits_bind_every_process(name: str, tmp_path: Path) -> None:
    limits = Limits(memory_bytes=1 << 30, file_bytes=1 << 20)
    sandbox = load(name)(place_in(tmp_path), limits)
    await sandbox.start()
    script = (
        "python3 -c 'bytearray(2 << 30)' 2>&1 | tail -1; head -c 9000000 /dev/zero > $PWD/f; stat -c %s f"
    )
    output: list[bytes] = []
    await sandbox.exec(
        ["bash", "-c", script],
        cwd=str(tmp_path.resolve() / "root"),
        env={"PATH": PATH},
        timeout_s=20,
        on_output=output.append,
    )
    await sandbox.close()
    assert b"MemoryError" in b"".join(output)
    assert b"1048576" in b"".join(output)


@pytest.mark.slow
@pytest.mark.skipif(not works("landlock"), reason="no Landlock here")
async def test_a_porter_that_is_killed_from_inside_is_replaced_a_few_times(tmp_path: Path) -> None:
    sandbox = load("landlock")(place_in(tmp_path))
    await sandbox.start()
    for _ in range(3):
        await run(sandbox, "kill -9 $PPID; sleep 5")
        assert await run(sandbox, "echo back") == "back\n"
    await run(sandbox, "kill -9 $PPID; sleep 5")
    with pytest.raises(SandboxError, match="again and again"):
        await run(sandbox, "echo back")
    await sandbox.close()


# --- the line -------------------------------------------------------------------------------------


async def line() -> tuple[Line, socket.socket]:
    """A line, and the end that a porter would have."""
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    wire.send(theirs, [b"", b"ready"])
    made = Line("test", ours)
    await made.ready(5)
    return made, theirs


@pytest.mark.parametrize("hostile", [b"", b"rubbish", b"1:1", b"0:2:no", b"1:11:x1:y"])
async def test_a_porter_that_talks_nonsense_is_hung_up_on_or_ignored(hostile: bytes) -> None:
    opened, theirs = await line()
    asked = asyncio.create_task(opened.ask("stat", b"/"))
    await asyncio.sleep(0.01)
    if hostile:
        theirs.send(hostile)
    theirs.close()
    with pytest.raises((SandboxError, OSError)):
        await asyncio.wait_for(asked, 5)
    opened.close()


async def test_errors_come_as_they_were_and_odd_ones_as_io_errors() -> None:
    opened, theirs = await line()
    for said, code in (
        ([b"error", b"2", b"gone", b"/x"], 2),
        ([b"error", b"x" * 40], 5),
        ([b"error", b"99999999"], 5),
    ):
        asked = asyncio.create_task(opened.ask("stat", b"/"))
        await asyncio.sleep(0.01)
        message = wire.receive(theirs)
        assert message is not None
        wire.send(theirs, [message[0][0], *said])
        with pytest.raises(OSError) as caught:
            await asked
        assert caught.value.errno == code
    opened.close()
    theirs.close()


async def test_files_that_nobody_asked_for_are_closed() -> None:
    opened, theirs = await line()
    before = len(os.listdir("/proc/self/fd"))  # noqa: PTH208
    with open("/dev/null", "rb") as file:  # noqa: PTH123
        for _ in range(50):
            wire.send(theirs, [b"99", b"ok"], [file.fileno()])
    await asyncio.sleep(0.05)
    assert len(os.listdir("/proc/self/fd")) == before  # noqa: PTH208
    opened.close()
    theirs.close()
