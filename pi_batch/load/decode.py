"""Nodes to spec models: the field's type decides how a text is read, never the text itself.

Understands the annotations that `spec.py` uses and no others: models, str, int, float, bool, Any,
Literal, tuple[X, ...], Mapping[str, X] and unions with None or of a scalar and a list.
"""

from __future__ import annotations

import types
from collections.abc import Callable, Mapping
from enum import Enum
from functools import cache
from typing import Annotated, Any, Final, Literal, TypeVar, Union, get_args, get_origin

from msgspec import Meta, Struct
from msgspec.structs import FieldInfo, fields

from pi_batch.load.nodes import Fields, Items, Node, Scalar, got
from pi_batch.load.problems import Problems, Where
from pi_batch.load.scalars import as_boolean, as_integer, as_number, core_value
from pi_batch.spec import SpecModel
from pi_batch.wording import listed, nearest

Rule = Callable[[Any], str | None]
"""What is wrong with a field's value, in the words after its path; None when nothing is."""
NodeRule = Callable[[Node], str | None]
"""The same for a field as written, before its type is looked at."""

M = TypeVar("M", bound=SpecModel)


class Invalid(Enum):
    """Stands for a value that could not be read; its problem has been noted."""

    INVALID = "invalid"


INVALID: Final = Invalid.INVALID


class Decoding(Struct, frozen=True):
    """What holds for all of one tree."""

    problems: Problems
    rules: Mapping[str, Rule]
    """By `Where.rule_key`; a rule sees a value that has its field's type."""
    node_rules: Mapping[str, NodeRule]
    """By `Where.rule_key`; what it refuses gets no second complaint about its type."""
    hints: Mapping[str, str]
    """What to say of a key that is unknown here but known elsewhere."""
    is_partial: bool = False
    """Only look for problems: required keys may come from elsewhere."""

    def refuse(self, node: Node, where: Where, need: str) -> Invalid:
        """Note `got ..., need ...`."""
        self.problems.add(node, where, f"got {got(node)}, need {need}")
        return INVALID


def decode_model(node: Node, model: type[M], where: Where, decoding: Decoding) -> M | Invalid:
    """A mapping as a model; every problem in it is noted."""
    if not isinstance(node, Fields):
        return decoding.refuse(node, where, "a mapping")
    known = fields_by_key(model)
    values: dict[str, Any] = {}
    is_valid = True
    for entry in node.entries:
        below = where.down(entry.key)
        if entry.key not in known:
            hint = decoding.hints.get(entry.key)
            message = "unknown key" + (f", {hint}" if hint else nearest(entry.key, known))
            decoding.problems.add(entry.node, below, message, line=entry.line)
            is_valid = False
        else:
            info = known[entry.key]
            value = values[info.name] = _decode(entry.node, info.type, below, decoding)
            is_valid = is_valid and value is not INVALID
    for key, info in known.items():
        if info.required and node.entry(key) is None and not decoding.is_partial:
            decoding.problems.add(node, where.down(key), f"missing, need {_wanted(info.type)}")
            is_valid = False
    return model(**values) if is_valid and not decoding.is_partial else INVALID


@cache
def fields_by_key(model: type[SpecModel]) -> Mapping[str, FieldInfo]:
    """A model's fields by the YAML's keys."""
    return {info.encode_name: info for info in fields(model)}


def _bounded(node: Node, annotation: Any, where: Where, decoding: Decoding) -> Any:
    """A value within the bounds that its type is annotated with."""
    kind, bound = get_args(annotation)
    value = _typed(node, kind, where, decoding)
    need = None if value is INVALID else _broken_bound(value, bound)
    if need is None:
        return value
    shown = node.text if isinstance(node, Scalar) and not isinstance(value, str) else got(node)
    decoding.problems.add(node, where, f"got {shown}, need {need}")
    return INVALID


def _broken_bound(value: Any, bound: Meta) -> str | None:
    """What a bound needs, where the value breaks it."""
    if bound.ge is not None and value < bound.ge:
        return f">= {bound.ge:g}"
    if bound.gt is not None and value <= bound.gt:
        return f"> {bound.gt:g}"
    if bound.min_length and not str(value).strip():
        return "text that is not blank"
    return None


def _decode(node: Node, annotation: Any, where: Where, decoding: Decoding) -> Any:
    """A value of the annotation's type that also keeps to the rules."""
    if isinstance(node, Scalar) and node.style == "refused":
        return INVALID
    key = where.rule_key
    node_rule, rule = decoding.node_rules.get(key), decoding.rules.get(key)
    complaint = node_rule(node) if node_rule else None
    value = INVALID if complaint else _typed(node, annotation, where, decoding)
    if rule and value is not INVALID:
        complaint = rule(value)
    if complaint:
        decoding.problems.add(node, where, complaint)
        return INVALID
    return value


