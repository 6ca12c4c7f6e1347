"""Between a tool's argument model and JSON: the schema that goes out, the arguments that come in."""

from __future__ import annotations

import builtins
import difflib
import json
import math
import re
import types
import typing
from collections.abc import Mapping
from functools import cache
from typing import Any, get_args, get_origin

from msgspec import Struct, ValidationError, convert
from msgspec.json import schema as schema_of

from pi_batch.arguments import Argument, arguments_of
from pi_batch.errors import ToolError
from pi_batch.messages import JsonObject, ToolDeclaration
from pi_batch.protocols import Tool

SHOWN_CHARS = 80
"""How much of a wrong value an error quotes."""


def declaration(tool: Tool) -> ToolDeclaration:
    """The tool as a model sees it: JSON Schema in the words that every provider takes.

    An object at the root, no $ref, no anyOf with null (an optional key is one that is not required), no
    titles; every array says what its items are.
    """
    return ToolDeclaration(tool.name, tool.description, _schema(tool.arguments))


def parse_arguments(tool: Tool, arguments: JsonObject) -> Struct:
    """A call's arguments as the tool's own model.

    Null for a key that may be left out counts as left out; numbers written as strings are numbers.
    Raises: ToolError(invalid_arguments) whose one text names every field that is wrong, what was got and
    what is expected.
    """
    problems: list[str] = []
    made: Struct | None = _model(tool.arguments, arguments, "", problems)
    if made is not None:
        return made
    raise ToolError(
        f"{tool.name}: invalid arguments, nothing was run: {'; '.join(problems)}. {_signature(tool)}",
        error_kind="invalid_arguments",
    )


# --- out ------------------------------------------------------------------------------------------


@cache
def _schema(model: type[Struct]) -> JsonObject:
    """The schema of a tool's arguments; made once a process, as every task has the same tools."""
    schema = schema_of(model)
    plain = _plain(schema["$defs"][model.__name__], schema["$defs"])
    plain.pop("description", None)
    return plain


def _plain(node: Mapping[str, Any], definitions: Mapping[str, Any]) -> dict[str, Any]:
    """One schema node without references, titles and null branches."""
    if "anyOf" in node:
        node = _without_null(node)
    if "$ref" in node:
        target = definitions[node["$ref"].rpartition("/")[2]]
        node = {**target, **{key: value for key, value in node.items() if key != "$ref"}}
    plain: dict[str, Any] = {}
    for key, value in node.items():
        match key:
            case "title" | "$defs":
                continue
            case "default" if value is None:
                continue
            case "properties":
                plain[key] = {name: _plain(child, definitions) for name, child in value.items()}
            case "description":
                plain[key] = " ".join(value.split())
            case "items":
                plain[key] = _plain(value, definitions)
            case "anyOf":
                plain[key] = [_plain(child, definitions) for child in value]
            case _:
                plain[key] = value
    if plain.get("type") == "array":
        plain.setdefault("items", {"type": "string"})
    return plain


def _without_null(node: Mapping[str, Any]) -> dict[str, Any]:
    branches = [branch for branch in node["anyOf"] if branch.get("type") != "null"]
    rest = {key: value for key, value in node.items() if key != "anyOf"}
    return {**branches[0], **rest} if len(branches) == 1 else {**rest, "anyOf": branches}


# --- in -------------------------------------------------------------------------------------------


def _model(model: type[Struct], given: Any, where: str, problems: list[str]) -> Any:
    """An instance of a model; None when there are problems, which are noted."""
    if not isinstance(given, Mapping):
        problems.append(_got(where, given, "an object"))
        return None
    before = len(problems)
    known, values = arguments_of(model), dict[str, Any]()
    for key, value in sorted(given.items(), key=lambda item: item[0] not in model.__struct_fields__):
        argument, below = known.get(key), f"{where}.{key[:SHOWN_CHARS]}" if where else key[:SHOWN_CHARS]
        if argument is None:
            problems.append(f"{below}: unknown argument{_near(key, known)}")
        elif value is None and not argument.is_required:
            continue
        elif argument.name in values:
            problems.append(f"{below}: given besides {argument.name!r}, which means the same; give only one")
        else:
            values[argument.name] = _value(argument, value, below, problems)
    lacking = [one.name for one in known.values() if one.is_required and one.name not in values]
    problems += [f"{f'{where}.' if where else ''}{name}: missing" for name in dict.fromkeys(lacking)]
    if len(problems) > before:
        return None
    try:
        return model(**values)
    except ValueError as error:
        problems.append(f"{where}: {error}" if where else str(error))
        return None


