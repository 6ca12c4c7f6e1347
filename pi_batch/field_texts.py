"""The text under each field of a module's classes, read from its source when somebody wants to print it.

Not kept with the models: reading it costs 1 ms a model, for texts that only `pi-batch schema` shows.
"""

from __future__ import annotations

import ast
import inspect
from collections.abc import Mapping
from types import ModuleType


def field_texts(module: ModuleType) -> Mapping[str, Mapping[str, str]]:
    """Class name -> field name -> its text, cleaned as docstrings are. Raises: OSError without source."""
    tree = ast.parse(inspect.getsource(module))
    return {node.name: _texts_of(node) for node in tree.body if isinstance(node, ast.ClassDef)}


def _texts_of(cls: ast.ClassDef) -> Mapping[str, str]:
    texts = {}
    for field, below in zip(cls.body, cls.body[1:], strict=False):
        match field, below:
            case (
                ast.AnnAssign(target=ast.Name(id=name)),
                ast.Expr(value=ast.Constant(value=str(text))),
            ):
                texts[name] = inspect.cleandoc(text)
    return texts
