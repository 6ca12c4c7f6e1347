"""A model service out of a config file: a new one, or a known one with changes."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any, get_args, get_type_hints

from msgspec.structs import replace

from pi_batch.errors import UsageError
from pi_batch.providers.catalog import SERVICES, Api, Service, chat_service
from pi_batch.providers.compat import DEFAULT, Compat

APIS: tuple[Api, ...] = get_args(Api)
_KEYS = ("api", "base_url", "key_variable", "headers", "compat", "max_output_tokens", "context_window")


def service_from_config(name: str, table: Mapping[str, Any], where: str) -> Service:
    """A service out of a config file: a new one, or a known one with changes.

    Keys: api (openai | openai-chat | anthropic | google), base_url, key_variable ("" for none), headers,
    compat (fields of `Compat`), max_output_tokens, context_window. Raises: UsageError, a line a problem.
    """
    problems = _config_problems(table)
    known = SERVICES.get(name)
    if known is None and "base_url" not in table:
        problems.append("base_url: missing")
    if problems:
        raise UsageError("\n".join(f"{where}: providers.{name}: {problem}" for problem in problems))
    service = known or chat_service(name, str(table["base_url"]), DEFAULT)
    plain = ("api", "base_url", "max_output_tokens", "context_window")
    changes: dict[str, Any] = {key: table[key] for key in plain if key in table}
    if "key_variable" in table:
        variable = table["key_variable"]
        changes |= {"key_variables": (variable,) if variable else (), "needs_key": bool(variable)}
    if "headers" in table:
        changes["headers"] = MappingProxyType({**service.headers, **table["headers"]})
    if "compat" in table:
        habits: dict[str, Any] = {
            key: tuple(value) if isinstance(value, list) else value for key, value in table["compat"].items()
        }
        changes["compat"] = replace(service.compat, **habits)
    return replace(service, **changes)


def _config_problems(table: Mapping[str, Any]) -> list[str]:
    problems = []
    for key in table:
        if key not in _KEYS:
            near = difflib.get_close_matches(key, _KEYS, 1)
            problems.append(f"{key}: unknown{f'; did you mean {near[0]}?' if near else ''}")
    checks: dict[str, tuple[Callable[[Any], bool], str]] = {
        "api": (lambda value: value in APIS, f"one of {', '.join(APIS)}"),
        "base_url": (lambda value: isinstance(value, str) and "://" in value, "http://HOST or https://HOST"),
        "key_variable": (lambda value: isinstance(value, str), "a variable's name"),
        "headers": (_is_str_map, "a table of strings"),
        "compat": (lambda value: isinstance(value, Mapping), "a table"),
        "max_output_tokens": (lambda value: type(value) is int and value >= 1, "a number >= 1"),
        "context_window": (lambda value: type(value) is int and value >= 1, "a number >= 1"),
    }
    for key, (is_right, need) in checks.items():
        if key in table and not is_right(table[key]):
            problems.append(f"{key}: got {table[key]!r}, need {need}")
        elif key == "compat" and key in table:
            problems += _compat_problems(table[key])
    return problems


def _is_str_map(value: object) -> bool:
    return isinstance(value, Mapping) and all(isinstance(item, str) for item in (*value, *value.values()))


def _compat_problems(wanted: Mapping[str, Any]) -> list[str]:
    """What is wrong with quirks out of a config file, one line each; empty when `Compat(**wanted)` works."""
    hints = get_type_hints(Compat)
    known = set(Compat.__struct_fields__)
    problems = [
        f"compat.{key}: unknown; known are {', '.join(sorted(known))}" for key in wanted.keys() - known
    ]
    for key in sorted(wanted.keys() & known):
        value, hint = wanted[key], hints[key]
        allowed = get_args(hint)
        if hint is bool and not isinstance(value, bool):
            problems.append(f"compat.{key}: got {value!r}, need true or false")
        elif hint is str and not isinstance(value, str):
            problems.append(f"compat.{key}: got {value!r}, need a string")
        elif allowed and all(isinstance(word, str) for word in allowed) and value not in allowed:
            problems.append(f"compat.{key}: got {value!r}, need one of {', '.join(allowed)}")
        elif hint == tuple[str, ...] and not _is_strings(value):
            problems.append(f"compat.{key}: got {value!r}, need a list of strings")
        elif key == "extra_body" and not isinstance(value, Mapping):
            problems.append(f"compat.{key}: got {value!r}, need a table")
    return problems


def _is_strings(value: object) -> bool:
    return isinstance(value, list | tuple) and all(isinstance(item, str) for item in value)
