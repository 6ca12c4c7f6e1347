"""The action's last step: inputs from the environment to the arguments of `pi-batch apply`."""

from __future__ import annotations

import os
import shlex
import sys
from collections.abc import Mapping
from pathlib import Path

PREFIX = "PI_BATCH_ACTION_"
AUTHOR = "github-actions[bot] <41898282+github-actions[bot]@users.noreply.github.com>"
"""Who GitHub shows commits of a job's own token as."""


def arguments(environ: Mapping[str, str]) -> list[str]:
    """The arguments of `pi-batch apply`. Raises: ValueError for one that makes no sense."""
    kind = environ.get(f"{PREFIX}APPLY", "")
    if kind not in {"branch", "pull-request"}:
        raise ValueError(f"input apply: got {kind[:40]!r}, need none, branch or pull-request")
    allow = environ.get(f"{PREFIX}ALLOW", "").split("\n")
    into = environ.get(f"{PREFIX}INTO", "").strip()
    return [
        *("--as", kind, "--author", AUTHOR),
        *(("--push",) if kind == "branch" else ()),
        *(("--into", into) if into else ()),
        *(word for glob in allow if glob.strip() for word in ("--allow", glob.strip())),
        *shlex.split(environ.get(f"{PREFIX}ARGS", "")),
        *("--", environ[f"{PREFIX}RUN_DIRECTORY"]),
    ]


if __name__ == "__main__":
    try:
        words = arguments(os.environ)
    except ValueError as error:
        print(f"::error title=pi-batch::{str(error).replace('%', '%25')}")
        sys.exit(2)
    program = str(Path(sys.executable).with_name("pi-batch"))
    os.execve(program, [program, "apply", *words], dict(os.environ))