def _typed(node: Node, annotation: Any, where: Where, decoding: Decoding) -> Any:
    origin, arguments = get_origin(annotation), get_args(annotation)
    if origin is Annotated:
        return _bounded(node, annotation, where, decoding)
    if origin in (Union, types.UnionType):
        return _union(node, arguments, where, decoding)
    if origin is tuple:
        return _list(node, arguments[0], where, decoding)
    if origin is not None and origin is not Literal and issubclass(origin, Mapping):
        return _mapping(node, arguments[1], where, decoding)
    if annotation is Any:
        return core_value(node)
    if origin is None and issubclass(annotation, SpecModel):
        return decode_model(node, annotation, where, decoding)
    return _scalar(node, annotation, where, decoding)


def _union(node: Node, arguments: tuple[Any, ...], where: Where, decoding: Decoding) -> Any:
    """None where it is allowed; otherwise the member that fits a list, or a single value."""
    if isinstance(node, Scalar) and node.is_null and types.NoneType in arguments:
        return None
    members = [member for member in arguments if member is not types.NoneType]
    if len(members) == 1:
        return _typed(node, members[0], where, decoding)
    lists = [member for member in members if get_origin(member) is tuple]
    others = [member for member in members if member not in lists]
    if isinstance(node, Items):
        return _typed(node, lists[0], where, decoding)
    value = _scalar_value(node, others[0]) if isinstance(node, Scalar) else INVALID
    if value is INVALID:
        return decoding.refuse(node, where, " or ".join(_wanted(member) for member in members))
    return value


def _list(node: Node, member: Any, where: Where, decoding: Decoding) -> Any:
    if not isinstance(node, Items):
        return decoding.refuse(node, where, f"a list of {_wanted(member, is_plural=True)}")
    values = [_decode(item, member, where.down(number), decoding) for number, item in enumerate(node.nodes)]
    return INVALID if any(value is INVALID for value in values) else tuple(values)


def _mapping(node: Node, member: Any, where: Where, decoding: Decoding) -> Any:
    if not isinstance(node, Fields):
        return decoding.refuse(node, where, "a mapping")
    values = {
        entry.key: _decode(entry.node, member, where.down(entry.key), decoding) for entry in node.entries
    }
    return INVALID if any(value is INVALID for value in values.values()) else values


def _scalar(node: Node, annotation: Any, where: Where, decoding: Decoding) -> Any:
    value = _scalar_value(node, annotation) if isinstance(node, Scalar) else INVALID
    if value is not INVALID:
        return value
    need = _wanted(annotation)
    if isinstance(node, Scalar):
        if node.is_null and node.text and annotation is str:
            need += f" (put {node.text} in quotes to mean the word)"
        elif node.style == "quoted" and _scalar_value(_unquoted(node), annotation) is not INVALID:
            need += " without quotes"
        elif get_origin(annotation) is Literal:
            need += nearest(node.text, [str(choice) for choice in get_args(annotation)])
    return decoding.refuse(node, where, need)


def _unquoted(node: Scalar) -> Scalar:
    return Scalar(node.source, node.line, node.text)


def _scalar_value(node: Scalar, annotation: Any) -> Any:
    """The text as a value of the type, or INVALID."""
    if get_origin(annotation) is Literal:
        return next((choice for choice in get_args(annotation) if _is_choice(node, choice)), INVALID)
    if annotation is str:
        return INVALID if node.is_null else node.text
    if node.style != "plain":
        return INVALID
    if annotation is bool:
        value: Any = as_boolean(node.text)
    elif annotation is int:
        value = as_integer(node.text)
    else:
        value = as_number(node.text)
    return INVALID if value is None else value


def _is_choice(node: Scalar, choice: Any) -> bool:
    if isinstance(choice, str):
        return node.text == choice
    return node.style == "plain" and as_integer(node.text) == choice


def _wanted(annotation: Any, *, is_plural: bool = False) -> str:
    """A type in words."""
    origin, arguments = get_origin(annotation), get_args(annotation)
    if origin is Annotated:
        return _wanted(arguments[0], is_plural=is_plural)
    if origin in (Union, types.UnionType):
        return " or ".join(_wanted(member) for member in arguments if member is not types.NoneType)
    if origin is Literal:
        choices = listed(str(choice) for choice in arguments)
        return choices if len(arguments) == 1 else f"one of {choices}"
    if origin is tuple:
        return f"a list of {_wanted(arguments[0], is_plural=True)}"
    words = {str: "text", int: "a whole number", float: "a finite number", bool: "true or false"}
    if annotation in words:
        return "texts" if annotation is str and is_plural else words[annotation]
    return "values" if annotation is Any else "mappings" if is_plural else "a mapping"
