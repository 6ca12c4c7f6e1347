"""Settings that are not about one run: a configuration file's, and the environment's.

The file is `.pi-batch.toml`, or `[tool.pi-batch]` of a pyproject.toml; the nearest one counts, from the
current directory up to the repository's root. Every key has a variable PI_BATCH_<KEY> too.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Final, get_args

from msgspec import Struct

from pi_batch.load.problems import Problems
from pi_batch.load.rules import image_name
from pi_batch.load.scalars import as_integer, as_number
from pi_batch.load.virtual import virtual_models
from pi_batch.load.yaml import read_file
from pi_batch.model_names import THINKING_LEVELS, model_name
from pi_batch.spec import CodemodeMode, SandboxName, Trust, VirtualModel
from pi_batch.wording import listed, nearest, printable, quoted

CONFIG_FILE: Final = ".pi-batch.toml"
_TABLE = re.compile(r"(?m)^\s*\[\s*tool\s*\.\s*[\"']?pi-batch[\"']?\s*\]")


class Config(Struct, frozen=True):
    """What one place says; None = nothing."""

    model: str | None = None
    thinking: str | None = None
    """How much to think, for specs that do not say."""
    sandbox: str | None = None
    sandbox_image: str | None = None
    """What docker and podman make a container of."""
    sandbox_required: bool | None = None
    """Refuse to run without a sandbox."""
    codemode: str | None = None
    """on, only or off, for specs that do not say."""
    output: str | None = None
    """Where run directories go; absolute when it comes from a file."""
    trust: str | None = None
    """untrusted for every task; trusted lifts nothing."""
    max_turns: int | None = None
    """For specs that set no budget.turns; the next three likewise."""
    max_tokens: int | None = None
    max_cost_usd: float | None = None
    max_wall_s: float | None = None
    repeat: int | None = None
    """How often each task runs, where neither the command line nor its suite says."""
    jobs: int | None = None
    """Tasks at a time."""
    idle_timeout_s: float | None = None
    """Between two parsed events of a stream."""
    max_output_tokens: int | None = None
    """Of one request."""
    context_window: int | None = None
    """Tokens that the model takes in and gives out together, where no table says so or less is to be used."""
    compaction_model: str | None = None
    """Who sums a long history up; None: the task's own model."""
    compaction_reserve_tokens: int | None = None
    """What a history leaves free of the window before it is summed up."""
    max_retries: int | None = None
    retry_cap_s: float | None = None
    """The longest wait before another try."""
    prices: str | None = None
    """A JSON or TOML price file; absolute when it comes from a file."""
    cache_dir: str | None = None
    """Where --cache keeps replies; absolute when it comes from a file."""
    mirrors: str | None = None
    """Where mirrors of other repositories are kept; absolute when it comes from a file."""
    state: str | None = None
    """Where what was tried is remembered between nights; absolute when it comes from a file."""
    providers: Mapping[str, Any] | None = None
    """Services of one's own, name -> table of base_url, key_variable, api, headers, compat, context_window;
    files only."""
    models: Mapping[str, VirtualModel] | None = None
    """Virtual models by name; files only."""
    file: str = ""
    """Where this was read; empty for the environment."""


def sandbox_name(name: str) -> str | None:
    """What is wrong with a sandbox's name."""
    names = get_args(SandboxName)
    if name in names:
        return None
    return f"got {quoted(name)}, need one of {listed(names)}{nearest(name, names)}"


def codemode_name(name: str) -> str | None:
    """What is wrong with a way to use codemode."""
    names = get_args(CodemodeMode)
    return None if name in names else f"got {quoted(name)}, need one of {listed(names)}"


def thinking_level(level: str) -> str | None:
    """What is wrong with a thinking level."""
    if level in THINKING_LEVELS:
        return None
    return f"got {quoted(level)}, need one of {listed(THINKING_LEVELS)}{nearest(level, THINKING_LEVELS)}"


