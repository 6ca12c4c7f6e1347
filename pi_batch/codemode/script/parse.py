"""From source to a tree, within limits, as the body of one asynchronous function.

The function's own names are declared global: so helpers reach the script's variables with `global` and with
`nonlocal` alike, as the writer meant.
"""

from __future__ import annotations

import ast
import sys
import warnings
from collections.abc import Iterator

from pi_batch.codemode.script.errors import FILE, Refused
from pi_batch.codemode.script.names import MAIN
from pi_batch.codemode.values import MAX_SOURCE_BYTES

MAX_NODES = 100_000
MAX_DEPTH = 180

_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)
_SCOPES = (*_FUNCTIONS, ast.ClassDef, ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)


def parse(source: str) -> ast.Module:
    """The script as a module. Raises: Refused."""
    if len(source.encode("utf-8", "surrogatepass")) > MAX_SOURCE_BYTES:
        raise Refused(f"the script is longer than {MAX_SOURCE_BYTES // 1024} KiB: split it")
    if "\0" in source:
        raise Refused("the script holds a NUL character")
    try:
        source.encode("utf-8")
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            tree = ast.parse(source, FILE)
    except SyntaxError as error:
        column = error.offset - 1 if error.offset else None
        raise Refused(f"SyntaxError: {error.msg}", error.lineno, column) from None
    except UnicodeEncodeError:
        raise Refused("the script holds a lone surrogate") from None
    except (RecursionError, MemoryError, ValueError):
        raise Refused("the script is nested too deeply") from None
    _measure(tree)
    return tree


def _measure(tree: ast.AST) -> None:
    """Count level by level, without recursion. Raises: Refused."""
    level: list[ast.AST] = [tree]
    count = depth = 0
    while level:
        count += len(level)
        depth += 1
        if count > MAX_NODES or depth > MAX_DEPTH:
            line = getattr(level[0], "lineno", None)
            what = "has too many parts" if count > MAX_NODES else "is nested too deeply"
            raise Refused(f"the script {what}: split it", line)
        level = [child for node in level for child in ast.iter_child_nodes(node)]


def wrapped(tree: ast.Module) -> ast.Module:
    """The script as one function. Raises: Refused for a `yield` at its top."""
    body = [statement for statement in tree.body if not _is_future(statement)]
    for node in _own_nodes(body):
        if isinstance(node, ast.Yield | ast.YieldFrom):
            raise Refused("`yield` stands outside of a function", node.lineno, node.col_offset)
    names = _bound_names(body)
    _resolve_nonlocals(body)
    body = [_without_globals(statement) for statement in body]
    function = ast.AsyncFunctionDef(
        name=MAIN,
        args=ast.arguments(posonlyargs=[], args=[], kwonlyargs=[], kw_defaults=[], defaults=[]),
        body=[*([ast.Global(names=sorted(names))] if names else []), *body, ast.Pass()],
        decorator_list=[],
    )
    if sys.version_info >= (3, 12):
        function.type_params = []
    return ast.fix_missing_locations(ast.Module(body=[function], type_ignores=[]))


def _is_future(statement: ast.stmt) -> bool:
    return isinstance(statement, ast.ImportFrom) and statement.module == "__future__"


def _own_nodes(body: list[ast.stmt]) -> Iterator[ast.AST]:
    """Every node of the script's own scope: of what opens another scope, only what is evaluated here."""
    pending: list[ast.AST] = list(reversed(body))
    while pending:
        node = pending.pop()
        yield node
        if not isinstance(node, _SCOPES):
            pending += list(ast.iter_child_nodes(node))
        elif isinstance(node, _FUNCTIONS):
            pending += [*getattr(node, "decorator_list", []), *node.args.defaults]
            pending += [default for default in node.args.kw_defaults if default is not None]
        elif isinstance(node, ast.ClassDef):
            pending += [*node.decorator_list, *node.bases, *(word.value for word in node.keywords)]
        else:
            pending += _walrus_targets(node)
            pending.append(node.generators[0].iter)


