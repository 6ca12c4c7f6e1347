"""Frozen structs as JSON by their field names, and back by their type hints; messages in pi's JSON.

Reading is strict on what is known (a field of another type is an error that names its path) and lenient on
what is not (unknown fields are ignored, absent ones take their default).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache
from types import NoneType, UnionType
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

from msgspec import Struct

from pi_batch.messages import Message
from pi_batch.session import message_from_json, message_to_json

Decoder = Callable[[Any, str], Any]
"""(JSON, its path for messages) -> value. Raises: ValueError."""


def defaults(kind: type[Struct]) -> Mapping[str, Any]:
    """The fields that may be left out, in order, each with its default (or what msgspec makes one by)."""
    values = kind.__struct_defaults__
    return dict(zip(kind.__struct_fields__[len(kind.__struct_fields__) - len(values) :], values, strict=True))


def to_json(value: Any) -> Any:
    """A value in JSON's types; what is no struct, mapping or sequence is given back as it is."""
    match value:
        case None | str() | int() | float():
            return value
        case Mapping():
            return {str(key): to_json(item) for key, item in value.items()}
        case list() | tuple():
            return [to_json(item) for item in value]
        case _ if isinstance(value, Message):
            return message_to_json(value)
        case Struct():
            return {name: to_json(getattr(value, name)) for name in value.__struct_fields__}
        case _:
            return value


def from_json(kind: Any, value: Any, where: str) -> Any:
    """An instance of a struct. Raises: ValueError naming the path below `where`."""
    if not isinstance(value, Mapping):
        raise _wrong(where, value, "an object")
    missing = sorted(_required(kind) - value.keys())
    if missing:
        raise ValueError(f"{where}: lacks {', '.join(missing)}")
    known = _decoders(kind)
    return kind(
        **{name: known[name](item, f"{where}.{name}") for name, item in value.items() if name in known}
    )


@cache
def _decoders(kind: Any) -> Mapping[str, Decoder]:
    hints = get_type_hints(kind)
    return {name: _decoder(hints[name]) for name in kind.__struct_fields__}


@cache
def _required(kind: type[Struct]) -> frozenset[str]:
    return frozenset(kind.__struct_fields__) - defaults(kind).keys()


def _decoder(hint: Any) -> Decoder:
    origin, arguments = get_origin(hint), get_args(hint)
    if hint is Any:
        return lambda value, _: value
    if origin in (UnionType, Union):
        return _optional([item for item in arguments if item is not NoneType])
    if origin is Literal:
        return _literal(arguments)
    if origin is tuple:
        return _sequence(_decoder(arguments[0]))
    if origin is not None and issubclass(origin, Mapping):
        return _mapping(_decoder(arguments[1]))
    if issubclass(hint, Struct):
        return lambda value, where: from_json(hint, value, where)
    return _scalar(hint)


def _optional(arguments: list[Any]) -> Decoder:
    is_message = set(arguments) == set(get_args(Message))
    inner = _decode_message if is_message else _decoder(arguments[0])
    return lambda value, where: None if value is None else inner(value, where)


def _literal(allowed: tuple[Any, ...]) -> Decoder:
    def decode(value: Any, where: str) -> Any:
        if value not in allowed:
            raise _wrong(where, value, f"one of {', '.join(map(str, allowed))}")
        return value

    return decode


def _sequence(item: Decoder) -> Decoder:
    def decode(value: Any, where: str) -> Any:
        if not isinstance(value, list):
            raise _wrong(where, value, "a list")
        return tuple(item(element, f"{where}[{index}]") for index, element in enumerate(value))

    return decode


def _mapping(item: Decoder) -> Decoder:
    def decode(value: Any, where: str) -> Any:
        if not isinstance(value, Mapping):
            raise _wrong(where, value, "an object")
        return {key: item(element, f"{where}.{key}") for key, element in value.items()}

    return decode


def _scalar(kind: type) -> Decoder:
    allowed = (int, float) if kind is float else kind

    def decode(value: Any, where: str) -> Any:
        if not isinstance(value, allowed) or (isinstance(value, bool) and kind is not bool):
            raise _wrong(where, value, kind.__name__)
        return value

    return decode


def _decode_message(value: Any, where: str) -> Message:
    message = message_from_json(value)
    if message is None:
        raise _wrong(where, value, "a message")
    return message


def _wrong(where: str, value: Any, need: str) -> ValueError:
    return ValueError(f"{where}: got {value!r:.80}, need {need}")