def _text(value: Any, complain: Callable[[str], str | None] = lambda _: None) -> str | None:
    if not isinstance(value, str) or not value.strip() or "\0" in value:
        return f"got {quoted(str(value))}, need text"
    return complain(value)


def _trust(name: str) -> str | None:
    names = get_args(Trust)
    return None if name in names else f"got {quoted(name)}, need one of {listed(names)}"


def _number(
    value: Any, *, above: float | None = None, least: int | None = None, is_whole: bool = True
) -> str | None:
    is_whole = is_whole and above is None
    kinds = (int,) if is_whole else (int, float)
    if not isinstance(value, kinds) or isinstance(value, bool) or not math.isfinite(value):
        return f"got {quoted(str(value))}, need a {'whole' if is_whole else 'finite'} number"
    if above is not None and value <= above:
        return f"got {value}, need > {above:g}"
    return f"got {value}, need >= {least}" if least is not None and value < least else None


def _truth(value: Any) -> str | None:
    return None if isinstance(value, bool) else f"got {quoted(str(value))}, need true or false"


def _tables(value: Any) -> str | None:
    if isinstance(value, Mapping) and all(isinstance(table, Mapping) for table in value.values()):
        return None
    return f"got {quoted(str(value))}, need a table for each service"


def _virtual(value: Any) -> str | None:
    if not isinstance(value, Mapping):
        return f"got {quoted(str(value))}, need a table for each virtual model"
    try:
        virtual_models(value)
    except ValueError as error:
        return printable(str(error))
    return None


SETTINGS: Final[Mapping[str, Callable[[Any], str | None]]] = {
    "model": lambda value: _text(value, model_name),
    "thinking": lambda value: _text(value, thinking_level),
    "sandbox": lambda value: _text(value, sandbox_name),
    "sandbox_image": lambda value: _text(value, image_name),
    "sandbox_required": _truth,
    "codemode": lambda value: _text(value, codemode_name),
    "trust": lambda value: _text(value, _trust),
    "max_turns": lambda value: _number(value, least=1),
    "max_tokens": lambda value: _number(value, least=1),
    "max_cost_usd": lambda value: _number(value, least=0, is_whole=False),
    "max_wall_s": lambda value: _number(value, above=0),
    "repeat": lambda value: _number(value, least=1),
    "output": _text,
    "jobs": lambda value: _number(value, least=1),
    "idle_timeout_s": lambda value: _number(value, above=0),
    "max_output_tokens": lambda value: _number(value, least=1),
    "context_window": lambda value: _number(value, least=1),
    "compaction_model": lambda value: _text(value, model_name),
    "compaction_reserve_tokens": lambda value: _number(value, least=1),
    "max_retries": lambda value: _number(value, least=0),
    "retry_cap_s": lambda value: _number(value, above=0),
    "prices": _text,
    "cache_dir": _text,
    "mirrors": _text,
    "state": _text,
    "providers": _tables,
    "models": _virtual,
}
"""Key -> what is wrong with a value of it; the variable is PI_BATCH_ and the key in capitals."""

_FILES_ONLY = ("providers", "models")

_NUMBERS = frozenset(
    name for name, kind in Config.__annotations__.items() if "int" in kind or "float" in kind
)
_PATHS = ("output", "prices", "cache_dir", "mirrors", "state")
_TRUTHS = ("sandbox_required",)


def environment_config(environ: Mapping[str, str], problems: Problems) -> Config:
    """What PI_BATCH_* variables say; empty ones and unknown ones say nothing."""
    values: dict[str, Any] = {}
    for key in (key for key in SETTINGS if key not in _FILES_ONLY):
        variable = f"PI_BATCH_{key.upper()}"
        text = environ.get(variable, "").strip()
        if not text:
            continue
        value = _as_written(text) if key in _NUMBERS else _as_truth(text) if key in _TRUTHS else text
        complaint = SETTINGS[key](value)
        if complaint:
            problems.add_plain(variable, complaint)
        else:
            values[key] = value
    return Config(**values)


