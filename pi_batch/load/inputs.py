"""The values of one task's inputs: -i, else the suite's matrix, else the default."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from pi_batch.load.input_types import BadInput, file_content, from_node, from_text
from pi_batch.load.matrix import Matrix
from pi_batch.load.nodes import Fields, Scalar
from pi_batch.load.options import PlanOptions
from pi_batch.load.problems import Problems
from pi_batch.load.task import LoadedTask
from pi_batch.spec import InputSpec
from pi_batch.templates import Command
from pi_batch.wording import listed, nearest, quoted


class Inputs(Struct, frozen=True):
    """Values, as templates see them and as reports show them."""

    values: Mapping[str, Any]
    """A file's content; a command as `Command`."""
    shown: Mapping[str, Any]
    """A file's name."""
    is_complete: bool
    """Whether nothing that is required is missing."""


def resolve_inputs(
    task: LoadedTask,
    choice: Mapping[str, Scalar],
    matrix: Matrix,
    options: PlanOptions,
    problems: Problems,
    *,
    is_check: bool,
) -> Inputs | None:
    """Every declared input with its value; None where one is wrong, which is noted.

    choice: this combination's values of inputs that vary. is_check: a missing value is no mistake.
    """
    found = Problems()
    inputs = _resolved(task, choice, matrix, options, found)
    given = options.inputs.keys() | choice.keys()
    missing = [name for name in task.spec.inputs if name not in given and _is_required(task, name)]
    for name in () if is_check else missing:
        _note_missing(task, name, found)
    inputs = replace(inputs, is_complete=not missing)
    problems.extend(found)
    return None if found else inputs


def _resolved(
    task: LoadedTask, choice: Mapping[str, Scalar], matrix: Matrix, options: PlanOptions, problems: Problems
) -> Inputs:
    shown: dict[str, Any] = {}
    values: dict[str, Any] = {}
    for name, declared in task.spec.inputs.items():
        at = task.at("inputs", name, "default")
        shown[name] = declared.default
        base = at.source.directory if at else task.source.directory
        if name in options.inputs:
            shown[name], base = _typed(name, options.inputs[name], declared, problems), options.cwd
        elif name in choice:
            node = choice[name]
            shown[name], base = from_node(node, declared, matrix.where[name], problems), node.source.directory
        try:
            values[name] = _value(shown[name], declared, base)
        except BadInput as error:
            _note_file(task, name, str(error), options, problems)
    return Inputs(values, shown, is_complete=True)


def _is_required(task: LoadedTask, name: str) -> bool:
    declared = task.spec.inputs[name]
    return declared.default is None and declared.required is not False


def _typed(name: str, text: str, declared: InputSpec, problems: Problems) -> Any:
    try:
        return from_text(text, declared)
    except BadInput as error:
        problems.add_plain(f"-i {name}", str(error))
        return None


def _note_missing(task: LoadedTask, name: str, problems: Problems) -> None:
    inputs = task.at("inputs")
    entry = inputs.entry(name) if isinstance(inputs, Fields) else None
    message = f"no value, give one with -i {name}=VALUE"
    where = task.where.down("inputs").down(name)
    problems.add(entry.node if entry else task.node, where, message, line=entry.line if entry else None)


def _value(shown: Any, declared: InputSpec, base: Path) -> Any:
    """What templates see for what was given. Raises: BadInput."""
    if shown is None:
        return None
    if declared.type == "command":
        return Command(shown)
    return file_content(shown, base) if declared.type == "file" else shown


def _note_file(task: LoadedTask, name: str, message: str, options: PlanOptions, problems: Problems) -> None:
    """Note a file that is none where it was named."""
    if name in options.inputs:
        problems.add_plain(f"-i {name}", message)
    else:
        node = task.at("inputs", name, "default") or task.node
        problems.add(node, task.where.down("inputs").down(name), message)


def note_unknown_inputs(tasks: Iterable[LoadedTask], options: PlanOptions, problems: Problems) -> None:
    """Note every -i that no selected task declares."""
    known = {name for task in tasks for name in task.spec.inputs}
    for name in options.inputs:
        if name not in known:
            have = nearest(name, known) or (f" (there are: {listed(sorted(known))})" if known else "")
            problems.add_plain(
                f"-i {quoted(name)[1:-1]}", f"no selected task has an input of that name{have}"
            )
