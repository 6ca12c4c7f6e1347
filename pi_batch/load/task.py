"""One task: shorthands written out, every field decoded, fields that must fit each other compared."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from pi_batch.load.decode import INVALID, Decoding, decode_model
from pi_batch.load.input_types import INPUT_NAME, from_node
from pi_batch.load.nodes import Entry, Fields, Items, Node, Scalar, Source, Steps, descend, merge
from pi_batch.load.problems import Problems, Where
from pi_batch.load.rules import HINTS, NODE_RULES, RULES
from pi_batch.spec import InputSpec, TaskSpec
from pi_batch.wording import quoted

WHOLE: frozenset[Steps] = frozenset({("output", "schema"), ("mcp",), ("only_if",)})
"""Mappings that are one value: a task's replaces the suite's."""

MAX_SLUG_CHARS = 40
_SLUGGED = re.compile(r"[^A-Za-z0-9._]+")


@dataclass(frozen=True, slots=True)
class LoadedTask:
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

    def origin(self, *steps: str | int) -> str | None:
        """`spec` or `suite`; None where nobody wrote it."""
        node = self.at(*steps)
        if node is None:
            return None
        return "suite" if self.defaults and descend(self.defaults, steps) is node else "spec"


def load_task(
    own: Fields, defaults: Fields | None, stem: str | None, where: Where, problems: Problems
) -> LoadedTask | None:
    """A task out of its mapping; None where it has problems, which are noted.

    Args:
        own: what its file says, or one item of a suite's tasks.
        defaults: the suite's, checked by `check_defaults`.
        stem: the id that it gets without one of its own; None: it needs one.
        where: the place in its file.
        problems: takes what is wrong.
    """
    source = own.source
    if own.entry("id") is None and stem is not None:
        own = Fields(source, own.line, (*own.entries, Entry("id", own.line, Scalar(source, own.line, stem))))
    node = merge(defaults, own, whole=WHOLE) if defaults else own
    node = _written_out(node)
    spec = decode_model(node, TaskSpec, where, _decoding(problems))
    if spec is INVALID:
        return None
    before = len(problems)
    task = LoadedTask(_with_inputs(spec, node, where, problems), node, where, source, defaults)
    for at, below, message in _contradictions(task):
        problems.add(at, below, message)
    return task if len(problems) == before else None


def check_defaults(defaults: Fields, where: Where, problems: Problems) -> None:
    """Note what is wrong in a suite's defaults, once for all of its tasks."""
    if entry := defaults.entry("id"):
        problems.add(entry.node, where.down("id"), "every task needs an id of its own", line=entry.line)
    node = _written_out(defaults.without("id"))
    decode_model(node, TaskSpec, where, _decoding(problems, is_partial=True))


def _decoding(problems: Problems, *, is_partial: bool = False) -> Decoding:
    return Decoding(problems, RULES, NODE_RULES, HINTS, is_partial)


def _written_out(node: Fields) -> Fields:
    """The same task without shorthands."""
    system = node.get("system")
    if isinstance(system, Scalar) and not system.is_null:
        node = node.replacing("system", _mapping(system, {"append": system}))
    verify = node.get("verify")
    if isinstance(verify, Scalar) and not verify.is_null:
        verify = Items(verify.source, verify.line, (verify,))
    if isinstance(verify, Items):
        node = node.replacing("verify", Items(verify.source, verify.line, tuple(_named_checks(verify))))
    return node


def _mapping(at: Node, values: Mapping[str, Node]) -> Fields:
    entries = tuple(Entry(key, at.line, value) for key, value in values.items())
    return Fields(at.source, at.line, entries)


def _named_checks(checks: Items) -> Iterator[Node]:
    """Every check as a mapping with a name; a plain command is named after its text or position."""
    taken = {name.text for check in checks.nodes if isinstance(name := descend(check, ("name",)), Scalar)}
    for number, check in enumerate(checks.nodes, start=1):
        run = check if isinstance(check, Scalar) else descend(check, ("run",))
        if not isinstance(run, Scalar) or descend(check, ("name",)) is not None:
            yield check
            continue
        label = _slug(run.text)
        if not label or label in taken:
            label = f"check-{number}"
        while label in taken:
            label += "-"
        taken.add(label)
        entries = check.entries if isinstance(check, Fields) else _mapping(check, {"run": run}).entries
        named = Entry("name", check.line, Scalar(check.source, check.line, label, "quoted"))
        yield Fields(check.source, check.line, (named, *entries))


def _slug(command: str) -> str:
    """A short one-line command as a name; empty where it makes none."""
    if "{{" in command or "{%" in command:
        return ""
    slug = _SLUGGED.sub("-", command.strip()).strip("-._")
    return slug if len(slug) <= MAX_SLUG_CHARS and slug[:1].isalnum() else ""


def _with_inputs(spec: TaskSpec, node: Fields, where: Where, problems: Problems) -> TaskSpec:
    """Defaults of inputs as values of their declared types."""
    inputs: dict[str, InputSpec] = {}
    for name, declared in spec.inputs.items():
        below = where.down("inputs").down(name)
        written = descend(node, ("inputs", name)) or node
        if not INPUT_NAME.fullmatch(name):
            problems.add(written, below, f"got {quoted(name)}, need letters, digits and '_', a letter first")
        for message in _input_contradictions(declared):
            problems.add(written, below, message)
        default = descend(written, ("default",))
        if default is None or (isinstance(default, Scalar) and default.is_null):
            inputs[name] = declared
            continue
        value = from_node(default, declared, below.down("default"), problems)
        inputs[name] = declared.model_copy(update={"default": value})
    return spec.model_copy(update={"inputs": inputs})


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
    yield from _repeated_names(task)


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