def _as_truth(text: str) -> bool | str:
    return {"true": True, "1": True, "false": False, "0": False}.get(text.lower(), text)


def _as_written(text: str) -> int | float | str:
    whole = as_integer(text)
    number = as_number(text) if whole is None else whole
    return text if number is None else number


def load_config(cwd: Path) -> Config:
    """The nearest configuration file's settings, or none. Raises: SpecError, one line per problem."""
    problems = Problems()
    found = Config()
    for directory in (cwd, *cwd.parents):
        table = _table_of(directory, cwd, problems)
        if table:
            found = table
            break
        if problems or (directory / ".git").exists():
            break
    problems.raise_if_any()
    return found


def _table_of(directory: Path, cwd: Path, problems: Problems) -> Config | None:
    """A directory's settings; None when it has none, or when they have problems."""
    own, project = directory / CONFIG_FILE, directory / "pyproject.toml"
    own_table = _read_toml(own, cwd, problems) if own.is_file() else None
    project_toml = _read_toml(project, cwd, problems) if project.is_file() else None
    tool = (project_toml or {}).get("tool", {})
    project_table = tool.get("pi-batch") if isinstance(tool, dict) else None
    if own_table is not None and project_table is not None:
        message = f"{printable(project.name)} beside it has [tool.pi-batch] too; keep one of them"
        problems.add_plain(_name(own, cwd), message)
    if own_table is not None:
        return _checked(own_table, own, cwd, problems)
    return None if project_table is None else _checked(project_table, project, cwd, problems)


def _name(path: Path, cwd: Path) -> str:
    return printable(str(path.relative_to(cwd)) if path.is_relative_to(cwd) else str(path))


def _read_toml(path: Path, cwd: Path, problems: Problems) -> dict[str, Any] | None:
    import tomllib

    name = _name(path, cwd)
    content = read_file(path, name, problems)
    if content is None or (path.name != CONFIG_FILE and b"pi-batch" not in content):
        return None  # a project's file with nothing for us in it may be as broken as it likes
    try:
        return tomllib.loads(content.decode("utf-8-sig"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, RecursionError) as error:
        line = re.search(r"at line (\d+)", str(error))
        message = printable(f"not TOML: {error}")
        problems.add_plain(name, message, line=int(line[1]) if line else 0)
        return None


def _checked(table: Any, path: Path, cwd: Path, problems: Problems) -> Config:
    """A table's settings; what is wrong with them is noted with its line."""
    name, text = _name(path, cwd), path.read_text(encoding="utf-8-sig")
    prefix = "" if path.name == CONFIG_FILE else "tool.pi-batch."
    values: dict[str, Any] = {}
    if not isinstance(table, dict):
        problems.add_plain(name, f"{prefix[:-1]}: got {quoted(str(table))}, need a table")
        return Config(file=name)
    for key, value in table.items():
        complain = SETTINGS.get(key)
        complaint = complain(value) if complain else f"unknown key{nearest(key, SETTINGS)}"
        if complaint:
            problems.add_plain(
                name, printable(f"{prefix}{key}: {complaint}"), line=_line_of(key, text, prefix)
            )
        elif key == "models":
            values[key] = virtual_models(value)
        elif key in _PATHS:
            values[key] = str(path.parent / value)
        else:
            values[key] = value
    return Config(**values, file=name)


def _line_of(key: str, text: str, prefix: str) -> int:
    """The line on which a key of the table seems to be set; 0 when it is not plain."""
    table = _TABLE.search(text) if prefix else None
    start = table.end() if table else 0
    found = re.compile(rf"(?m)^[ \t]*[\"']?{re.escape(key)}[\"']?[ \t]*[=.]").search(text, start)
    return text.count("\n", 0, found.start()) + 1 if found else 0
