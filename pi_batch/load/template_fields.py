"""Which fields of a task hold templates, what these may refer to, and what is wrong with them."""

from __future__ import annotations

from collections.abc import Iterator

from pi_batch.load.nodes import Fields, Items, Node, Scalar, Steps, descend
from pi_batch.load.problems import Problems, Where
from pi_batch.template_grammar import Names
from pi_batch.templates import find_problems


def template_nodes(task: Fields) -> Iterator[tuple[Steps, Scalar, bool]]:
    """Every text that may be a template: the way to it, the text, whether it is a command."""
    ways: list[tuple[Steps, bool]] = [
        (("prompt",), False),
        *((("follow_ups", number), False) for number in _positions(task, ("follow_ups",))),
        (("system", "append"), False),
        (("system", "replace"), False),
        *((("workspace", "setup", number), True) for number in _positions(task, ("workspace", "setup"))),
        (("only_if", "run"), True),
        (("precheck", "run"), True),
        *((("verify", number, "run"), True) for number in _positions(task, ("verify",))),
    ]
    for steps, is_command in ways:
        node = descend(task, steps)
        if isinstance(node, Scalar) and not node.is_null:
            yield steps, node, is_command


def _positions(task: Fields, steps: Steps) -> range:
    found = descend(task, steps)
    return range(len(found.nodes)) if isinstance(found, Items) else range(0)


def names_in(task: Fields, varying: frozenset[str]) -> Names:
    """What a task's templates may refer to; varying: the inputs in its suite's matrix."""
    inputs = task.get("inputs")
    declared = {entry.key: entry.node for entry in inputs.entries} if isinstance(inputs, Fields) else {}
    return Names(
        frozenset(declared),
        untrusted=frozenset(name for name, node in declared.items() if _says(node, "trust", "untrusted")),
        commands=frozenset(name for name, node in declared.items() if _says(node, "type", "command")),
        matrix=varying & frozenset(declared),
    )


def _says(declared: Node, key: str, word: str) -> bool:
    value = descend(declared, (key,))
    return isinstance(value, Scalar) and value.text == word


def check_templates(task: Fields, where: Where, varying: frozenset[str], problems: Problems) -> None:
    """Note what is wrong with a task's templates whatever its inputs are, in other respects wrong or not."""
    names = names_in(task, varying)
    for steps, node, is_command in template_nodes(task):
        for problem in find_problems(node.text, names, is_command=is_command):
            note_in_template(node, Where(where.prefix, steps), problem.message, problem.line, problems)


def note_in_template(node: Node, where: Where, message: str, line: int, problems: Problems) -> None:
    """Note a problem on a line of a template: the file's line where the text stands there line by line."""
    at = node.line
    if isinstance(node, Scalar) and node.style == "literal":
        at += line  # its first line is the one after the `|`
    problems.add(node, where, message, line=at)