def _walrus_targets(comprehension: ast.AST) -> list[ast.AST]:
    """Names that `:=` binds outside of the comprehension that it stands in."""
    return [node.target for node in ast.walk(comprehension) if isinstance(node, ast.NamedExpr)]


def _bound_names(body: list[ast.stmt]) -> set[str]:
    names: set[str] = set()
    for node in _own_nodes(body):
        names |= set(_names_of(node))
    return names


def _names_of(node: ast.AST) -> Iterator[str]:
    """What one node binds in its scope."""
    match node:
        case ast.Name(id=name, ctx=ast.Store() | ast.Del()):
            yield name
        case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
            yield name
        case ast.Import(names=aliases):
            yield from (alias.asname or alias.name.partition(".")[0] for alias in aliases)
        case ast.ImportFrom(names=aliases):
            yield from (alias.asname or alias.name for alias in aliases if alias.name != "*")
        case ast.ExceptHandler(name=str(name)) | ast.MatchAs(name=str(name)) | ast.MatchStar(name=str(name)):
            yield name
        case ast.MatchMapping(rest=str(name)):
            yield name
        case ast.Global(names=named):
            yield from named
        case _:
            return


def _resolve_nonlocals(body: list[ast.stmt]) -> None:
    """A `nonlocal` of the script's own variables is a `global`: no function around it binds them."""
    pending: list[tuple[ast.AST, frozenset[str]]] = [(statement, frozenset()) for statement in body]
    while pending:
        node, around = pending.pop()
        inner = around
        if isinstance(node, _FUNCTIONS):
            inner = around | _locals_of(node)
        for field, value in ast.iter_fields(node):
            if not isinstance(value, list):
                if isinstance(value, ast.AST):
                    pending.append((value, inner))
                continue
            value[:] = [part for item in value for part in _split(item, around)]
            is_inside = field == "body" or not isinstance(node, _FUNCTIONS)
            pending += [(item, inner if is_inside else around) for item in value if isinstance(item, ast.AST)]


def _split(item: object, around: frozenset[str]) -> list[object]:
    """A `nonlocal` statement as one for what a function binds and a `global` for the rest."""
    if not isinstance(item, ast.Nonlocal):
        return [item]
    real = [name for name in item.names if name in around]
    free = [name for name in item.names if name not in real]
    made: list[object] = []
    if real:
        made.append(ast.copy_location(ast.Nonlocal(names=real), item))
    if free:
        made.append(ast.copy_location(ast.Global(names=free), item))
    return made


def _locals_of(function: ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda) -> frozenset[str]:
    """What a function binds: its arguments, and names in its body that it does not declare otherwise."""
    arguments = function.args
    named = [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs]
    named += [extra for extra in (arguments.vararg, arguments.kwarg) if extra is not None]
    names = {argument.arg for argument in named}
    body: list[ast.stmt] = function.body if isinstance(function.body, list) else [ast.Expr(function.body)]
    declared: set[str] = set()
    for node in _own_nodes(body):
        if isinstance(node, ast.Global | ast.Nonlocal):
            declared |= set(node.names)
        else:
            names |= set(_names_of(node))
    return frozenset(names - declared)


def _without_globals(statement: ast.stmt) -> ast.stmt:
    """A `global` of the script's own scope says nothing; it would be an error after a use of the name."""
    if isinstance(statement, ast.Global):
        return ast.copy_location(ast.Pass(), statement)
    if isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        return statement
    for field in ("body", "orelse", "finalbody"):
        block = getattr(statement, field, None)
        if isinstance(block, list):
            block[:] = [_without_globals(inner) for inner in block]
    for part in (*getattr(statement, "handlers", ()), *getattr(statement, "cases", ())):
        part.body[:] = [_without_globals(inner) for inner in part.body]
    return statement
