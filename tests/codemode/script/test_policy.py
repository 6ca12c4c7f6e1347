"""Every node of this Python's grammar is allowed with a reason, looked at, or refused; nothing is unknown."""

from __future__ import annotations

import ast

import pytest

from pi_batch.codemode.script.errors import Refused
from pi_batch.codemode.script.policy import _OWN, _PLAIN, INSIDE, PLAIN, REFUSED, Policy, restricted
from tests.codemode.corpus.plain import SCRIPTS

ABSTRACT = {"AST", "mod", "stmt", "expr", "expr_context", "boolop", "operator", "unaryop", "cmpop"} | {
    *("excepthandler", "pattern", "type_ignore", "type_param", "slice"),
    *("Num", "Str", "Bytes", "NameConstant", "Ellipsis", "Index", "ExtSlice", "Suite", "AugLoad"),
    *("AugStore", "Param"),
}
NODES = sorted(
    name
    for name, kind in vars(ast).items()
    if isinstance(kind, type) and issubclass(kind, ast.AST) and not name.startswith("_")
)


@pytest.mark.parametrize("name", [name for name in NODES if name not in ABSTRACT])
def test_a_node_stands_in_one_table(name: str) -> None:
    places = [name in _PLAIN, name in _OWN, name in REFUSED, name in INSIDE]
    assert places.count(True) == 1, "a node of a new Python: decide, and write the reason down"


def test_no_table_names_a_node_twice() -> None:
    assert sum(map(len, PLAIN.values())) == len(_PLAIN)
    assert all(len(reason) >= 20 for reason in PLAIN)


def test_a_node_of_another_python_is_refused() -> None:
    class Lazy(ast.stmt):
        _fields = ()

    node = Lazy(lineno=3, col_offset=1)
    with pytest.raises(Refused, match="Lazy is not known") as refused:
        Policy().visit(ast.Module(body=[node], type_ignores=[]))
    assert refused.value.line == 3


@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # of nodes without their fields
@pytest.mark.parametrize("name", REFUSED)
def test_what_is_refused_says_the_way_out(name: str) -> None:
    kind = getattr(ast, name, None)
    if kind is None:
        pytest.skip("not a node of this Python")
    with pytest.raises(Refused):
        Policy().visit(kind())


@pytest.mark.parametrize("name", SCRIPTS)
def test_what_is_allowed_compiles_with_no_attribute_read_left(name: str) -> None:
    tree = restricted(ast.parse(SCRIPTS[name].replace("await ", "")))
    kept = {
        id(inner)
        for node in ast.walk(tree)
        if isinstance(node, ast.MatchValue | ast.MatchClass | ast.MatchMapping)
        for inner in ast.walk(node)
    }
    reads = [
        node
        for node in ast.walk(tree)
        if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Load) and id(node) not in kept
    ]
    assert reads == []


def test_guards_have_names_that_no_source_can_spell() -> None:
    tree = restricted(ast.parse("x.y = z.w\nclass C(B):\n    pass\nimport json\nsuper().f\n"))
    hooks = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name) and not node.id.isidentifier()}
    assert hooks == {"$getattr", "$write", "$bases", "$class", "$import", "$super"}
