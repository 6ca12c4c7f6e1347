"""Trials on the workers of a Dask cluster: one task each, in a run directory that all of them share.

A trial keeps its own log there, so that it is known wherever it runs and whatever dies: the worker (Dask
runs the task again, and the trial goes on where it was), the scheduler, or this process (the run is resumed).
Dask's own retries are off. How the cluster is spoken to (TLS) and who may is Dask's configuration; keys are
in the workers' environment. Source: https://distributed.dask.org/en/stable/client.html
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import secrets
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Final

from msgspec import Struct

from pi_batch.errors import ExecutorError, UsageError
from pi_batch.executors.dask_task import run_trial
from pi_batch.executors.trial_log import Seen, TrialLog
from pi_batch.protocols import Trial

CONNECT_S: Final = 15.0
POLL_S: Final = 0.25
LET_GO_S: Final = 12.0
"""For a cancelled trial to end: the time that a worker gives it, and some."""
LOG: Final = "events.jsonl"


class Post(Struct, frozen=True):
    """Where trials are left for workers, and how."""

    run_dir: Path
    prepare: Callable[[str], Path]
    """Makes the directory of a trial, by its key. Raises: LogWriteError."""
    claim: Callable[[Trial, int], str]
    """What a worker is told of a trial whose log holds so many records."""
    is_running: Callable[[str], bool]
    """Whether some process carries a trial out, by its key."""
    seen: Mapping[str, Seen]
    """Records that the run's own log has."""
    module: str
    """What a worker starts."""


class Dask:
    """Submits trials to a scheduler and reads their logs."""

    name = "dask"
    is_remote = True

    def __init__(self, scheduler: str, post: Post, *, at_once: int | None = None) -> None:
        """`at_once`: None means as many as the cluster has threads."""
        self._scheduler = scheduler
        self._post = post
        self._at_once = at_once
        self._client: Any = None

    async def start(self) -> int | None:
        """Connect. Raises: UsageError when nobody answers, no worker is there, or Dask is not installed."""
        try:
            from distributed import Client  # a second of CPU
        except ImportError as error:
            raise UsageError(f"--executor dask: needs pip install 'pi-batch[dask]' ({error})") from error
        logging.getLogger("distributed").setLevel(logging.CRITICAL)  # what matters is raised here
        try:
            self._client = await Client(
                self._scheduler, asynchronous=True, set_as_default=False, timeout=CONNECT_S
            )
            await self._client.wait_for_workers(1, timeout=CONNECT_S)
            threads = sum((await self._client.nthreads()).values())
        except (OSError, TimeoutError, ValueError, TypeError) as error:
            what = "has no worker" if self._client is not None else "does not answer as a Dask scheduler"
            await self.close()
            raise UsageError(f"--scheduler {self._scheduler}: {what} ({_short(error)})") from error
        return self._at_once or max(1, threads)

    async def run(self, trial: Trial) -> str:
        """Carry one out on some worker. Raises: ExecutorError when the scheduler is gone."""
        directory = self._post.prepare(trial.key)
        log = TrialLog(directory / LOG, self._post.seen.get(trial.key))
        _take(log, trial)
        words = (str(self._post.run_dir), str(directory), trial.key, self._post.claim(trial, log.count))
        future = self._client.submit(
            run_trial,
            *words,
            self._post.module,
            key=f"pi-batch-{trial.key}-{secrets.token_hex(4)}",
            pure=False,
            retries=0,
        )
        waiting = asyncio.ensure_future(_outcome(future))
        try:
            while not waiting.done():
                await asyncio.wait({waiting}, timeout=POLL_S)
                _take(log, trial)
            return self._ended(waiting)
        except asyncio.CancelledError:
            waiting.cancel()
            await self._cancel(future, trial.key)
            raise
        finally:
            _take(log, trial)

    async def close(self) -> None:
        """Leave the cluster as it is."""
        client, self._client = self._client, None
        if client is not None:
            with contextlib.suppress(Exception):
                await asyncio.wait_for(client.close(), CONNECT_S)

    def _ended(self, waiting: asyncio.Future[str]) -> str:
        from distributed.client import FutureCancelledError
        from distributed.scheduler import KilledWorker

        error = waiting.exception()
        match error:
            case None:
                return waiting.result()
            case KilledWorker():
                return "its workers died, one after the other: look for what kills them (memory?)"
            case FutureCancelledError() | OSError():
                raise ExecutorError(
                    f"--scheduler {self._scheduler}: lost it; what runs on its workers ends by itself"
                ) from error
            case _:
                return f"the worker failed: {_short(error)}"

    async def _cancel(self, future: Any, key: str) -> None:
        """Cancel a task, and wait until its process has ended."""
        with contextlib.suppress(Exception):
            await asyncio.wait_for(self._client.cancel([future], force=True), POLL_S * 8)
        for _ in range(int(LET_GO_S / POLL_S)):
            if not self._post.is_running(key):
                return
            await asyncio.sleep(POLL_S)


async def _outcome(future: Any) -> str:
    said: str = await future
    return said


def _take(log: TrialLog, trial: Trial) -> None:
    for record in log.new():
        trial.take(record)


def _short(error: BaseException) -> str:
    return " ".join(f"{type(error).__name__}: {error}".split())[:200]
