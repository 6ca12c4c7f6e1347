"""What a script may say: every node of Python's grammar, allowed with a reason, rewritten, or refused.

A subclass of RestrictedPython's transformer. Attribute reads become calls of a guard; writes go through a
guard that hands out only what a script may change; everything else is native, because what it yields is
guarded again as soon as an attribute of it is read. A node that stands in no table is refused, so that a new
Python's new syntax waits until somebody has thought about it.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence
from typing import Any, Final, cast

from RestrictedPython.transformer import RestrictingNodeTransformer

from pi_batch.codemode.script.errors import Refused
from pi_batch.codemode.script.names import (
    ABSTRACT,
    BASES,
    CLASS,
    CLASS_NAMES,
    CLASS_VAR,
    GETATTR,
    IMPORT,
    IMPORT_FROM,
    INIT_VAR,
    INSPECT,
    KEYWORD_ONLY,
    NATIVE,
    SPECIAL,
    SUPER,
    TEXTS,
    WRITE,
    complaint,
    mangled,
)

PLAIN: Final = {
    "literals and displays hold values": (
        *("Constant", "List", "Tuple", "Set", "Dict", "JoinedStr", "FormattedValue", "Slice", "Starred"),
    ),
    "operators call operator methods, and a class may only define those of `names.METHODS`": (
        *(
            "UnaryOp",
            "UAdd",
            "USub",
            "Not",
            "Invert",
            "BinOp",
            "Add",
            "Sub",
            "Mult",
            "Div",
            "FloorDiv",
            "Mod",
        ),
        *(
            "Pow",
            "LShift",
            "RShift",
            "BitOr",
            "BitXor",
            "BitAnd",
            "MatMult",
            "BoolOp",
            "And",
            "Or",
            "Compare",
        ),
        *("Eq", "NotEq", "Lt", "LtE", "Gt", "GtE", "Is", "IsNot", "In", "NotIn", "IfExp", "NamedExpr"),
    ),
    "contexts are no code": ("Load", "Store", "Del"),
    "control flow; iteration and unpacking hand out values whose attributes are guarded": (
        *("Module", "Expr", "Assign", "Delete", "Pass", "Break", "Continue", "If", "For", "While", "Try"),
        *("Assert", "Raise", "Return", "With", "withitem", "comprehension"),
        *("ListComp", "SetComp", "DictComp", "GeneratorExp", "Yield", "YieldFrom"),
    ),
    "awaitables are ours, and the scheduler is not asyncio: nothing new is reached": (
        *("Await", "AsyncFor", "AsyncWith"),
    ),
    "patterns that read no attribute": (
        *("Match", "match_case", "MatchSingleton", "MatchSequence", "MatchOr"),
    ),
    "a call is native: only what a guard or a name gave can be called": ("keyword",),
}
"""Reason -> nodes that are visited and stay as they are."""

REFUSED: Final = {
    "TryStar": "`except*` is not available in scripts: catch ExceptionGroup with `except`",
    "TypeAlias": "`type X = ...` is not available in scripts: leave it out",
    "TypeVar": "type parameters are not available in scripts: leave them out",
    "ParamSpec": "type parameters are not available in scripts: leave them out",
    "TypeVarTuple": "type parameters are not available in scripts: leave them out",
    "TemplateStr": "template strings are not available in scripts: use an f-string",
    "Interpolation": "template strings are not available in scripts: use an f-string",
    "Interactive": "not part of a script",
    "Expression": "not part of a script",
    "FunctionType": "not part of a script",
    "TypeIgnore": "not part of a script",
}
"""Node -> what to write instead."""

_TYPES: Final = frozenset({"str", "int", "float", "bool", "bytes", "list", "dict", "set", "tuple"})
_KNOWN_TO_DATACLASSES: Final = {"ClassVar": CLASS_VAR, "InitVar": INIT_VAR, "KW_ONLY": KEYWORD_ONLY}
_PLAIN = frozenset(name for names in PLAIN.values() for name in names)


class Policy(RestrictingNodeTransformer):
    """Rewrites a script's tree. Raises: Refused at the first thing that it may not say."""

    def __init__(self) -> None:
        super().__init__()
        self._classes: list[str] = []
        self._is_class_body = False
        self._is_async = True

    # --- which node goes where ---

    def visit(self, node: ast.AST) -> Any:
        """Dispatch by the tables above."""
        name = type(node).__name__
        if name in _PLAIN:
            return self.node_contents_visit(node)
        if name in REFUSED:
            raise _refused(node, REFUSED[name])
        method = _OWN.get(name)
        if method is None:
            raise _refused(node, f"{name} is not known to this version: write it another way")
        return method(self, node)  # type: ignore[operator]

    def _name(self, node: ast.AST, name: str | None) -> None:
        """Refuse a name that a script may not use. Raises: Refused."""
        if name is None or (self._is_class_body and name in CLASS_NAMES):
            return
        said = complaint(name)
        if said is not None:
            raise _refused(node, said)

    # --- names and attributes ---

    def name(self, node: ast.Name) -> Any:
        """`__name__` is "__main__"; the rest by the rules of names."""
        if node.id == "__name__" and isinstance(node.ctx, ast.Load):
            return ast.copy_location(ast.Constant("__main__"), node)
        if node.id == "__slots__" and self._is_class_body:
            return ast.copy_location(ast.Name("_slots", node.ctx), node)
        self._name(node, node.id)
        return node

    def attribute(self, node: ast.Attribute) -> Any:
        """A read is the guard's; what is written to must be the script's to change."""
        name = mangled(node.attr, self._classes[-1] if self._classes else None)
        if isinstance(node.ctx, ast.Load):
            if _is_super(node.value):
                value = self.visit(node.value)
                return _call(SUPER, [value, ast.Constant(name)], node)
            return _call(GETATTR, [self.visit(node.value), ast.Constant(name)], node)
        self._attribute_name(node, node.attr)
        node.value = _call(WRITE, [self.visit(node.value)], node)
        return node

    def _attribute_name(self, node: ast.AST, name: str) -> None:
        said = None if name in TEXTS else complaint(name)
        if said is not None:
            raise _refused(node, said)

    def written_subscript(self, node: ast.Subscript) -> ast.AST:
        """`x[i] = ...` and `del x[i]`: x must be the script's to change."""
        node = self.node_contents_visit(node)
        node.value = _call(WRITE, [node.value], node)
        return node

    def subscript(self, node: ast.Subscript) -> ast.AST:
        """A read is native: no policy is by item, and no attribute is read."""
        if isinstance(node.ctx, ast.Load):
            return self.node_contents_visit(node)
        return self.written_subscript(node)

    def augmented(self, node: ast.AugAssign) -> ast.AST:
        """Evaluated once, natively; the target is read without the guard, so it is none that is special."""
        if isinstance(node.target, ast.Attribute) and node.target.attr in SPECIAL:
            raise _refused(node, f"the attribute {node.target.attr} cannot be set in scripts")
        return self.node_contents_visit(node)

    def annotated(self, node: ast.AnnAssign) -> Any:
        """Never evaluated; in class bodies a stand-in is kept, for dataclasses: models name classes ahead."""
        if self._is_class_body:
            node.target = self.visit(node.target)
            node.annotation = _stand_in(node.annotation)
            node.value = None if node.value is None else self.visit(node.value)
            return node
        if node.value is None:
            return ast.copy_location(ast.Pass(), node)
        plain = ast.Assign(targets=[node.target], value=node.value)
        return self.visit(ast.copy_location(plain, node))

    def declared(self, node: ast.Global | ast.Nonlocal) -> ast.AST:
        """Binds names only."""
        for name in node.names:
            self._name(node, name)
        return node

    # --- calls ---

    def call(self, node: ast.Call) -> ast.AST:
        """`asyncio.run(X)` means `await X`."""
        if _is_asyncio_run(node) and len(node.args) == 1:
            if not self._is_async:
                raise _refused(
                    node, "`asyncio.run(...)` in a plain function: make it `async def` and await it"
                )
            return ast.copy_location(ast.Await(self.visit(node.args[0])), node)
        return self.node_contents_visit(node)

    # --- functions and classes ---

    def function(self, node: ast.FunctionDef | ast.AsyncFunctionDef) -> ast.AST:
        """Annotations are dropped; the names are checked; the body is a scope of its own."""
        self._name(node, node.name)
        if getattr(node, "type_params", None):
            raise _refused(node, REFUSED["TypeVar"])
        node.decorator_list = [self.visit(decorator) for decorator in node.decorator_list]
        node.returns = None
        self._arguments(node.args)
        was = self._is_class_body, self._is_async
        self._is_class_body, self._is_async = False, isinstance(node, ast.AsyncFunctionDef)
        node.body = self._block(node.body)
        self._is_class_body, self._is_async = was
        return node

    def lambda_(self, node: ast.Lambda) -> ast.AST:
        """As a function."""
        self._arguments(node.args)
        was = self._is_class_body, self._is_async
        self._is_class_body, self._is_async = False, False
        node.body = self.visit(node.body)
        self._is_class_body, self._is_async = was
        return node

    def _arguments(self, node: ast.arguments) -> None:
        every = [*node.posonlyargs, *node.args, *node.kwonlyargs]
        every += [extra for extra in (node.vararg, node.kwarg) if extra is not None]
        for argument in every:
            argument.annotation = None
            said = complaint(argument.arg)
            if said is not None:
                raise _refused(argument, said)
        node.defaults = [self.visit(default) for default in node.defaults]
        node.kw_defaults = [None if default is None else self.visit(default) for default in node.kw_defaults]

    def class_(self, node: ast.ClassDef) -> ast.AST:
        """Bases from a list, no metaclass; what was made is registered as the script's own."""
        self._name(node, node.name)
        if getattr(node, "type_params", None):
            raise _refused(node, REFUSED["TypeVar"])
        bases = [self.visit(base) for base in node.bases]
        for word in node.keywords:
            if word.arg == "metaclass" and _last_name(word.value) == "ABCMeta":
                bases.append(_at(ast.Name(ABSTRACT, ast.Load()), node))
            elif word.arg != "total":
                raise _refused(
                    node, f"class {node.name}({word.arg}=...): only bases are available in scripts"
                )
        node.keywords = [word for word in node.keywords if word.arg == "total"]
        node.bases = [_at(ast.Starred(_call(BASES, bases, node), ast.Load()), node)] if bases else []
        node.decorator_list = [self.visit(decorator) for decorator in node.decorator_list]
        node.decorator_list.append(_at(ast.Name(CLASS, ast.Load()), node))
        was = self._is_class_body, self._is_async
        self._is_class_body, self._is_async = True, False
        self._classes.append(node.name)
        node.body = self._block(node.body)
        self._classes.pop()
        self._is_class_body, self._is_async = was
        return node

    def _block(self, body: Sequence[ast.stmt]) -> list[ast.stmt]:
        made: list[ast.stmt] = []
        for statement in body:
            result = self.visit(statement)
            made += result if isinstance(result, list) else [result]
        return made

    # --- imports ---

    def import_(self, node: ast.Import) -> list[ast.stmt]:
        """`import a.b as c` is a lookup in our own table: no module is ever handed out."""
        made = []
        for alias in node.names:
            bound = alias.asname or alias.name.partition(".")[0]
            self._name(node, bound)
            wanted = [ast.Constant(alias.name), ast.Constant(alias.asname is not None)]
            made.append(self._bind(node, bound, _call(IMPORT, wanted, node)))
        return made

    def import_from(self, node: ast.ImportFrom) -> list[ast.stmt]:
        """Names from our own table; no `*`, nothing relative."""
        if node.level or node.module is None:
            raise _refused(node, "a script has no package: relative imports are not available")
        made = []
        for alias in node.names:
            if alias.name == "*":
                raise _refused(node, f"name what you need: `from {node.module} import ...`")
            bound = alias.asname or alias.name
            self._name(node, bound)
            wanted = [ast.Constant(node.module), ast.Constant(alias.name)]
            made.append(self._bind(node, bound, _call(IMPORT_FROM, wanted, node)))
        return made

    @staticmethod
    def _bind(node: ast.AST, name: str, value: ast.expr) -> Any:
        return _at(ast.Assign(targets=[_at(ast.Name(name, ast.Store()), node)], value=value), node)

    # --- exceptions and patterns ---

    def handler(self, node: ast.ExceptHandler) -> ast.AST:
        """Binds a name. Who catches a cancellation is cancelled again at the next await, by the scheduler."""
        self._name(node, node.name)
        return self.node_contents_visit(node)

    def capture(self, node: ast.MatchAs | ast.MatchStar) -> ast.AST:
        """Binds a name."""
        self._name(node, node.name)
        return self.node_contents_visit(node)

    def mapping(self, node: ast.MatchMapping) -> ast.AST:
        """Keys are values; the rest binds a name."""
        self._name(node, node.rest)
        node.keys = [self._pattern_value(key) for key in node.keys]
        node.patterns = [self.visit(pattern) for pattern in node.patterns]
        return node

    def value(self, node: ast.MatchValue) -> ast.AST:
        """A dotted value is read natively, so its names are checked here."""
        node.value = self._pattern_value(node.value)
        return node

    def class_pattern(self, node: ast.MatchClass) -> ast.AST:
        """Attributes are read natively, so their names are checked here."""
        for name in node.kwd_attrs:
            self._native_attribute(node, name)
        node.cls = self._pattern_value(node.cls)
        node.patterns = [self.visit(pattern) for pattern in node.patterns]
        node.kwd_patterns = [self.visit(pattern) for pattern in node.kwd_patterns]
        return node

    def _pattern_value(self, node: ast.expr) -> ast.expr:
        """A constant, or names with dots, which stay native. Raises: Refused."""
        inner: ast.expr = node
        while isinstance(inner, ast.Attribute):
            self._native_attribute(inner, inner.attr)
            inner = inner.value
        if isinstance(inner, ast.Name):
            self._name(inner, inner.id)
        return node

    @staticmethod
    def _native_attribute(node: ast.AST, name: str) -> None:
        if name.startswith("_") or name in SPECIAL | INSPECT | NATIVE:
            raise _refused(node, f"the attribute {name} is not available in patterns")


