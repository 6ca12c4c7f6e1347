"""What a template may say: a small, checked part of jinja2, read before any value is known.

Every name is looked up here, in branches that are never taken too, so a misspelt one is found before
anything runs. What is left cannot reach beyond its values: no calls but those listed, no attributes,
no includes, no macros.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, Final

from msgspec import Struct

from pi_batch.template_functions import FILTERS, METHODS, TESTS
from pi_batch.wording import listed, nearest, quoted

if TYPE_CHECKING:  # 70 ms of CPU, only for templates
    from jinja2 import nodes

_PLAIN: Final = frozenset(
    {
        "Template",
        "Output",
        "TemplateData",
        "If",
        "Const",
        "List",
        "Tuple",
        "Dict",
        "Pair",
        "Keyword",
        "Operand",
        "Compare",
        "And",
        "Or",
        "Not",
        "CondExpr",
        "Slice",
        "Concat",
        "Add",
        "Sub",
        "Mul",
        "Div",
        "FloorDiv",
        "Mod",
        "Neg",
        "Pos",
    }
)
"""Nodes that are fine when their parts are."""
_LOOP: Final = frozenset({"index", "index0", "revindex", "revindex0", "first", "last", "length"})
ROOTS: Final = ("inputs", "task", "matrix")
_TASK: Final = frozenset({"id", "title"})


class Names(Struct, frozen=True):
    """What a template may refer to."""

    inputs: frozenset[str] = frozenset()
    untrusted: frozenset[str] = frozenset()
    """Those of the inputs that come from outside."""
    commands: frozenset[str] = frozenset()
    """Those of the inputs that commands take as they are."""
    matrix: frozenset[str] = frozenset()


class TemplateProblem(Struct, frozen=True):
    """One thing wrong in a template."""

    line: int
    """Within the template, from 1."""
    message: str


def check_tree(tree: nodes.Template, names: Names, *, is_command: bool) -> tuple[TemplateProblem, ...]:
    """Everything in a parsed template that is not allowed or not known."""
    from jinja2 import nodes

    stored = frozenset(name.name for name in tree.find_all(nodes.Name) if name.ctx == "store")
    return tuple(dict.fromkeys(_problems(tree, _Scope(names, stored, is_command))))


def inputs_in(node: Any) -> frozenset[str]:
    """The inputs that an expression refers to."""
    found = set()
    waiting = [node]
    while waiting:
        current = waiting.pop()
        kind = type(current).__name__
        if kind in ("Getattr", "Getitem") and getattr(current.node, "name", "") == "inputs":
            key = current.attr if kind == "Getattr" else getattr(current.arg, "value", None)
            found |= {key} if isinstance(key, str) else set()
        waiting.extend(current.iter_child_nodes())
    return frozenset(found)


def untrusted_in(node: Any, names: Names) -> tuple[str, ...]:
    """The untrusted ones among them."""
    return tuple(sorted(inputs_in(node) & names.untrusted))


class _Scope(Struct, frozen=True):
    names: Names
    stored: frozenset[str]
    """Names that the template sets itself."""
    is_command: bool

    def known(self, root: str) -> frozenset[str]:
        """What may stand behind `inputs.`, `task.`, `matrix.`."""
        return {"inputs": self.names.inputs, "matrix": self.names.matrix}.get(root, _TASK)


def _problems(node: Any, scope: _Scope) -> Iterator[TemplateProblem]:
    """What is wrong with a node and all below it."""
    kind = type(node).__name__
    check = _CHECKS.get(kind)
    if check:
        yield from check(node, scope)
    elif kind in _PLAIN:
        yield from _below(node, scope)
    else:
        # autoescape is wrapped into a node without a line
        line = node.lineno or next((child.lineno for child in node.iter_child_nodes()), 1)
        yield TemplateProblem(line, f"{_word(kind)} is not available in templates")


def _below(node: Any, scope: _Scope) -> Iterator[TemplateProblem]:
    for child in node.iter_child_nodes():
        yield from _problems(child, scope)


def _word(kind: str) -> str:
    words = {"Pow": "the operator **", "FromImport": "import", "CallBlock": "call", "FilterBlock": "filter"}
    words |= {"Scope": "autoescape", "AssignBlock": "a block set", "NSRef": "namespace"}
    return words.get(kind, kind.lower())


def _check_name(node: Any, scope: _Scope) -> Iterator[TemplateProblem]:
    name = node.name
    if node.ctx == "store":
        if name in (*ROOTS, "loop", "range"):
            yield TemplateProblem(node.lineno, f"{name!r} cannot be set")
    elif name in (*ROOTS, "loop"):
        yield TemplateProblem(node.lineno, f"{name!r} by itself is no value, write {name}.NAME")
    elif name not in scope.stored:
        hint = nearest(name, [*scope.names.inputs, *scope.stored])
        for known in scope.names.inputs:
            hint = hint.replace(f" {known!r}?", f" 'inputs.{known}'?")
        yield TemplateProblem(node.lineno, f"{quoted(name)} is not defined{hint}")


def _check_access(node: Any, scope: _Scope) -> Iterator[TemplateProblem]:
    """`inputs.x`, `inputs['x']`, `loop.index`, `parts[0]`."""
    root = node.node.name if type(node.node).__name__ == "Name" else ""
    key = node.attr if type(node).__name__ == "Getattr" else getattr(node.arg, "value", None)
    if root in ROOTS:
        known = scope.known(root)
        if not isinstance(key, str):
            yield TemplateProblem(node.lineno, f"{root}[...] needs a name in quotes")
        elif key not in known:
            hint = nearest(key, known) or (f" (there are: {listed(sorted(known))})" if known else "")
            yield TemplateProblem(node.lineno, f"'{root}.{key}' is not defined{hint}")
    elif root == "loop" and "loop" not in scope.stored:
        if key not in _LOOP:
            yield TemplateProblem(
                node.lineno, f"'loop.{key}' is not defined (there are: {listed(sorted(_LOOP))})"
            )
    elif root and root not in scope.stored:
        yield from _check_name(node.node, scope)
    elif type(node).__name__ == "Getattr":
        yield TemplateProblem(node.lineno, f"a value has no '.{key}' (inputs hold texts and numbers)")
    else:
        yield from _below(node, scope)


def _check_filter(node: Any, scope: _Scope) -> Iterator[TemplateProblem]:
    yield from _check_table("filter", node, FILTERS, scope)


def _check_test(node: Any, scope: _Scope) -> Iterator[TemplateProblem]:
    yield from _check_table("test", node, TESTS, scope)


def _check_table(what: str, node: Any, table: frozenset[str], scope: _Scope) -> Iterator[TemplateProblem]:
    public = [name for name in table if not name.startswith("_")]
    if node.name not in public:
        hint = nearest(node.name, public) or f" (there are: {listed(sorted(public), limit=40)})"
        yield TemplateProblem(node.lineno, f"no {what} {quoted(node.name)}{hint}")
    yield from _below(node, scope)


def _check_call(node: Any, scope: _Scope) -> Iterator[TemplateProblem]:
    callee = node.node
    kind = type(callee).__name__
    is_range = kind == "Name" and callee.name == "range"
    if not is_range and not (kind == "Getattr" and callee.attr in METHODS):
        name = getattr(callee, "name", getattr(callee, "attr", "this"))
        hint = (
            f"use the filter: | {name}" if name in FILTERS else f"there are: range, {listed(sorted(METHODS))}"
        )
        yield TemplateProblem(node.lineno, f"{name}() cannot be called ({hint})")
        return
    if not is_range:
        yield from _problems(callee.node, scope)
    for argument in (*node.args, *node.kwargs):
        yield from _problems(argument, scope)
    if node.dyn_args or node.dyn_kwargs:
        yield TemplateProblem(node.lineno, "* and ** are not available in templates")


def _check_for(node: Any, scope: _Scope) -> Iterator[TemplateProblem]:
    if node.recursive:
        yield TemplateProblem(node.lineno, "a recursive loop is not available in templates")
    yield from _check_taint(node.iter, scope)
    yield from _below(node, scope)


def _check_assign(node: Any, scope: _Scope) -> Iterator[TemplateProblem]:
    yield from _check_taint(node.node, scope)
    yield from _below(node, scope)


def _check_taint(node: Any, scope: _Scope) -> Iterator[TemplateProblem]:
    """Outside text is printed or tested; behind another name nobody would know it for what it is."""
    tainted = () if scope.is_command else untrusted_in(node, scope.names)
    for name in tainted:
        message = f"'inputs.{name}' is untrusted: print it or test it, it cannot be set or looped over"
        yield TemplateProblem(node.lineno, message)


_CHECKS: Final[Mapping[str, Callable[[Any, _Scope], Iterator[TemplateProblem]]]] = {
    "Assign": _check_assign,
    "Call": _check_call,
    "Filter": _check_filter,
    "For": _check_for,
    "Getattr": _check_access,
    "Getitem": _check_access,
    "Name": _check_name,
    "Test": _check_test,
}
