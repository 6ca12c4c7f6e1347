"""Local commands: every process is found and ended, and nobody else's is."""

from __future__ import annotations

import asyncio
import os
import re
import shlex
import signal
import subprocess
import sys
import time
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from pi_batch.sandboxes.adoption import ADOPTION
from pi_batch.sandboxes.none import NoneSandbox
from pi_batch.sandboxes.processes import snapshot
from tests.living import a_nap, living, until
from tests.sandboxes.rigs import PATH


@pytest.fixture
async def sandbox() -> AsyncIterator[NoneSandbox]:
    before = set(_ended_children())
    sandbox = NoneSandbox(grace_s=0.1, linger_s=0.05)
    await sandbox.start()
    yield sandbox
    await sandbox.close()
    assert set(_ended_children()) <= before, "somebody has to reap what was adopted"


@pytest.fixture
def n() -> str:
    """Seconds to sleep that no other test sleeps: they name a test's processes."""
    return a_nap()


def _ended_children() -> list[int]:
    return [p.pid for p in snapshot().values() if p.parent == os.getpid() and p.is_zombie]


def _reap_all() -> None:
    """What has no mark is somebody else's to reap, as far as a sandbox can know."""
    for pid in _ended_children():
        if os.getsid(pid) != os.getsid(0):
            os.waitpid(pid, 0)


async def run(sandbox: NoneSandbox, script: str, *, timeout_s: float = 20, cwd: str = "/") -> str:
    """What a bash script prints."""
    output: list[bytes] = []
    await sandbox.exec(
        ["bash", "-c", script], cwd=cwd, env={"PATH": PATH}, timeout_s=timeout_s, on_output=output.append
    )
    return b"".join(output).decode("utf-8", "replace")


# --- what stays -----------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize(
    "background",
    [
        "sleep {n} &",
        "nohup sleep {n} >/dev/null 2>&1 &",
        "sleep {n} & disown",
        "setsid sleep {n} &",
        "(setsid sleep {n} &)",
        "coproc sleep {n}",
        "exec 3< <(sleep {n})",
        "env -i setsid sh -c 'sleep {n} & exit' &",
        "trap '' TERM HUP; sleep {n} &",
        "python3 -c 'import os; os.fork() and os._exit(0); os.setsid(); os.fork() and os._exit(0);"
        ' os.execve("/bin/sleep", ["sleep", "{n}"], dict())\'',
    ],
)
async def test_a_background_process_survives_its_call_and_dies_with_the_task(background: str, n: str) -> None:
    sandbox = NoneSandbox(grace_s=0.1, linger_s=0.05)
    await sandbox.start()
    start = time.monotonic()
    assert await run(sandbox, background.replace("{n}", n) + "\necho done") == "done\n"
    assert time.monotonic() - start < 15, "a call waits for its shell, never for the end of its output"
    await until(lambda: living(f"sleep {n}"))
    await run(sandbox, "true")
    assert living(f"sleep {n}"), "the next call leaves it alone"
    await sandbox.close()
    assert not living(f"sleep {n}")


async def test_a_background_printer_neither_blocks_nor_dies_of_its_pipe(
    sandbox: NoneSandbox, tmp_path: Path
) -> None:
    script = """
    (for i in $(seq 300); do head -c 1000 /dev/zero | tr '\\0' x; echo; done
     echo finished > done.txt) &
    echo started
    """
    assert "started" in await run(sandbox, script, cwd=str(tmp_path))
    await until((tmp_path / "done.txt").exists)


async def test_an_endless_background_printer_does_not_keep_the_loop_busy(sandbox: NoneSandbox) -> None:
    await run(sandbox, "yes & true")
    start = time.process_time()
    await asyncio.sleep(0.5)
    assert time.process_time() - start < 0.3


async def test_nothing_is_handed_over_after_the_call_has_returned(sandbox: NoneSandbox) -> None:
    output: list[bytes] = []
    await sandbox.exec(
        ["bash", "-c", "(while sleep 0.05; do echo tick; done) & echo first"],
        cwd="/",
        env={"PATH": PATH},
        timeout_s=9,
        on_output=output.append,
    )
    heard = list(output)
    assert b"first" in b"".join(heard)
    await asyncio.sleep(0.3)
    assert output == heard


async def test_output_of_a_process_substitution_still_arrives() -> None:
    sandbox = NoneSandbox(linger_s=5)
    await sandbox.start()
    assert await run(sandbox, "echo x > >(sleep 0.03; cat)") == "x\n"
    await sandbox.close()