_OWN: Final = {
    "Name": Policy.name,
    "Attribute": Policy.attribute,
    "Subscript": Policy.subscript,
    "Call": Policy.call,
    "AugAssign": Policy.augmented,
    "AnnAssign": Policy.annotated,
    "Global": Policy.declared,
    "Nonlocal": Policy.declared,
    "FunctionDef": Policy.function,
    "AsyncFunctionDef": Policy.function,
    "Lambda": Policy.lambda_,
    "ClassDef": Policy.class_,
    "Import": Policy.import_,
    "ImportFrom": Policy.import_from,
    "ExceptHandler": Policy.handler,
    "MatchAs": Policy.capture,
    "MatchStar": Policy.capture,
    "MatchMapping": Policy.mapping,
    "MatchValue": Policy.value,
    "MatchClass": Policy.class_pattern,
}
"""Nodes that are looked at or rewritten."""

INSIDE: Final = ("arguments", "arg", "alias")
"""Parts of the nodes above, seen there."""


def restricted(tree: ast.Module) -> ast.Module:
    """The tree as it may run. Raises: Refused."""
    made: ast.Module = Policy().visit(tree)
    return ast.fix_missing_locations(made)


def _refused(node: ast.AST, text: str) -> Refused:
    return Refused(text, getattr(node, "lineno", None), getattr(node, "col_offset", None))


