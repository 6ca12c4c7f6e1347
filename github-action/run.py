"""The action's main step: inputs from the environment to the arguments of `pi-batch run`, which takes over.

Standard library only. Nothing here reaches a shell, and pi-batch replaces this process, so that a cancelled
job's signal reaches it.
"""

from __future__ import annotations

import json
import os
import re
import secrets
import shlex
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NoReturn

PREFIX = "PI_BATCH_ACTION_"
FLAGS = {
    "MAX_TURNS": "--max-turns",
    "MAX_COST_USD": "--max-cost-usd",
    "MAX_WALL_S": "--max-wall-s",
    "SANDBOX": "--sandbox",
}
TRUSTED_EVENTS = {
    "push",
    "schedule",
    "workflow_dispatch",
    "repository_dispatch",
    "merge_group",
    "workflow_call",
    "release",
}
"""Started by somebody with the right to write, on the repository's own code."""


class Refused(Exception):
    """An input that makes no sense."""


def main(environ: Mapping[str, str]) -> NoReturn:
    """Become `pi-batch run`."""
    try:
        if not may_run(environ):
            print("::notice title=pi-batch::not run: this actor is not among allowed-actors")
            write_outputs(environ, {"outcome": "skipped", "exit-code": "0"})
            sys.exit(0)
        words = arguments(environ)
    except Refused as error:
        print(f"::error title=pi-batch::{escaped(str(error))}")
        write_outputs(environ, {"outcome": "error", "exit-code": "2"})
        sys.exit(2)
    directory = run_directory(environ)
    write_outputs(environ, {"run-directory": str(directory), "artifact": artifact(environ)})
    program = str(Path(sys.executable).with_name("pi-batch"))
    rest = {name: value for name, value in environ.items() if not name.startswith(PREFIX)}
    sys.stdout.flush()
    os.execve(program, [program, "run", "--output", str(directory), *words], rest)


def arguments(environ: Mapping[str, str]) -> list[str]:
    """The arguments of `pi-batch run`, without the output directory. Raises: Refused."""
    tasks = lines(environ.get(f"{PREFIX}TASK", ""))
    if not tasks:
        raise Refused("input task: got nothing, need a task file or a built-in name")
    words = [word for model in lines(environ.get(f"{PREFIX}MODEL", "")) for word in ("--model", model)]
    for name, flag in FLAGS.items():
        value = environ.get(f"{PREFIX}{name}", "").strip()
        words += [flag, value] if value else []
    words += [word for pair in task_inputs(environ.get(f"{PREFIX}INPUTS", "")) for word in ("--input", pair)]
    if trust_of(environ) == "untrusted":
        words += ["--trust", "untrusted"]
    try:
        words += shlex.split(environ.get(f"{PREFIX}ARGS", ""))
    except ValueError as error:
        raise Refused(f"input args: {error}") from error
    return [*words, "--", *tasks]


def task_inputs(text: str) -> Iterator[str]:
    """KEY=VALUE pairs from lines, or from a JSON object. Raises: Refused."""
    if not text.lstrip().startswith("{"):
        for line in lines(text):
            if "=" not in line:
                raise Refused(
                    f"input inputs: got {line[:60]!r}, need KEY=VALUE, one a line, or a JSON object"
                )
            yield line
        return
    try:
        pairs = json.loads(text)
    except ValueError as error:
        raise Refused(f"input inputs: not JSON: {error}") from error
    for key, value in pairs.items():
        if isinstance(value, dict | list) or "=" in key:
            raise Refused(f"input inputs: {key[:60]!r}: need a text, number or boolean")
        yield f"{key}={value if isinstance(value, str) else '' if value is None else json.dumps(value)}"


def trust_of(environ: Mapping[str, str]) -> str:
    """`untrusted` when the event brings text or code of somebody who may not write here, or on request."""
    asked = environ.get(f"{PREFIX}TRUST", "").strip()
    if asked not in {"", "trusted", "untrusted"}:
        raise Refused(f"input trust: got {asked[:40]!r}, need trusted or untrusted")
    if asked == "untrusted":
        return "untrusted"
    name = environ.get("GITHUB_EVENT_NAME", "")
    if name in TRUSTED_EVENTS:
        return "trusted"
    if name != "pull_request":
        return "untrusted"
    event = read_event(environ)
    head = at(event, "pull_request", "head", "repo", "full_name")
    is_own = head is not None and head == environ.get("GITHUB_REPOSITORY")
    is_bot = at(event, "pull_request", "user", "type") == "Bot" or at(event, "sender", "type") == "Bot"
    return "trusted" if is_own and not is_bot else "untrusted"


def may_run(environ: Mapping[str, str]) -> bool:
    """Whether the actors of this job are among those that may start it. Raises: Refused for a wildcard."""
    allowed = {
        name.lower() for name in re.split(r"[\s,]+", environ.get(f"{PREFIX}ALLOWED_ACTORS", "")) if name
    }
    if any(re.search(r"[*?]", name) for name in allowed):
        raise Refused("input allowed-actors: got a wildcard, need names")
    actors = {environ.get(name, "").lower() for name in ("GITHUB_ACTOR", "GITHUB_TRIGGERING_ACTOR")} - {""}
    return not allowed or (bool(actors) and actors <= allowed)


def read_event(environ: Mapping[str, str]) -> Any:
    """The event's payload; nothing where it can't be read."""
    try:
        return json.loads(Path(environ.get("GITHUB_EVENT_PATH", "")).read_bytes())
    except (OSError, ValueError):
        return None


def at(value: Any, *keys: str) -> Any:
    """A value inside of objects, or None."""
    for key in keys:
        value = value.get(key) if isinstance(value, dict) else None
    return value


def run_directory(environ: Mapping[str, str]) -> Path:
    """A directory of this step's own, outside of the checkout."""
    base = Path(environ["RUNNER_TEMP"], "pi-batch")
    number = 1
    while (base / f"run-{number}").exists():
        number += 1
    return base / f"run-{number}"


def artifact(environ: Mapping[str, str]) -> str:
    """What the run directory is uploaded as, unique in a matrix too; empty for not at all."""
    asked = environ.get(f"{PREFIX}ARTIFACT", "").strip()
    if asked == "none":
        return ""
    parts = (environ.get("GITHUB_JOB", "job"), environ.get("GITHUB_RUN_ATTEMPT", "1"), secrets.token_hex(3))
    name = asked or "-".join(("pi-batch", *parts))
    return re.sub(r"[^A-Za-z0-9._-]+", "-", name)


def write_outputs(environ: Mapping[str, str], values: Mapping[str, str]) -> None:
    """Set outputs that are one line each."""
    path = environ.get("GITHUB_OUTPUT")
    if path:
        with Path(path).open("a", encoding="utf-8") as file:
            file.writelines(f"{name}={value}\n" for name, value in values.items())


def lines(text: str) -> list[str]:
    """Lines that say something."""
    return [line.strip() for line in text.replace("\r\n", "\n").split("\n") if line.strip()]


def escaped(text: str) -> str:
    """As a command's message."""
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


if __name__ == "__main__":
    main(os.environ)
