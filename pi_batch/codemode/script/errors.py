"""What a script did wrong, in words that say what to write instead."""

from __future__ import annotations

import re
from collections.abc import Sequence
from types import TracebackType
from typing import Final

from pi_batch.codemode.values import MAX_ERROR_CHARS, ScriptError

FILE: Final = "<script>"
LINE_MAX_CHARS: Final = 120

_READ = (
    "read files with `await tools.read(path=...)`, write them with `await tools.write(path=..., content=...)`"
)
_BASH = 'run commands with `await tools.bash(command="...")`'
HINTS: Final = {
    "open": _READ,
    "input": "nobody is there to answer; decide in the script",
    "eval": "for literals use `ast.literal_eval(text)`",
    "exec": "write the code into the script itself",
    "compile": "write the code into the script itself",
    "globals": "use a dict of your own",
    "locals": "use a dict of your own",
    "breakpoint": "use print",
    "help": "use `describe_tool(name)` for tools",
    "exit": "end a script with `return`",
    "quit": "end a script with `return`",
    "os": f"{_BASH}, list files with `await tools.ls(path=...)` or `await tools.find(pattern=...)`; "
    "join paths with `pathlib.PurePosixPath`",
    "sys": "print with `print(...)`, end a script with `return`",
    "subprocess": _BASH,
    "shutil": _BASH,
    "glob": "use `await tools.find(pattern=...)`",
    "requests": f"scripts have no network; {_BASH} where the task allows it",
    "urllib.request": f"scripts have no network; {_BASH} where the task allows it",
    "httpx": f"scripts have no network; {_BASH} where the task allows it",
    "socket": f"scripts have no network; {_BASH} where the task allows it",
    "threading": "calls run at once with `await asyncio.gather(...)`",
    "multiprocessing": "calls run at once with `await asyncio.gather(...)`",
    "concurrent.futures": "calls run at once with `await asyncio.gather(...)`",
    "tempfile": _READ,
    "logging": "use print",
    "time.sleep": "use `await asyncio.sleep(seconds)`",
    "yaml": f"not installed here; {_BASH}",
    "numpy": f"not installed here; use `statistics` and `math`, or {_BASH}",
    "pandas": f"not installed here; use `csv` and `collections`, or {_BASH}",
    "__file__": "a script has no file",
}
"""A name that scripts lack -> what to write instead."""


_AWAIT: Final = "'await' outside async function"
_NOT_PRELOADED = """
abc ast base64 bisect calendar contextlib copy csv dataclasses decimal difflib enum fnmatch fractions
functools hashlib heapq html io operator pathlib pprint random shlex statistics string struct time tomllib
traceback typing types unicodedata urllib uuid zlib
"""
_MODULES: Final = frozenset(_NOT_PRELOADED.split())
"""What a script may import and has not from the start."""
_NAMES: Final = {
    **dict.fromkeys(("Counter", "defaultdict", "deque", "namedtuple", "OrderedDict"), "collections"),
    **dict.fromkeys(("timedelta", "timezone"), "datetime"),
    **dict.fromkeys(("dataclass", "field", "asdict"), "dataclasses"),
    **dict.fromkeys(("Any", "Optional", "NamedTuple"), "typing"),
    **dict.fromkeys(("reduce", "partial", "lru_cache", "wraps"), "functools"),
    **dict.fromkeys(("Path", "PurePosixPath"), "pathlib"),
    "Enum": "enum",
    "StringIO": "io",
    "Decimal": "decimal",
    "contextmanager": "contextlib",
}


class Refused(Exception):
    """A script that is not run: line from 1, column from 0, and what to write instead."""

    def __init__(self, text: str, line: int | None = None, column: int | None = None) -> None:
        super().__init__(text)
        self.line = line
        self.column = column


def hint(name: str) -> str:
    """`: use ...` for a name that scripts lack, or nothing."""
    known = HINTS.get(name) or HINTS.get(name.partition(".")[0])
    return f": {known}" if known else ""


