"""What a Dask worker does: one trial in a process of its own, ended with the worker.

Nothing secret comes in as an argument: keys are in the worker's own environment. The process holds one end
of a pipe; when the worker dies, however that is, the other end closes and the trial ends itself. When the
task is cancelled, or the worker closes, the trial's whole process tree is ended.
"""

from __future__ import annotations

import contextlib
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Final

import psutil

POLL_S: Final = 0.1
GRACE_S: Final = 8.0
"""For a trial to write down what it has."""
KILL_S: Final = 2.0
"""For the kernel to end what was killed."""
SAID: Final = "stderr.log"
MAX_SAID_BYTES: Final = 4000


def run_trial(run_dir: str, trial_dir: str, key: str, claim: str, module: str) -> str:
    """Carry one trial out; why it came to no end, empty where it did. The task that Dask runs."""
    words = [sys.executable, "-m", module, run_dir, key]
    return run_process(words, Path(trial_dir), claim, cancellation())


def run_process(words: Sequence[str], trial_dir: Path, claim: str, is_cancelled: Callable[[], bool]) -> str:
    """Run a trial's process until it ends or is cancelled; what it said last where it failed."""
    try:
        said = (trial_dir / SAID).open("ab")
    except OSError as error:
        return f"{trial_dir}: {error.strerror or error}: the run directory has to be shared with every worker"
    with said:
        before = said.tell()
        process = subprocess.Popen(
            words, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=said, start_new_session=True
        )
        try:
            is_ended = _watched(process, claim, is_cancelled)
        finally:
            end_tree(process)
    if not is_ended:
        return "cancelled"
    if process.returncode == 0:
        return ""
    return _last_line(trial_dir / SAID, before) or f"exit code {process.returncode}"


def end_tree(process: subprocess.Popen[bytes]) -> None:
    """End a trial: by TERM, so that it writes its report, then with everything below it by KILL."""
    if process.poll() is None:
        below = _below(process.pid)
        process.terminate()
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(GRACE_S)
        below |= _below(process.pid)
        process.kill()
        process.wait()
        for each in below:
            with contextlib.suppress(psutil.Error):
                each.kill()
        until_s = time.monotonic() + KILL_S
        while any(_is_alive(each) for each in below) and time.monotonic() < until_s:
            time.sleep(0.01)
    if process.stdin is not None:
        with contextlib.suppress(OSError):
            process.stdin.close()


def cancellation() -> Callable[[], bool]:
    """Says whether the task that this thread runs for is no longer wanted, or its worker is closing."""
    from distributed import get_worker
    from distributed.core import Status
    from distributed.worker import thread_state

    worker, key = get_worker(), thread_state.key

    def is_cancelled() -> bool:
        task = worker.state.tasks.get(key)
        is_wanted = task is not None and task.state != "cancelled"
        return not is_wanted or worker.status not in {Status.running, Status.paused}

    return is_cancelled


def _watched(process: subprocess.Popen[bytes], claim: str, is_cancelled: Callable[[], bool]) -> bool:
    """Tell a process its claim, and wait for it; False when it is cancelled first."""
    if process.stdin is not None:
        with contextlib.suppress(OSError):
            process.stdin.write(f"{claim}\n".encode())
            process.stdin.flush()
    while True:
        try:
            process.wait(POLL_S)
        except subprocess.TimeoutExpired:
            if is_cancelled():
                return False
        else:
            return True


def _below(pid: int) -> set[psutil.Process]:
    try:
        return set(psutil.Process(pid).children(recursive=True))
    except psutil.Error:
        return set()


def _is_alive(process: psutil.Process) -> bool:
    try:
        return process.is_running() and process.status() != psutil.STATUS_ZOMBIE
    except psutil.Error:
        return False


def _last_line(path: Path, begin: int) -> str:
    with path.open("rb") as file:
        size = file.seek(0, 2)
        file.seek(max(begin, size - MAX_SAID_BYTES))
        lines = [line.strip() for line in file.read().decode("utf-8", "replace").split("\n")]
    return next((line.removeprefix("pi-batch: ") for line in reversed(lines) if line), "")
