"""Templates to code: parsed within bounds, checked, and rewritten so that nothing goes unseen.

Every value that is printed, every loop and every operation that can grow passes a function of
`template_functions`.
"""

from __future__ import annotations

import functools
from types import CodeType
from typing import TYPE_CHECKING, Any, Final

from pi_batch.errors import TemplateError
from pi_batch.template_functions import environment
from pi_batch.template_grammar import ROOTS, Names, TemplateProblem, check_tree, untrusted_in
from pi_batch.template_places import expression_text, misplaced_value

if TYPE_CHECKING:  # 70 ms of CPU, only for templates
    from jinja2 import nodes

MAX_DEPTH: Final = 60
"""Of a template's tree."""
MAX_TAGS: Final = 2_000
MAX_PARTS: Final = 20_000
"""Of a template's tree: compiling takes its time for each."""

_GROWING: Final = {"Add": "_plus", "Mul": "_times", "Mod": "_modulo"}


def check_template(text: str, names: Names, *, is_command: bool) -> tuple[TemplateProblem, ...]:
    """Everything wrong with a template that can be known without values."""
    try:
        tree = _parsed(text)
        found = check_tree(tree, names, is_command=is_command)
        misplaced = misplaced_value(tree, names) if is_command and not found else None
        if misplaced:
            return (misplaced,)
        if not found:
            compile_template(text, names)
    except TemplateError as error:
        return (TemplateProblem(error.line, str(error)),)
    return found


@functools.lru_cache(maxsize=256)
def compile_template(text: str, names: Names) -> CodeType:
    """Code of a template that `check_template` found nothing wrong with. Raises: TemplateError."""
    tree = _parsed(text)
    _rewrite(tree, names)
    try:
        code = environment().compile(tree, name="template", filename="<template>")
    except (SyntaxError, RecursionError, MemoryError, ValueError) as error:
        raise TemplateError("too deeply nested") from error
    assert isinstance(code, CodeType)  # noqa: S101 (raw=False: the overloads of jinja2 do not say so)
    return code


def _parsed(text: str) -> nodes.Template:
    """The tree. Raises: TemplateError with the line."""
    import jinja2

    if sum(text.count(start) for start in ("{{", "{%", "{#")) > MAX_TAGS:
        raise TemplateError(f"more than {MAX_TAGS} tags in one template")
    try:
        tree = environment().parse(text)
    except jinja2.TemplateSyntaxError as error:
        raise TemplateError(f"not a template: {error.message}", line=error.lineno) from error
    except (RecursionError, ValueError, OverflowError) as error:
        raise TemplateError("not a template: too deeply nested or a number too long") from error
    _check_size(tree)
    return tree


def _check_size(tree: nodes.Node) -> None:
    """Raises: TemplateError where a tree is too deep or too large to go through."""
    parts = 0
    waiting = [(tree, 1)]
    while waiting:
        node, depth = waiting.pop()
        parts += 1
        if depth > MAX_DEPTH:
            raise TemplateError(f"nested more than {MAX_DEPTH} deep")
        if parts > MAX_PARTS:
            raise TemplateError(f"more than {MAX_PARTS} parts in one template")
        waiting.extend((child, depth + 1) for child in node.iter_child_nodes())


def _rewrite(node: Any, names: Names) -> Any:
    """The same tree with every print, loop and growing operation through a function of ours."""
    if type(node).__name__ == "Output":
        node.nodes = [_printed(child, names) for child in node.nodes]
        return node
    for name, value in node.iter_fields():
        if isinstance(value, list):
            setattr(node, name, [_rewrite(item, names) if _is_node(item) else item for item in value])
        elif _is_node(value):
            setattr(node, name, _rewrite(value, names))
    return _replacement(node)


def _is_node(value: Any) -> bool:
    return hasattr(value, "iter_child_nodes")


def _printed(node: Any, names: Names) -> Any:
    """`{{ x }}` as a call that knows the line and what of it comes from outside."""
    from jinja2 import nodes

    if type(node).__name__ == "TemplateData":
        return node
    labels = nodes.Const(", ".join(untrusted_in(node, names)), lineno=node.lineno)
    line = nodes.Const(node.lineno, lineno=node.lineno)
    what = nodes.Const(expression_text(node), lineno=node.lineno)
    return _filtered(_rewrite(node, names), "_print", line, labels, what)


def _replacement(node: Any) -> Any:
    from jinja2 import nodes

    kind = type(node).__name__
    if kind in _GROWING:
        return _filtered(node.left, _GROWING[kind], node.right)
    if kind == "Concat":
        return _filtered(nodes.List(node.nodes, lineno=node.lineno), "join")
    if kind == "For":
        node.iter = _filtered(node.iter, "_counted")
    if kind == "Getattr" and type(node.node).__name__ == "Name" and node.node.name in ROOTS:
        # an input may be called `items`: a key first, never a method of the mapping
        return nodes.Getitem(node.node, nodes.Const(node.attr), "load", lineno=node.lineno)
    return node


def _filtered(node: Any, name: str, *arguments: Any) -> Any:
    from jinja2 import nodes

    return nodes.Filter(node, name, list(arguments), [], None, None, lineno=node.lineno)
