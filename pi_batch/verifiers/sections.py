"""Parts of mixed configuration files that decide how tests are run, compared with the start's.

Files like pyproject.toml hold much that a fix may change: dependencies, versions, tools. They cannot be put
back whole, so a check that passes with one of these parts changed does not count.

Sources: pytest's "Configuration file formats" and "Making your plugin installable by others", tox's
"Configuration", jest's "Configuring Jest", npm's "scripts".
"""

from __future__ import annotations

import configparser
import json
import posixpath
import re
import tomllib
from collections.abc import Callable, Collection, Iterator, Mapping
from typing import Any

from pi_batch.harness import is_lifted
from pi_batch.invocations import Invocation, invocations
from pi_batch.protocols import CheckContext
from pi_batch.results import ChangedFile
from pi_batch.runners import may_run, may_run_family, named_runner

MAX_FILE_BYTES = 4 * 1024 * 1024

Parts = Mapping[str, object]
"""Name of a part -> its content, for comparing only."""

_PYPROJECT: Mapping[str, str] = {
    "tool.pytest": "",
    "project.entry-points.pytest11": "",
    "tool.poetry.plugins.pytest11": "",
    "tool.setuptools.entry-points.pytest11": "",
    "tool.tox": "tox",
    "tool.hatch.envs": "hatch",
    "tool.pdm.scripts": "pdm",
    "tool.poe": "poe",
}
"""Table -> the program that has to be in the check for it to matter; empty: always."""


_SCRIPT_TOOLS = frozenset({"npm", "yarn", "pnpm", "bun", "npx", "jest"})
_SCRIPT_ALIASES = {"t": "test", "tst": "test"}


async def changed_sections(context: CheckContext, command: str) -> tuple[str, ...]:
    """Each part that differs from the start, as `pyproject.toml: [tool.pytest] was changed`."""
    if context.changes is None or context.start_text is None:
        return ()
    calls = invocations(command)
    found: list[str] = []
    for file in context.changes.files:
        for path in dict.fromkeys((file.path, file.old_path or file.path)):
            read = _READERS.get(posixpath.basename(path))
            if read is None or is_lifted(path, context.protect) or not _matters(path, calls):
                continue
            before = _parts(read, await context.start_text(path), calls)
            after = _parts(read, await _text_now(context, file, path), calls)
            names = sorted(
                name for name in before.keys() | after.keys() if before.get(name) != after.get(name)
            )
            found += [f"{path}: {name} was changed" for name in names]
    return tuple(found)


def _matters(path: str, calls: Collection[Invocation]) -> bool:
    """True when a runner that a check starts may read this file as its configuration.

    Runners look in the directories above where they start; below it takes a call that starts or points
    there, and who starts runners out of sight may do so.
    """
    if {"node_modules", "site-packages"} & set(path.split("/")):
        return False
    if not may_run_family(calls, "js" if path.endswith(".json") else "python"):
        return False
    directory = posixpath.dirname(path)
    pointed_at = (
        posixpath.normpath(posixpath.join(call.cwd, word))
        for call in calls
        for word in (".", *call.words[1:])
    )
    return (
        not directory
        or path.startswith("../")
        or any(named_runner(call) is None for call in calls)
        or any(f"{target}/".startswith(f"{directory}/") for target in pointed_at)
    )


async def _text_now(context: CheckContext, file: ChangedFile, path: str) -> str | None:
    if file.status == "deleted" or path != file.path:
        return None
    try:
        content = await context.sandbox.read(f"{context.path}/{path}", limit_bytes=MAX_FILE_BYTES)
    except OSError:
        return None
    return content.decode("utf-8", "replace")


def _parts(
    read: Callable[[str, Collection[Invocation]], Parts], text: str | None, calls: Collection[Invocation]
) -> Parts:
    """A file's parts; of one that does not parse, the whole of it."""
    if text is None:
        return {}
    try:
        return {name: part for name, part in read(text, calls).items() if part not in (None, {}, "")}
    except (ValueError, configparser.Error):
        return {"what cannot be parsed": text}


def _programs(calls: Collection[Invocation]) -> set[str]:
    return {program for call in calls for program in (call.program, *call.via)}


def _pyproject(text: str, calls: Collection[Invocation]) -> Parts:
    document = tomllib.loads(text)
    programs = _programs(calls)
    tables = [table for table, program in _PYPROJECT.items() if not program or program in programs]
    return {f"[{table}]": _table(document, table) for table in tables}


def _table(document: Mapping[str, Any], name: str) -> object:
    value: Any = document
    for key in name.split("."):
        value = value.get(key) if isinstance(value, dict) else None
    return value


def _ini(text: str) -> configparser.ConfigParser:
    parser = configparser.ConfigParser(interpolation=None, strict=False, allow_no_value=True)
    parser.read_string(text)
    return parser


def _setup_cfg(text: str, calls: Collection[Invocation]) -> Parts:
    parser = _ini(text)
    parts = {f"[{name}]": dict(parser[name]) for name in ("tool:pytest", "pytest") if name in parser}
    plugins = parser.get("options.entry_points", "pytest11", fallback=None)
    return {**parts, "[options.entry_points] pytest11": plugins}


def _tox_ini(text: str, calls: Collection[Invocation]) -> Parts:
    parser = _ini(text)
    wanted = ("pytest", "tox", "testenv") if "tox" in _programs(calls) else ("pytest",)
    names = [name for name in parser.sections() if name.startswith(wanted)]
    return {f"[{name}]": dict(parser[name]) for name in names}


def _setup_py(text: str, calls: Collection[Invocation]) -> Parts:
    return {"pytest11": "\n".join(re.findall(r".*pytest11.*", text))}


def _package_json(text: str, calls: Collection[Invocation]) -> Parts:
    document = json.loads(text)
    if not isinstance(document, dict):
        return {}
    scripts = document.get("scripts")
    wanted = dict(_called_scripts(scripts, calls)) if isinstance(scripts, dict) else {}
    return {"jest": document.get("jest"), **{f"scripts.{name}": text for name, text in wanted.items()}}


def _called_scripts(
    scripts: Mapping[str, object], calls: Collection[Invocation]
) -> Iterator[tuple[str, object]]:
    """The scripts that a check starts, with their hooks and the scripts that these start in turn."""
    queue = [_SCRIPT_ALIASES.get(word, word) for call in calls for word in call.words[1:]]
    if any(call.program not in _SCRIPT_TOOLS and may_run(call) for call in calls):
        queue.append("test")
    seen: set[str] = set()
    while queue:
        name = queue.pop()
        if name in seen or name not in scripts:
            continue
        seen.add(name)
        yield name, scripts[name]
        queue += [f"pre{name}", f"post{name}", *re.findall(r"[\w:.-]+", str(scripts[name]))]


_READERS: Mapping[str, Callable[[str, Collection[Invocation]], Parts]] = {
    "pyproject.toml": _pyproject,
    "setup.cfg": _setup_cfg,
    "tox.ini": _tox_ini,
    "setup.py": _setup_py,
    "package.json": _package_json,
}
