"""The house stays small: lengths, docstrings, cycles and floors are held by test."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parents[1]
PACKAGE = sorted((ROOT / "pi_batch").rglob("*.py"))
TESTS = sorted((ROOT / "tests").rglob("*.py"))

MAX_MODULE_LINES = 500
USUAL_MODULE_LINES = 300
MAX_FUNCTION_LINES = 60
P95_FUNCTION_LINES = 35

Function = ast.FunctionDef | ast.AsyncFunctionDef


def lines_of(path: Path) -> list[str]:
    return path.read_text(encoding="utf-8").split("\n")


@cache
def tree_of(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"))


@cache
def nodes_of(path: Path) -> Sequence[ast.AST]:
    return tuple(ast.walk(tree_of(path)))


def functions(path: Path) -> Iterator[Function]:
    for node in nodes_of(path):
        if isinstance(node, Function):
            yield node


def length(function: Function) -> int:
    """Lines without the docstring."""
    assert function.end_lineno is not None
    total = function.end_lineno - function.lineno + 1
    first = function.body[0]
    if ast.get_docstring(function) is not None:
        assert first.end_lineno is not None
        total -= first.end_lineno - first.lineno + 1
    return total


def test_no_module_is_long() -> None:
    sizes = {str(path.relative_to(ROOT)): len(lines_of(path)) for path in PACKAGE}
    assert not {name: size for name, size in sizes.items() if size > MAX_MODULE_LINES}
    longer = [name for name, size in sizes.items() if size > USUAL_MODULE_LINES]
    assert len(longer) <= len(PACKAGE) // 20, longer


def test_no_function_is_long() -> None:
    sizes = sorted(
        (length(function), f"{path.relative_to(ROOT)}:{function.name}")
        for path in PACKAGE
        for function in functions(path)
    )
    assert sizes[-1][0] <= MAX_FUNCTION_LINES, sizes[-3:]
    assert sizes[int(len(sizes) * 0.95)][0] <= P95_FUNCTION_LINES


def is_public(name: str) -> bool:
    return not name.startswith("_")


def undocumented(path: Path) -> Iterator[str]:
    tree = tree_of(path)
    where = path.relative_to(ROOT)
    if ast.get_docstring(tree) is None:
        yield f"{where}"
    for node in tree.body:
        if not isinstance(node, Function | ast.ClassDef) or not is_public(node.name):
            continue
        if ast.get_docstring(node) is None:
            yield f"{where}:{node.name}"
        if isinstance(node, ast.ClassDef):
            for member in node.body:
                if (
                    isinstance(member, Function)
                    and is_public(member.name)
                    and ast.get_docstring(member) is None
                ):
                    yield f"{where}:{node.name}.{member.name}"


def test_everything_public_says_what_it_gives() -> None:
    assert [name for path in PACKAGE for name in undocumented(path)] == []


def test_tests_outweigh_the_code() -> None:
    code = sum(len(lines_of(path)) for path in PACKAGE)
    tests = sum(len(lines_of(path)) for path in TESTS)
    assert tests >= 1.2 * code, f"{tests} lines of tests for {code} lines of code"


def test_lines_are_split_on_newlines_only() -> None:
    """`splitlines` also splits on form feeds and others, so tools would count lines differently."""
    splitters = [
        f"{path.relative_to(ROOT)}:{node.lineno}"
        for path in PACKAGE
        for node in nodes_of(path)
        if isinstance(node, ast.Attribute) and node.attr == "splitlines"
    ]
    assert splitters == []


def test_only_wiring_reads_the_environment() -> None:
    readers = [
        str(path.relative_to(ROOT))
        for path in PACKAGE
        if "wiring" not in path.parts
        and any(
            isinstance(node, ast.Attribute) and node.attr in ("environ", "getenv")
            for node in nodes_of(path)
            if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "os"
        )
    ]
    assert readers == []


SCRIPT = ROOT / "pi_batch" / "codemode" / "script"


def test_a_broad_except_stands_at_the_edge_of_a_task_and_of_the_program_only() -> None:
    broad = [
        str(path.relative_to(ROOT))
        for path in PACKAGE
        for node in nodes_of(path)
        if isinstance(node, ast.ExceptHandler)
        and SCRIPT not in path.parents  # where a script's own code may raise anything
        and (node.type is None or (isinstance(node.type, ast.Name) and node.type.id == "Exception"))
    ]
    assert broad == ["pi_batch/__main__.py", "pi_batch/engine/task.py"]
