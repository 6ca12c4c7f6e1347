"""One trial of a run that is spread over a cluster: what a worker starts, `python -m pi_batch.wiring.trial`.

It is a run of one task in a directory of its own below the run's, with the plan that the run stored there. A
second execution finds the first one's log and session and goes on with them; while the first still runs, it
waits. Standard input gives the claim, and its end means that nobody waits for the trial any more.
"""

from __future__ import annotations

import json
import os
import platform
import signal
import sys
import threading
import time
from pathlib import Path
from typing import Final

from msgspec.structs import replace

from pi_batch.claims import TRIALS, Claim
from pi_batch.errors import PiBatchError, UsageError
from pi_batch.event_log import read_log
from pi_batch.files import write_atomic
from pi_batch.redact import Masker
from pi_batch.results import BatchResult
from pi_batch.spec import Plan, PlannedTask, SuiteBudgetSpec
from pi_batch.standard_streams import tell
from pi_batch.wiring.carrying_out import Nested, run_plan
from pi_batch.wiring.options import RunOptions
from pi_batch.wiring.run import plan_again, there
from pi_batch.wiring.run_leg import LOG
from pi_batch.wiring.run_lock import is_held
from pi_batch.wiring.stored_plan import StoredPlan, Storing, read_plan
from pi_batch.wiring.surroundings import Surroundings, utf8_streams

LOCK_WAIT_S: Final = 120.0
"""For an execution that its worker's end should have ended."""
POLL_S: Final = 0.1
CLAIM: Final = "claim.json"
STDIN: Final = 0


def main(words: list[str]) -> int:
    """Carry out trial KEY of RUN_DIR; 0 when its log says what came of it."""
    utf8_streams()
    try:
        claim = Claim.parse(_line())
        threading.Thread(target=_end_with_the_worker, daemon=True).start()
        run_trial(Path(words[0]), words[1], claim)
    except PiBatchError as error:
        tell(f"pi-batch: {' '.join(str(error).split())}")
        return error.exit_code
    return 0


def run_trial(run_dir: Path, key: str, claim: Claim, *, wait_s: float = LOCK_WAIT_S) -> BatchResult:
    """Carry one trial out, or go on with it. Raises: PiBatchError when that cannot be."""
    stored = read_plan(run_dir)
    if stored is None:
        raise UsageError(
            f"{run_dir}: no plan.json there: the run directory has to be shared with every worker"
        )
    trial_dir, around = run_dir / TRIALS / key, there(Surroundings.of_process(), run_dir, stored)
    names = tuple(name for name in stored.secrets if name in around.environ)
    options = stored.with_plan_options(
        RunOptions(output=trial_dir, secrets=names, quiet=True, is_forced=claim.is_forced)
    )
    plan = plan_again(stored, options, around)
    task = next((task for task in plan.tasks if task.planned.key == key), None)
    if task is None or not (claim.is_forced or _is_same(task, stored)):
        raise UsageError(
            f"{key}: the specs on this worker are not those of the run: give it the same checkout"
        )
    _wait_for_another(trial_dir, wait_s)
    _keep(trial_dir, key, claim)
    if 0 < _records(trial_dir / LOG) <= claim.records:  # later ones are of this claim: what it asks has begun
        options = replace(options, rerun=claim.rerun, is_reverify=claim.is_reverify)
    nested = Nested(run_dir, claim.limit)
    _, batch = run_plan(Plan((task,), plan.budget), options, around, origin=stored.origin, nested=nested)
    return batch


def _is_same(task: PlannedTask, stored: StoredPlan) -> bool:
    storing = Storing("", Path(stored.cwd), stored.origin, RunOptions(), {}, Masker(()))
    (now,) = storing.of(Plan((task,), SuiteBudgetSpec()), Path(stored.cwd)).tasks
    return any(one.key == now.key and one.digest == now.digest for one in stored.tasks)


def _wait_for_another(trial_dir: Path, wait_s: float) -> None:
    """Let an execution end that its worker's end should have ended. Raises: UsageError when it does not."""
    until_s = time.monotonic() + wait_s
    while is_held(trial_dir):
        if time.monotonic() >= until_s:
            raise UsageError(f"{trial_dir}: in use by another process, which does not end")
        time.sleep(POLL_S)


def _keep(trial_dir: Path, key: str, claim: Claim) -> None:
    """Put on the disk who carries the trial out, before any request. Raises: LogWriteError."""
    who = {"key": key, "host": platform.node(), "pid": os.getpid(), "claim": json.loads(claim.to_text())}
    write_atomic(trial_dir / CLAIM, f"{json.dumps(who)}\n".encode())


def _records(log: Path) -> int:
    return sum(record.key is not None for record in read_log(log)) if log.is_file() else 0


def _line() -> str:
    """The first line of standard input, without a byte of what follows."""
    content = bytearray()
    while not content.endswith(b"\n"):
        byte = os.read(STDIN, 1)
        if not byte:
            break
        content += byte
    return content.decode("utf-8", "replace")


def _end_with_the_worker() -> None:
    """Wait for the end of standard input; then end as by a signal, with everything written down."""
    while os.read(STDIN, 1):
        pass
    os.kill(os.getpid(), signal.SIGTERM)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
