"""`oracle`, `nop` and `tamper`: models that need no service, and a task to be tried on."""

from __future__ import annotations

from pathlib import Path

from pi_batch.errors import UsageError
from pi_batch.model_names import BUILTIN_MODELS
from pi_batch.protocols import Provider
from pi_batch.spec import PlannedTask
from pi_batch.wording import quoted


def check_builtin(provider: str, model: str, task: PlannedTask) -> None:
    """See that a task can be tried so. Raises: UsageError, one line."""
    from pi_batch.providers.tamper import cheats_of

    if not task.spec.hidden or task.solution_path is None:
        raise UsageError(
            f"model {provider!r}: is for tasks of a benchmark suite, and {task.planned.task_id!r} is none: "
            "it has no hidden: and solution: (try `pi-batch run bench -m oracle`)"
        )
    if provider == "tamper":
        cheats_of(model)
        need_walls(provider, task.spec.sandbox)
    elif provider == "nop" and model != "nop":
        raise UsageError(f"model {quoted(f'nop/{model}')}: need 'nop', nothing behind it")
    elif provider == "oracle" and not _solution(model, task).is_dir():
        raise UsageError(f"model {quoted(f'oracle/{model}')}: no such directory: {_solution(model, task)}")


def open_builtin(provider: str, model: str, task: PlannedTask) -> Provider:
    """The model. Raises: UsageError, ProviderError."""
    from pi_batch.providers.reference import Nop, Oracle
    from pi_batch.providers.tamper import Tamper

    check_builtin(provider, model, task)
    match provider:
        case "oracle":
            return Oracle(_solution(model, task))
        case "nop":
            return Nop()
        case _:
            return Tamper(model, _solution("oracle", task))


def need_walls(provider: str, sandbox: str) -> None:
    """Without a sandbox cheats would be tried on the machine itself. Raises: UsageError."""
    if provider == "tamper" and sandbox == "none":
        raise UsageError("model 'tamper': tries cheats, so it is never run without a sandbox (sandbox: none)")


def is_builtin(provider: str) -> bool:
    """Whether a model's first word names one of them."""
    return provider in BUILTIN_MODELS


def _solution(model: str, task: PlannedTask) -> Path:
    """The reference solution, or for `oracle/PATH` another directory beside the spec."""
    if model == "oracle":
        return task.solution_path or Path(task.spec_dir)
    return Path(task.spec_dir, model)
