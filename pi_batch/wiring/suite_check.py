"""`pi-batch suite check`: every task of a suite, tried with solutions, mistakes and cheats."""

from __future__ import annotations

import json
import os
import shutil
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

from msgspec.structs import replace

from pi_batch.providers.tamper import CHEATS
from pi_batch.reports.proof import render_proof
from pi_batch.spec import Plan, PlannedTask, SuiteBudgetSpec
from pi_batch.standard_streams import say, tell
from pi_batch.struct_json import to_json
from pi_batch.suite_proof import SuiteProof, Wanted, models_for, prove, trial
from pi_batch.wiring.carrying_out import run_plan
from pi_batch.wiring.options import RunOptions
from pi_batch.wiring.planning import make_plan
from pi_batch.wiring.surroundings import Surroundings, is_terminal, utf8_streams


def check_suite(
    specs: Sequence[str], options: RunOptions, *, as_json: bool, cheats: Sequence[str] = tuple(CHEATS)
) -> int:
    """Prove a suite and say so; the exit code. Raises: PiBatchError when nothing could be tried."""
    utf8_streams()
    proof, run_dir = prove_suite(specs, options, cheats)
    say(f"{json.dumps(to_json(proof), indent=2, ensure_ascii=False)}\n" if as_json else render_proof(proof))
    if run_dir is not None:
        tell(f"pi-batch: the trials are kept in {run_dir}")
    return 3 if proof.is_error else 0 if proof.is_proven else 1


def prove_suite(
    specs: Sequence[str], options: RunOptions, cheats: Sequence[str]
) -> tuple[SuiteProof, Path | None]:
    """Try every task; the proof, and where the trials are where they are kept. Raises: PiBatchError."""
    around = Surroundings.of_process()
    repeat = options.repeat or 1
    plan = make_plan(specs, replace(options, models=("oracle",), repeat=1), around)
    wanted = {task.planned.task_id: dict(models_for(task, cheats)) for task in plan.tasks}
    trials = tuple(_trials(plan.tasks, wanted, repeat))
    jobs = options.jobs or os.cpu_count() or 1
    run_dir = options.output or Path(tempfile.mkdtemp(prefix="suite-check-"))
    is_kept = options.output is not None
    try:
        asked = replace(options, output=run_dir, quiet=not is_terminal(sys.stderr))
        _, batch = run_plan(Plan(trials, SuiteBudgetSpec(), jobs), asked, around)
        proof = prove(plan.tasks, wanted, batch, {task.planned.task_id: exposed(task) for task in plan.tasks})
        is_kept = is_kept or not proof.is_proven
    finally:
        if not is_kept:
            shutil.rmtree(run_dir, ignore_errors=True)
    return proof, run_dir if is_kept else None


def exposed(task: PlannedTask) -> tuple[str, ...]:
    """What a task's workspace shows that it should not, one line each."""
    top = Path(task.spec_dir, task.spec.workspace.path)
    found = []
    for path in sorted(top.rglob("*")):
        shown = path.relative_to(top).as_posix()
        if path.name == ".git":
            found.append(f"{shown}: a repository shows its history")
        elif path.is_symlink() and not path.resolve().is_relative_to(top.resolve()):
            found.append(f"{shown}: a link out of the workspace")
    found += [
        f"{hidden.name}: has the name of hidden files, which will take its place"
        for hidden in task.hidden_paths
        if (top / hidden.name).exists()
    ]
    return tuple(found)


def _trials(
    tasks: Sequence[PlannedTask], wanted: dict[str, dict[str, Wanted]], repeat: int
) -> Iterator[PlannedTask]:
    for task in tasks:
        for model in wanted[task.planned.task_id]:
            for number in range(1, repeat + 1):
                yield trial(task, model, number, shows_repeat=repeat > 1)