# --- what is ended --------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize(
    "script",
    [
        "sh -c 'sh -c \"sleep {n}; true\"; true' | cat",
        "trap '' TERM HUP INT; while :; do sleep {n}; done",
        "setsid sleep {n}; sleep {n}",
        "setsid sh -c 'trap \"\" TERM; sleep {n}' & wait",
        "(env -i setsid sh -c 'sleep {n} & exit' &); sleep {n}",
        "nohup setsid sleep {n} & disown; sleep {n}",
        "sleep {n} & kill -STOP $!; wait",
        "sleep {n} & kill -STOP $! $$",
        "exec >/dev/null 2>&1; sleep {n}",
        "python3 -c 'import os, time; os.fork() or os._exit(0); time.sleep(9)' & sleep {n}",
        "while :; do (sleep {n} &) ; sleep 0.05; done",
    ],
)
async def test_nothing_of_a_timed_out_call_is_left_when_its_result_is_given(
    sandbox: NoneSandbox, script: str, n: str
) -> None:
    await run(sandbox, script.replace("{n}", n), timeout_s=0.15)
    assert not living(f"sleep {n}")


async def test_a_cancelled_call_is_ended_as_whole_as_a_timed_out_one(sandbox: NoneSandbox, n: str) -> None:
    script = f"(env -i setsid sh -c 'trap \"\" TERM; sleep {n}; :' &); trap '' TERM; sleep {n}; :"
    call = asyncio.create_task(run(sandbox, script))
    await until(lambda: len(living(f"sleep {n}")) >= 2)
    call.cancel()
    with pytest.raises(asyncio.CancelledError):
        await call
    assert not living(f"sleep {n}")


async def test_a_second_cancellation_cuts_the_grace_short_and_still_kills(n: str) -> None:
    sandbox = NoneSandbox(grace_s=30)
    await sandbox.start()
    call = asyncio.create_task(run(sandbox, f"trap '' TERM; while :; do sleep {n}; done"))
    await until(lambda: living(f"sleep {n}"))
    start = time.monotonic()
    call.cancel()
    await asyncio.sleep(0.1)
    assert not call.done()
    call.cancel()
    with pytest.raises(asyncio.CancelledError):
        await call
    assert time.monotonic() - start < 5
    assert not living(f"sleep {n}")
    await sandbox.close()


async def test_a_cancelled_close_still_ends_everything(n: str) -> None:
    sandbox = NoneSandbox(grace_s=30)
    await sandbox.start()
    await run(sandbox, f"(trap '' TERM; while :; do sleep {n}; done) &")
    closing = asyncio.create_task(sandbox.close())
    await asyncio.sleep(0.1)
    closing.cancel()
    with pytest.raises(asyncio.CancelledError):
        await closing
    assert not living(f"sleep {n}")
    assert not ADOPTION.is_active


async def test_what_an_ending_process_still_prints_belongs_to_the_result(sandbox: NoneSandbox) -> None:
    script = "trap 'echo cleaning up; exit' TERM; echo before; while :; do sleep 0.05; done"
    shown = await run(sandbox, script, timeout_s=0.3)
    assert shown.startswith("before\n")
    assert shown.endswith("cleaning up\n")


async def test_a_fork_bomb_in_many_sessions_is_ended(sandbox: NoneSandbox, n: str) -> None:
    script = 'f() { for i in 1 2 3; do setsid bash -c "sleep NAP; sleep 1" & done; sleep 0.02; f; }; f'
    await run(sandbox, script.replace("NAP", n), timeout_s=0.4)
    assert not living(f"sleep {n}")


async def test_a_callback_that_fails_ends_the_call_and_passes_its_error_on(
    sandbox: NoneSandbox, n: str
) -> None:
    def disk_full(_: bytes) -> None:
        raise OSError(28, "No space left on device")

    with pytest.raises(OSError, match="No space"):
        await sandbox.exec(
            ["bash", "-c", f"echo x; sleep {n}"],
            cwd="/",
            env={"PATH": PATH},
            timeout_s=9,
            on_output=disk_full,
        )
    assert not living(f"sleep {n}")


# --- what is not ----------------------------------------------------------------------------------


async def test_a_timed_out_call_leaves_earlier_calls_background_processes_alone(
    sandbox: NoneSandbox, n: str
) -> None:
    later = a_nap()
    await run(sandbox, f"sleep {n} & (env -i setsid sh -c 'sleep {n} &')")
    await until(lambda: len(living(f"sleep {n}")) == 2)
    await run(sandbox, f"(env -i setsid sh -c 'sleep {later} &'); sleep {later}", timeout_s=0.3)
    assert len(living(f"sleep {n}")) == 2
    assert not living(f"sleep {later}")


async def test_closing_one_task_leaves_other_tasks_and_our_own_children_alone(
    sandbox: NoneSandbox, n: str
) -> None:
    others = a_nap()
    other = NoneSandbox(grace_s=0.1, linger_s=0.05)
    await other.start()
    ours = subprocess.Popen(["sleep", "99"], start_new_session=True)
    await run(sandbox, f"(env -i setsid sh -c 'sleep {n} & sleep {n} &')")
    await run(other, f"(env -i setsid sh -c 'sleep {others} & sleep {others} &')")
    await until(lambda: len(living(f"sleep {n}")) == len(living(f"sleep {others}")) == 2)
    await other.close()
    assert not living(f"sleep {others}")
    assert len(living(f"sleep {n}")) == 2
    await sandbox.close()
    assert not living(f"sleep {n}")
    assert ours.poll() is None
    ours.kill()
    ours.wait()


