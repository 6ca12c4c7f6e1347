"""Collects what is wrong in spec files: one line each, all of them, before anything runs."""

from __future__ import annotations

from msgspec import Struct
from msgspec.structs import replace

from pi_batch.errors import SpecError, SpecProblem
from pi_batch.load.nodes import Node, Step, Steps
from pi_batch.wording import QUOTED_CHARS, printable


class Where(Struct, frozen=True):
    """The way to a field: `tasks[0].` in front for an inline task, then keys and positions."""

    prefix: str = ""
    """Where the task itself stands; no part of a rule's key."""
    steps: Steps = ()

    def down(self, step: Step) -> Where:
        """One step further."""
        return replace(self, steps=(*self.steps, step))

    @property
    def rule_key(self) -> str:
        """The field's name in tables of rules: `verify[].run`."""
        return self._dotted(positions=False)

    def __str__(self) -> str:
        """As messages show it: `tasks[0].verify[1].run`."""
        dotted = self._dotted(positions=True)
        return f"{self.prefix}.{dotted}" if self.prefix and dotted else self.prefix or dotted

    def _dotted(self, *, positions: bool) -> str:
        text = ""
        for step in self.steps:
            if isinstance(step, int):
                text += f"[{step}]" if positions else "[]"
            else:
                shown = _key(step) if positions else step
                text += f".{shown}" if text else shown
        return text


def _key(key: str) -> str:
    """A key as a part of a path on one line."""
    cut = key if len(key) <= QUOTED_CHARS else key[: QUOTED_CHARS - 3] + "..."
    return printable(cut) or "''"


class Problems:
    """What was found so far; the same thing found again through another task is kept once."""

    def __init__(self) -> None:
        self._found: dict[tuple[str, int, Steps, str], SpecProblem] = {}

    def __bool__(self) -> bool:
        return bool(self._found)

    def __len__(self) -> int:
        return len(self._found)

    def add(self, node: Node, where: Where, message: str, *, line: int | None = None) -> None:
        """Note a problem at a node, or at another line of its file."""
        path = str(where)
        text = f"{path}: {message}" if path else message
        at = node.line if line is None else line
        key = (node.source.name, at, where.steps, message)
        self._found.setdefault(key, SpecProblem(node.source.name, at, text))

    def add_plain(self, name: str, message: str, *, line: int = 0) -> None:
        """Note a problem of a file as a whole, or of an option such as `-i KEY`."""
        self._found.setdefault((name, line, (), message), SpecProblem(name, line, message))

    def extend(self, others: Problems) -> None:
        """Take over what another collection holds."""
        for key, problem in others._found.items():
            self._found.setdefault(key, problem)

    def raise_if_any(self) -> None:
        """Raises: SpecError with every problem, by file in the order they were named, then by line."""
        if self._found:
            problems = list(self._found.values())
            first = {problem.file: number for number, problem in reversed(list(enumerate(problems)))}
            raise SpecError(sorted(problems, key=lambda problem: (first[problem.file], problem.line)))
