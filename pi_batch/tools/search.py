"""Runs the search worker inside the sandbox and reads what it prints."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal

from msgspec import Struct

from pi_batch.errors import SandboxError, ToolError
from pi_batch.protocols import ToolContext
from pi_batch.spec import PathRules
from pi_batch.tools.paths import no_such_file, printable, said_of, workspace_path
from pi_batch.tools.wording import count_of, size_of

MAX_SEARCH_S = 60.0
MAX_FILE_BYTES = 100 * 1024 * 1024
"""Larger files are named, not searched."""
MAX_OUTPUT_BYTES = 64 * 1024 * 1024
MAX_LIMIT = 10_000
"""What a caller's limit is brought down to."""
SCRIPT_LIMIT = MAX_LIMIT
"""What a script gets that names no limit; a model reads the first few, a program goes through all."""
MAX_REQUEST_CHARS = 100_000
"""One argument of a process holds 128 KB on Linux."""

_START = (
    "import sys; sys.path.append({!r}); from pi_batch.tools.search_worker import main; main(sys.argv[1:])"
)


class Found(Struct, frozen=True):
    """What a search came to."""

    records: tuple[Mapping[str, Any], ...]
    """The worker's, in order; see `search_worker`."""
    is_more: bool
    """The limit was reached and there is more."""
    notes: tuple[str, ...]
    """What was passed over, for the model."""


async def search(
    context: ToolContext,
    path: str,
    mode: Literal["grep", "find"],
    rules: PathRules,
    request: Mapping[str, str | bool | int],
) -> Found:
    """Search below a path; `request` holds what the mode takes.

    Raises: ToolError for a pattern or path that is not right, or when time is up.
    """
    real = await context.resolve(path or ".", for_writing=False)
    with said_of(path):
        stat = await context.sandbox.stat(real)
    if stat is None:
        raise await no_such_file(context, path, real)
    if stat.kind not in ("file", "directory"):
        raise ToolError(f"{printable(path)} is neither a file nor a directory, so it can't be searched.")
    if ".git" in workspace_path(context, real).split("/"):
        raise ToolError(f"{printable(path)}: .git is never searched. Use git commands with bash.")
    text = json.dumps(
        {
            "mode": mode,
            "root": real,
            "workspace": context.workspace,
            "search_path": context.env.get("PATH", ""),
            "allow": rules.allow,
            "deny": rules.deny,
            "max_file_bytes": MAX_FILE_BYTES,
            **request,
        }
    )
    if len(text) > MAX_REQUEST_CHARS:
        raise ToolError(f"pattern: {count_of(len(text), 'character')}, too long. Search for a part of it.")
    return _found(mode, await _output(context, mode, text))


def limit_of(asked: int | None, context: ToolContext, default: int) -> int:
    """How much to give: what was asked for, else a model's default, or all that a script can have."""
    if asked is None:
        return SCRIPT_LIMIT if context.is_inner else default
    return min(asked, MAX_LIMIT)


def refuse_cut(context: ToolContext, asked: int | None, what: str) -> None:
    """A script that asked for all must not take a part for it. Raises: ToolError."""
    if context.is_inner and asked is None:
        raise ToolError(f"More than {SCRIPT_LIMIT:,} {what}. Narrow the search, or give a limit.")


async def _output(context: ToolContext, mode: str, request: str) -> bytes:
    """What the worker prints. Raises: ToolError when it does not come to an end."""
    output = bytearray()

    def keep(data: bytes) -> None:
        output.extend(data[: MAX_OUTPUT_BYTES - len(output)])

    timeout_s = max(0.1, min(MAX_SEARCH_S, context.seconds_left))
    root = str(Path(__file__).resolve().parents[2])
    try:
        completed = await context.sandbox.exec(
            [context.sandbox.python, "-I", "-X", "utf8", "-c", _START.format(root), request],
            cwd=context.workspace,
            env=context.env,
            timeout_s=timeout_s,
            on_output=keep,
        )
    except (OSError, SandboxError) as error:
        raise ToolError(f"{mode}: the search could not be started: {error}. Use bash.") from error
    if completed.timed_out:
        raise ToolError(
            f"{mode}: timed out after {timeout_s:.0f} s. Search a smaller path, or for a simpler pattern "
            "(nested repetitions such as (a+)+ may never end).",
            error_kind="timeout",
        )
    return bytes(output)


def _found(mode: str, output: bytes) -> Found:
    records: list[Mapping[str, Any]] = []
    for line in output.split(b"\n"):
        if not line.startswith(b"{"):
            continue
        record = json.loads(line)
        if "error" in record:
            raise ToolError(f"{mode}: invalid regular expression: {record['error']}")
        if "end" in record:
            return Found(tuple(records), record["end"]["is_more"], tuple(_notes(record["end"])))
        records.append(record)
    tail = output[-2000:].decode("utf-8", "replace").strip()
    raise ToolError(f"{mode}: the search did not come to its end: {tail or 'no output'}. Use bash.")


def _notes(end: Mapping[str, Any]) -> list[str]:
    notes = []
    if end["large"]:
        names = ", ".join(map(printable, end["large"]))
        notes.append(f"Not searched, over {size_of(MAX_FILE_BYTES)}: {names}")
    if end["hidden"]:
        notes.append(f"{count_of(end['hidden'], 'path')} left out by permissions.read")
    if end["unreadable"]:
        notes.append(f"{count_of(end['unreadable'], 'path')} could not be read")
    return notes
