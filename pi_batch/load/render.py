"""Templates of a task: checked when it is loaded, rendered when it is planned."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from pi_batch.errors import TemplateError
from pi_batch.load.nodes import Node, Scalar, Steps
from pi_batch.load.problems import Problems, Where
from pi_batch.load.suite import Member
from pi_batch.spec import TaskSpec
from pi_batch.template_grammar import Names
from pi_batch.templates import Values, find_problems, render_command, render_prompt


def names_of(member: Member) -> Names:
    """What a task's templates may refer to."""
    inputs = member.task.spec.inputs
    matrix = member.suite.matrix
    return Names(
        frozenset(inputs),
        frozenset(name for name, declared in inputs.items() if declared.trust == "untrusted"),
        frozenset(matrix.inputs) & frozenset(inputs),
    )


def check_templates(member: Member, problems: Problems) -> None:
    """Note what is wrong with a task's templates whatever its inputs are."""
    names = names_of(member)
    for steps, text, is_command in _templates(member.task.spec):
        for problem in find_problems(text, names, is_command=is_command):
            _note(member, steps, problem.message, problem.line, problems)


def render_task(member: Member, values: Values, problems: Problems) -> TaskSpec:
    """The task without templates; what cannot be rendered is noted and left as it is."""
    names = names_of(member)

    def rendered(steps: Steps, text: str, *, is_command: bool) -> str:
        render = render_command if is_command else render_prompt
        try:
            result = render(text, names, values)
        except TemplateError as error:
            _note(member, steps, str(error), error.line, problems)
            return text
        if not result.strip():
            _note(member, steps, "renders to blank text", 0, problems)
        return result

    return _replaced(member.task.spec, rendered)


def _templates(spec: TaskSpec) -> Iterator[tuple[Steps, str, bool]]:
    """Every field that may hold a template: the way to it, its text, whether it is a command."""
    found: list[tuple[Steps, str, bool]] = []

    def collect(steps: Steps, text: str, *, is_command: bool) -> str:
        found.append((steps, text, is_command))
        return text

    _replaced(spec, collect)
    yield from found


def _replaced(spec: TaskSpec, render: Callable[..., str]) -> TaskSpec:
    """The task with each template replaced by what `render(steps, text, is_command=...)` gives."""
    system = {
        name: render(("system", name), text, is_command=False)
        for name, text in (("append", spec.system.append), ("replace", spec.system.replace))
        if text is not None
    }
    setup = tuple(
        render(("workspace", "setup", number), text, is_command=True)
        for number, text in enumerate(spec.workspace.setup)
    )
    checks = tuple(
        check.model_copy(update={"run": render(("verify", number, "run"), check.run, is_command=True)})
        for number, check in enumerate(spec.verify)
    )
    precheck = spec.precheck and spec.precheck.model_copy(
        update={"run": render(("precheck", "run"), spec.precheck.run, is_command=True)}
    )
    return spec.model_copy(
        update={
            "prompt": render(("prompt",), spec.prompt, is_command=False),
            "system": spec.system.model_copy(update=system),
            "workspace": spec.workspace.model_copy(update={"setup": setup}),
            "precheck": precheck,
            "verify": checks,
        }
    )


def _note(member: Member, steps: Steps, message: str, template_line: int, problems: Problems) -> None:
    node: Node = member.task.at(*steps) or member.task.node
    line = node.line
    if isinstance(node, Scalar) and node.style == "literal":
        line += template_line  # its first line is the one after the `|`
    where = Where(member.task.where.prefix, steps)
    problems.add(node, where, message, line=line)
