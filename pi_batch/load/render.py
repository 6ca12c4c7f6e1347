"""Renders the templates of a task once its inputs are known."""

from __future__ import annotations

from collections.abc import Callable

from msgspec.structs import replace

from pi_batch.errors import TemplateError
from pi_batch.load.nodes import Steps
from pi_batch.load.problems import Problems, Where
from pi_batch.load.task import LoadedTask
from pi_batch.load.template_fields import names_in, note_in_template
from pi_batch.spec import TaskSpec
from pi_batch.templates import Values, render_command, render_prompt


def render_task(task: LoadedTask, values: Values, problems: Problems) -> TaskSpec:
    """The task without templates; what cannot be rendered is noted and left as it is.

    values: the keys of `matrix` are the inputs that vary in the task's suite.
    """
    names = names_in(task.node, frozenset(values.matrix))

    def rendered(steps: Steps, text: str, *, is_command: bool) -> str:
        render = render_command if is_command else render_prompt
        node, where = task.at(*steps) or task.node, Where(task.where.prefix, steps)
        try:
            result = render(text, names, values)
        except TemplateError as error:
            note_in_template(node, where, str(error), error.line, problems)
            return text
        if not result.strip() and steps[0] != "system":
            note_in_template(node, where, "renders to blank text", 0, problems)
        return result

    return _replaced(task.spec, rendered)


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
        replace(check, run=render(("verify", number, "run"), check.run, is_command=True))
        for number, check in enumerate(spec.verify)
    )
    precheck = spec.precheck and replace(
        spec.precheck, run=render(("precheck", "run"), spec.precheck.run, is_command=True)
    )
    only_if = spec.only_if
    if only_if is not None and only_if.run is not None:
        only_if = replace(only_if, run=render(("only_if", "run"), only_if.run, is_command=True))
    return replace(
        spec,
        prompt=render(("prompt",), spec.prompt, is_command=False),
        follow_ups=tuple(
            render(("follow_ups", number), text, is_command=False)
            for number, text in enumerate(spec.follow_ups)
        ),
        system=replace(spec.system, **system),
        workspace=replace(spec.workspace, setup=setup),
        only_if=only_if,
        precheck=precheck,
        verify=checks,
    )