def _value(argument: Argument, value: Any, where: str, problems: list[str]) -> Any:
    """One field's value; what is wrong with it is noted."""
    try:
        raw = argument.coerce(value) if argument.coerce else value
    except ValueError as error:
        problems.append(f"{where}: {error}")
        return None
    member, is_list = _member(argument.type)
    if member is not None and not is_list:
        return _model(member, raw, where, problems)
    if member is not None and isinstance(raw, list):
        return tuple(_model(member, item, f"{where}[{at}]", problems) for at, item in enumerate(raw))
    try:
        made = convert(raw, argument.type, strict=False)
    except ValidationError as error:
        problems.append(_misfit(where, raw, str(error)))
        return None
    if isinstance(made, float) and not math.isfinite(made):
        problems.append(_got(where, raw, _WORDS["float"]))
    return made


def _member(kind: Any) -> tuple[type[Struct] | None, bool]:
    """The model that a field holds, itself or in a list; its keys have spellings of their own."""
    match get_origin(kind):
        case typing.Annotated:
            return _member(get_args(kind)[0])
        case typing.Union | types.UnionType:
            found = [_member(part) for part in get_args(kind) if part is not types.NoneType]
            return found[0] if len(found) == 1 else (None, False)
        case builtins.tuple:
            return _member(get_args(kind)[0])[0], True
        case _:
            return (kind, False) if isinstance(kind, type) and issubclass(kind, Struct) else (None, False)


_WORDS = {
    "int": "a whole number",
    "float": "a number",
    "str": "text",
    "bool": "true or false",
    "array": "a list",
    "object": "an object",
}
_MISFIT = re.compile(r"Expected `([^`]+)`(.*?)(?:, got `[^`]*`)?(?: - at `\$([^`]*)`)?")


def _misfit(where: str, value: Any, text: str) -> str:
    """What msgspec says of a value, in our words: where, what was got, what is expected."""
    found = _MISFIT.fullmatch(text)
    if found is None:
        return f"{where}: {text}"
    for index in re.findall(r"\[(\d+)\]", found[3] or ""):
        value = value[int(index)]
    kinds = [_WORDS.get(kind, kind) for kind in found[1].split(" | ") if kind != "null"]
    return _got(f"{where}{found[3] or ''}", value, f"{' or '.join(kinds)}{found[2]}")


def _got(where: str, value: Any, expected: str) -> str:
    return f"{where}: got {_shown(value)}, expected {expected}" if where else f"expected {expected}"


def _near(key: str, known: Mapping[str, Argument]) -> str:
    near = difflib.get_close_matches(key, sorted(known), n=1)
    return f", did you mean {known[near[0]].name!r}?" if near else ""


def _shown(value: Any) -> str:
    """A wrong value as JSON, shortened."""
    try:
        text = json.dumps(value, ensure_ascii=False)
    except (TypeError, ValueError):
        text = repr(value)
    return text if len(text) <= SHOWN_CHARS else f"{text[:SHOWN_CHARS]}… ({len(text)} characters)"


def _signature(tool: Tool) -> str:
    """What would have been right: `path (string), offset? (integer)`."""
    schema = declaration(tool).parameters
    required = schema.get("required", ())
    fields = (
        f"{name}{'' if name in required else '?'} ({node.get('type', 'value')})"
        for name, node in schema["properties"].items()
    )
    return f"Arguments of {tool.name}: {', '.join(fields)}."