NO_MARK = "ulimit -S -R unlimited"


async def test_the_last_close_also_ends_orphans_that_lost_every_mark(sandbox: NoneSandbox, n: str) -> None:
    await run(sandbox, f"{NO_MARK}; (env -i setsid sh -c 'sleep {n} & exit' &); sleep 0.1")
    await until(lambda: living(f"sleep {n}"))
    await sandbox.close()
    assert not living(f"sleep {n}")
    _reap_all()


async def test_without_limits_a_task_is_known_by_variables_and_sessions(sandbox: NoneSandbox, n: str) -> None:
    other = NoneSandbox()
    await other.start()
    await run(sandbox, f"{NO_MARK}; (setsid sh -c 'sleep {n} & exit' &); env -i sleep {n} & sleep 0.1")
    await until(lambda: len(living(f"sleep {n}")) == 2)
    await sandbox.close()
    assert not living(f"sleep {n}")
    await other.close()
    _reap_all()


async def test_a_runner_inside_a_task_that_is_killed_leaves_nothing_either(
    sandbox: NoneSandbox, n: str, tmp_path: Path
) -> None:
    inner = f"""
import asyncio, os
from pi_batch.sandboxes.none import NoneSandbox
async def main():
    open({str(tmp_path / "pid")!r}, "w").write(str(os.getpid()))
    sandbox = NoneSandbox()
    await sandbox.start()
    env = {{"PATH": {PATH!r}}}
    script = "(env -i setsid sh -c 'sleep {n} & exit' &); sleep {n}"
    await sandbox.exec(["bash", "-c", script], cwd="/", env=env, timeout_s=99, on_output=print)
asyncio.run(main())
"""
    repository = Path(__file__).parents[2]
    script = f"exec {shlex.quote(sys.executable)} -c {shlex.quote(inner)}"
    call = asyncio.create_task(run(sandbox, script, cwd=str(repository)))
    await until(lambda: len(living(f"sleep {n}")) >= 2)
    os.kill(int((tmp_path / "pid").read_text("utf-8")), signal.SIGKILL)
    await call
    assert living(f"sleep {n}")
    await sandbox.close()
    assert not living(f"sleep {n}")


# --- small print ----------------------------------------------------------------------------------


async def test_two_hundred_calls_at_once_are_all_right(sandbox: NoneSandbox) -> None:
    outputs = await asyncio.gather(*(run(sandbox, f"echo {number}; true &") for number in range(200)))
    assert outputs == [f"{number}\n" for number in range(200)]


async def test_a_child_has_its_own_session_no_terminal_and_no_input(sandbox: NoneSandbox) -> None:
    shown = await run(sandbox, "ps -o sid= -p $$; cat; (: </dev/tty) 2>&1; echo; ls /proc/self/fd")
    assert shown.split()[0] != str(os.getsid(0))
    assert "No such device" in shown
    assert re.search(r"\n0\n1\n2\n3\n$", shown), "no descriptor of ours is passed on"


async def test_environment_is_what_was_given_and_the_marks(sandbox: NoneSandbox) -> None:
    output: list[bytes] = []
    await sandbox.exec(["env"], cwd="/", env={"PATH": PATH, "A": "1"}, timeout_s=9, on_output=output.append)
    names = {line.partition("=")[0] for line in b"".join(output).decode().split("\n") if line}
    assert names == {"PATH", "A", "PI_BATCH_TASK", "PI_BATCH_CALL"}


async def test_no_descriptor_and_no_zombie_stays_with_us(sandbox: NoneSandbox) -> None:
    await run(sandbox, "true")
    zombies = set(_ended_children())
    before = len(list(Path("/proc/self/fd").iterdir()))
    for _ in range(20):
        await run(sandbox, "(setsid sh -c 'sleep 0.01 & exit' &); echo x; exit 1")
    await asyncio.sleep(0.1)
    await run(sandbox, "true")
    assert len(list(Path("/proc/self/fd").iterdir())) == before
    assert set(_ended_children()) <= zombies


async def test_arguments_that_no_system_takes_are_an_os_error(sandbox: NoneSandbox) -> None:
    for argument in ("a\0b", "lone \ud800"):
        with pytest.raises(OSError, match="cannot be passed"):
            await sandbox.exec(["echo", argument], cwd="/", env={}, timeout_s=9, on_output=print)
    with pytest.raises(OSError, match="too long"):
        await sandbox.exec(["echo", "x" * 200_000], cwd="/", env={}, timeout_s=9, on_output=print)


async def test_a_system_without_pidfd_is_polled(
    sandbox: NoneSandbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delattr(os, "pidfd_open")
    assert await run(sandbox, "echo x; exec >/dev/null 2>&1; sleep 0.1") == "x\n"
    assert await run(sandbox, "echo y; sleep 99", timeout_s=0.2) == "y\n"


async def test_output_of_many_megabytes_comes_whole(sandbox: NoneSandbox) -> None:
    assert len(await run(sandbox, "head -c 8000000 /dev/zero | tr '\\0' x")) == 8_000_000