def _call(name: str, arguments: Sequence[ast.expr], node: ast.AST) -> Any:
    """A call of a guard that no source can spell."""
    return _at(ast.Call(func=_at(ast.Name(name, ast.Load()), node), args=list(arguments), keywords=[]), node)


def _at(made: Any, node: ast.AST) -> Any:
    return ast.copy_location(made, node)


def _last_name(node: ast.expr) -> str:
    """`ABCMeta` of `ABCMeta` and of `abc.ABCMeta`; empty for anything else."""
    return node.id if isinstance(node, ast.Name) else node.attr if isinstance(node, ast.Attribute) else ""


def _stand_in(annotation: ast.expr) -> ast.expr:
    """What a class body keeps of an annotation: a plain type, what dataclasses must know, or its text."""
    if isinstance(annotation, ast.Name) and annotation.id in _TYPES:
        return annotation
    text = ast.unparse(annotation)
    if isinstance(annotation, ast.Constant) and isinstance(annotation.value, str):
        text = annotation.value
    head = text.partition("[")[0].rpartition(".")[2].strip()
    if head in _KNOWN_TO_DATACLASSES:
        return cast(ast.expr, _at(ast.Name(_KNOWN_TO_DATACLASSES[head], ast.Load()), annotation))
    return cast(ast.expr, _at(ast.Constant(text), annotation))


def _is_super(node: ast.expr) -> bool:
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "super"


def _is_asyncio_run(node: ast.Call) -> bool:
    function = node.func
    return (
        isinstance(function, ast.Attribute)
        and function.attr == "run"
        and isinstance(function.value, ast.Name)
        and function.value.id == "asyncio"
    )
