"""Hypothesis strategies for our values, made from their type hints."""

from __future__ import annotations

from collections.abc import Mapping
from types import NoneType, UnionType
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

from hypothesis import strategies as st
from msgspec import Struct

from pi_batch.messages import (
    AssistantMessage,
    ImageBlock,
    Message,
    SystemMessage,
    TextBlock,
    ToolResultMessage,
    UserMessage,
)
from pi_batch.struct_json import defaults

CLEAN_TEXT = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=12)
SAID = CLEAN_TEXT.filter(lambda text: bool(text.strip()))
JSON_VALUES: st.SearchStrategy[Any] = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**53), 2**53)
    | st.floats(allow_nan=False, allow_infinity=False)
    | CLEAN_TEXT,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(CLEAN_TEXT, inner, max_size=3),
    max_leaves=6,
)
JSON_OBJECTS = st.dictionaries(CLEAN_TEXT, JSON_VALUES, max_size=3)


def values_of(hint: Any) -> st.SearchStrategy[Any]:
    """Values of a type as its fields' hints describe it."""
    origin, arguments = get_origin(hint), get_args(hint)
    if hint is Any:
        return JSON_VALUES
    if set(arguments) - {NoneType} == set(get_args(Message)):
        return messages() if NoneType not in arguments else st.none() | messages()
    if origin in (UnionType, Union):
        return st.one_of(*(values_of(item) for item in arguments))
    if origin is Literal:
        return st.sampled_from(arguments)
    if origin is tuple:
        return st.lists(values_of(arguments[0]), max_size=3).map(tuple)
    if origin is not None and issubclass(origin, Mapping):
        return st.dictionaries(CLEAN_TEXT, values_of(arguments[1]), max_size=3)
    if issubclass(hint, Struct):
        return instances(hint)
    return SCALARS[hint]


SCALARS: dict[Any, st.SearchStrategy[Any]] = {
    str: CLEAN_TEXT,
    bool: st.booleans(),
    int: st.integers(0, 2**40),
    float: st.floats(0, 1e9, allow_nan=False),
    NoneType: st.none(),
}


def instances(kind: Any) -> st.SearchStrategy[Any]:
    """Instances of a struct; its `type` and `role` keep their default."""
    hints = get_type_hints(kind)
    wanted = {
        name: values_of(hints[name])
        for name in kind.__struct_fields__
        if name not in {"type", "role"} or name not in defaults(kind)
    }
    return st.builds(kind, **wanted)


def _whole(message: AssistantMessage) -> bool:
    """What a provider gives: the wire is named, raw text is kept only where it does not parse."""
    calls_are_plain = all(call.arguments is None or not call.raw_arguments for call in message.tool_calls)
    return bool(message.api) and calls_are_plain and message.provider != "openai-chat"


def messages() -> st.SearchStrategy[Message]:
    """Messages as the engine records them: no blank result, no field that only pi has."""
    said = st.builds(TextBlock, SAID, st.none() | CLEAN_TEXT)
    image = instances(ImageBlock)
    results = st.builds(
        ToolResultMessage,
        CLEAN_TEXT,
        CLEAN_TEXT,
        st.lists(said | image, min_size=1, max_size=3).map(tuple),
        is_error=st.booleans(),
        error_kind=st.sampled_from(
            [None, "malformed_tool_call", "unknown_tool", "denied", "timeout", "failed"]
        ),
        details=JSON_OBJECTS.filter(lambda details: not {"error_kind", "nestedCalls"} & details.keys()),
        timestamp_ms=st.integers(0, 2**42),
    )
    return st.one_of(
        instances(SystemMessage), instances(UserMessage), instances(AssistantMessage).filter(_whole), results
    )
