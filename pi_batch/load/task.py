"""One task: shorthands written out, every field decoded, fields that must fit each other compared."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from msgspec import Struct
from msgspec.structs import replace

from pi_batch.load.decode import INVALID, Decoding, decode_model
from pi_batch.load.input_types import INPUT_NAME, from_node
from pi_batch.load.nodes import Entry, Fields, Node, Scalar, Source, Steps, descend, merge
from pi_batch.load.problems import Problems, Where
from pi_batch.load.rules import HINTS, NODE_RULES, RULES
from pi_batch.load.shorthands import written_out
from pi_batch.load.template_fields import check_templates
from pi_batch.routes import complaint
from pi_batch.spec import InputSpec, TaskSpec
from pi_batch.wording import quoted

WHOLE: frozenset[Steps] = frozenset({("output", "schema"), ("system",), ("mcp",), ("only_if",)})
"""Mappings that are one value: a task's replaces the one of its suite."""


class LoadedTask(Struct, frozen=True):
    """A task and where each of its words stands."""

    spec: TaskSpec
    node: Fields
    """Suite defaults merged in, shorthands written out."""
    where: Where
    source: Source
    """The file that holds the task itself."""
    defaults: Fields | None
    """The suite's."""

    def at(self, *steps: str | int) -> Node | None:
        """What was written for a field, by the task or its suite."""
        return descend(self.node, steps)

    @property
    def directory(self) -> Path:
        """Where the task's relative paths start: beside the file that says where the workspace is."""
        return (self.at("workspace", "path") or self).source.directory

    def origin(self, *steps: str | int) -> str | None:
        """`spec` or `suite`; None where nobody wrote it."""
        node = self.at(*steps)
        if node is None:
            return None
        return "suite" if self.defaults and descend(self.defaults, steps) is node else "spec"


def load_task(
    own: Fields,
    defaults: Fields | None,
    stem: str | None,
    where: Where,
    *,
    varying: frozenset[str],
    problems: Problems,
) -> LoadedTask | None:
    """A task out of its mapping; None where it has problems, which are noted.

    Args:
        own: what its file says, or one item of a suite's tasks.
        defaults: the suite's, checked by `check_defaults`.
        stem: the id that it gets without one of its own; None: it needs one.
        where: the place in its file.
        varying: the inputs in its suite's matrix.
        problems: takes what is wrong.
    """
    source = own.source
    if own.entry("id") is None and stem is not None:
        own = Fields(source, own.line, (*own.entries, Entry("id", own.line, Scalar(source, own.line, stem))))
    node = written_out(merge(defaults, own, whole=WHOLE) if defaults else own)
    found = Problems()
    spec = decode_model(node, TaskSpec, where, _decoding(found))
    check_templates(node, where, varying, found)
    inputs = _inputs(node, where, found)
    task = None
    if spec is not INVALID:
        spec = replace(spec, inputs=inputs)
        task = LoadedTask(spec, node, where, source, defaults)
        for at, below, message in _contradictions(task):
            found.add(at, below, message)
    problems.extend(found)
    return None if found else task


def check_defaults(defaults: Fields, where: Where, problems: Problems) -> None:
    """Note what is wrong in a suite's defaults, once for all of its tasks."""
    if entry := defaults.entry("id"):
        problems.add(entry.node, where.down("id"), "every task needs an id of its own", line=entry.line)
    node = written_out(defaults.without("id"))
    decode_model(node, TaskSpec, where, _decoding(problems, is_partial=True))


def _decoding(problems: Problems, *, is_partial: bool = False) -> Decoding:
    return Decoding(problems, RULES, NODE_RULES, HINTS, is_partial)


def _inputs(task: Fields, where: Where, problems: Problems) -> dict[str, InputSpec]:
    """Declared inputs with defaults of their types; those that are declared wrongly are left out."""
    inputs: dict[str, InputSpec] = {}
    node = task.get("inputs")
    for entry in node.entries if isinstance(node, Fields) else ():
        below = where.down("inputs").down(entry.key)
        if not INPUT_NAME.fullmatch(entry.key):
            message = f"got {quoted(entry.key)}, need letters, digits and '_', a letter first"
            problems.add(entry.node, below, message, line=entry.line)
        declared = decode_model(entry.node, InputSpec, below, _decoding(Problems()))
        if declared is INVALID:
            continue  # said with the rest of the task
        for message in _input_contradictions(declared):
            problems.add(entry.node, below, message, line=entry.line)
        default = descend(entry.node, ("default",))
        if default is not None and not (isinstance(default, Scalar) and default.is_null):
            value = from_node(default, declared, below.down("default"), problems)
            declared = replace(declared, default=value)
        inputs[entry.key] = declared
    return inputs