def _import_hint(name: str) -> str:
    if name in _MODULES:
        return f": write `import {name}`"
    return f": write `from {_NAMES[name]} import {name}`" if name in _NAMES else ""


def refusal(error: Refused, source: str) -> ScriptError:
    """A script that was not run, as an error."""
    where = f"line {error.line}: " if error.line else ""
    quoted = _quoted(source, error.line, error.column, None)
    more = ": make the function around it `async def`, and await its calls" if _AWAIT in str(error) else ""
    return ScriptError("Refused", _bounded(f"{where}{error}{more}{quoted}"), error.line)


def stuck(line: int | None, source: str) -> ScriptError:
    """A script that waits for nothing that can come."""
    where = f" (line {line})" if line else ""
    said = f"Deadlock: the script waits for something that cannot happen any more{where}"
    return ScriptError("Deadlock", said + _quoted(source, line, None, None), line)


def failure(error: BaseException, source: str) -> ScriptError:
    """An exception that nobody caught, with the script's own line and a caret under what failed."""
    line, column, end = _place(error.__traceback__)
    kind = type(error).__name__
    text = _said(error)
    said = f"{kind}: {text}" if text else kind
    notes = [note for note in getattr(error, "__notes__", ()) if type(note) is str]
    if isinstance(error, NameError) and type(error.name) is str:
        said += hint(error.name) or _import_hint(error.name)
    if isinstance(error, AttributeError | TypeError) and "'coroutine' object" in text:
        said += ": an async function was called without `await`"
    if isinstance(error, BaseExceptionGroup):
        said += "".join(f"\n  - {type(inner).__name__}: {_said(inner)}" for inner in error.exceptions[:10])
    where = f" (line {line})" if line else ""
    whole = "\n".join([f"{said}{where}{_quoted(source, line, column, end)}", *notes])
    return ScriptError(kind[:100], _bounded(whole), line)


def _said(error: BaseException) -> str:
    """An exception's text, whatever its class makes of it."""
    try:
        if isinstance(error, KeyError) and len(error.args) == 1:
            return repr(error.args[0])[:MAX_ERROR_CHARS]
        return str(error)[:MAX_ERROR_CHARS]
    except Exception:  # noqa: BLE001 -- a script's own __str__
        return "(its text cannot be shown)"


def _place(trace: TracebackType | None) -> tuple[int | None, int | None, int | None]:
    """Line, first and last column of the innermost frame that is the script's own."""
    found: tuple[int | None, int | None, int | None] = (None, None, None)
    while trace is not None:
        code = trace.tb_frame.f_code
        if code.co_filename == FILE:
            positions = list(code.co_positions())
            index = trace.tb_lasti // 2
            line, end_line, column, end = positions[index] if index < len(positions) else (None,) * 4
            line = line or trace.tb_lineno
            found = (line, column, end if end_line == line else None)
        trace = trace.tb_next
    return found


def _quoted(source: str, line: int | None, column: int | None, end: int | None) -> str:
    """The line and a caret; nothing where there is no such line. Columns count UTF-8 bytes."""
    lines: Sequence[str] = re.split(r"\r\n|\r|\n", source)
    if line is None or not 0 < line <= len(lines):
        return ""
    text = lines[line - 1]
    stripped = text.lstrip()
    shown = stripped[:LINE_MAX_CHARS]
    if column is None:
        return f"\n    {shown}"
    encoded = text.encode("utf-8", "replace")
    start = len(encoded[:column].decode("utf-8", "ignore")) - (len(text) - len(stripped))
    stop = start + 1
    if end is not None and end > column:
        stop = start + len(encoded[column:end].decode("utf-8", "ignore"))
    if not 0 <= start < len(shown):
        return f"\n    {shown}"
    return f"\n    {shown}\n    {' ' * start}{'^' * max(min(stop, len(shown)) - start, 1)}"


def _bounded(text: str) -> str:
    return text if len(text) <= MAX_ERROR_CHARS else f"{text[: MAX_ERROR_CHARS - 1]}…"