def _input_contradictions(declared: InputSpec) -> Iterator[str]:
    if declared.type == "enum" and not declared.values:
        yield "an enum needs values: [...]"
    if declared.type != "enum" and declared.values:
        yield f"values: is for type: enum, got type: {declared.type}"
    if declared.type == "command" and declared.trust == "untrusted":
        yield "a command runs verbatim, so it cannot be untrusted"
    if declared.required and declared.default is not None:
        yield "required: true with a default; leave one of them out"


def _contradictions(task: LoadedTask) -> Iterator[tuple[Node, Where, str]]:
    """Fields that are fine by themselves and not together."""
    spec, where = task.spec, task.where
    verify_in = task.at("verify_in")
    if verify_in and spec.verify_in == "clean" and spec.workspace.isolation == "none":
        message = "got 'clean', need isolation clone or copy: with none there is no copy to judge in"
        yield verify_in, where.down("verify_in"), message
    system = task.at("system")
    if system and spec.system.append is not None and spec.system.replace is not None:
        yield system, where.down("system"), "append and replace exclude each other"
    mode = task.at("codemode")
    if mode and spec.codemode == "off" and "codemode" in spec.tools and _share_origin(task):
        message = "got 'off', and tools has codemode; leave one of them out"
        yield mode, where.down("codemode"), message
    if mode and spec.codemode == "only" and set(spec.tools) <= {"codemode"}:
        message = "got 'only', and tools has none that a script could call; name some"
        yield mode, where.down("codemode"), message
    yield from _exposed(task)
    for name, virtual in spec.models.items():
        at = task.at("models", name)
        wrong = complaint(name, virtual, may_call=False)
        if at and wrong:
            yield at, where.down("models").down(name), wrong
    only_if = task.at("only_if")
    if only_if and spec.only_if is not None:
        if spec.only_if.since is not None and not spec.only_if.changed:
            yield only_if, where.down("only_if").down("since"), "belongs to changed:, which is not there"
        if (spec.only_if.run, spec.only_if.changed, spec.only_if.days) == (None, (), None):
            yield only_if, where.down("only_if"), "need run, changed or days"
    yield from _repeated_names(task)


def _exposed(task: LoadedTask) -> Iterator[tuple[Node, Where, str]]:
    """What would show hidden files to a model, or leave them without a use."""
    spec, node, where = task.spec, task.at("hidden"), task.where.down("hidden")
    if node is None or not spec.hidden:
        return
    if spec.workspace.repo is not None:
        yield node, where, "needs a workspace.path: a repository shows its history"
    elif spec.workspace.isolation != "copy":
        message = "needs workspace.isolation: copy: a clone holds all of its repository, hidden files too"
        yield node, where, message
    if spec.verify_in == "workspace" or not spec.verify:
        yield node, where, "needs verify: and a clean copy, as hidden files are for checks that run there"
    if spec.attempts.verify > 1:
        message = "needs attempts.verify: 1: what failing checks print would go back to the model"
        yield node, where, message


def _share_origin(task: LoadedTask) -> bool:
    """Whether codemode and tools were written in one place; a task's own list overrules its suite."""
    return task.origin("codemode") == task.origin("tools")


def _repeated_names(task: LoadedTask) -> Iterator[tuple[Node, Where, str]]:
    first: dict[str, int] = {}
    for number in range(len(task.spec.verify)):
        name = task.at("verify", number, "name")
        if not isinstance(name, Scalar):
            continue
        where = task.where.down("verify").down(number).down("name")
        if name.text.casefold() in first:
            line = first[name.text.casefold()]
            yield name, where, f"got {quoted(name.text)} a second time, already on line {line}"
        first.setdefault(name.text.casefold(), name.line)
