"""Runs git for this program: every setting pinned, the environment built from scratch, time limited.

What the caller's shell, a repository's config or the machine's config say cannot start a program here:
no hook, filter, fsmonitor, text conversion, external diff, pager, editor, credential or signing program
runs, nothing is fetched, no optional lock is taken, no maintenance is started. Settings are pinned in
`GIT_CONFIG_COUNT` variables, which outrank every config file and also reach git's own children.

git 2.31 is the oldest that knows them. Source: git-config(1), git(1) "ENVIRONMENT VARIABLES".
"""

from __future__ import annotations

import asyncio
import contextlib
import functools
import os
import re
import shutil
import signal
import subprocess
from collections.abc import Collection
from pathlib import Path

from msgspec import Struct

from pi_batch.errors import WorkspaceError

MINIMUM_VERSION = (2, 31)
TIMEOUT_S = 600.0
"""For one call; a checkout of a very large repository on a slow disk is what needs minutes."""
GRACE_S = 5.0
"""Between TERM and KILL: git removes its lock and temporary files on TERM."""

PINNED = (
    ("core.hooksPath", "/dev/null"),
    ("core.fsmonitor", "false"),
    ("core.untrackedCache", "false"),
    ("core.autocrlf", "false"),
    ("core.eol", "lf"),
    ("core.safecrlf", "false"),
    ("core.symlinks", "true"),
    ("core.fileMode", "true"),
    ("core.protectNTFS", "false"),  # update-index would drop such names in silence: listing judges them
    ("core.protectHFS", "false"),
    ("core.quotePath", "false"),
    ("core.attributesFile", "/dev/null"),
    ("core.sshCommand", "false"),
    ("core.pager", "cat"),
    ("credential.helper", ""),
    ("gc.auto", "0"),
    ("maintenance.auto", "false"),
    ("commit.gpgSign", "false"),
    ("tag.gpgSign", "false"),
    ("log.showSignature", "false"),
    ("submodule.recurse", "false"),
    ("color.ui", "false"),
)
"""What the plumbing commands used here listen to; how a diff looks is said in its own arguments."""

_FIXED_ENVIRONMENT = {
    "LC_ALL": "C",
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_ATTR_NOSYSTEM": "1",
    "GIT_OPTIONAL_LOCKS": "0",
    "GIT_NO_REPLACE_OBJECTS": "1",
    "GIT_NO_LAZY_FETCH": "1",
    "GIT_ALLOW_PROTOCOL": "none",  # a partial clone must not start a transport that its config names
    "GIT_TERMINAL_PROMPT": "0",
    "GIT_ASKPASS": "true",
    "GIT_EDITOR": "true",
    "GIT_PAGER": "cat",
    "GIT_ADVICE": "0",
    "GIT_CONFIG_COUNT": str(len(PINNED)),
    **{f"GIT_CONFIG_KEY_{number}": key for number, (key, _) in enumerate(PINNED)},
    **{f"GIT_CONFIG_VALUE_{number}": value for number, (_, value) in enumerate(PINNED)},
}


class Place(Struct, frozen=True):
    """What one git call works on; nothing is discovered, so nobody's ownership or config is asked."""

    git_dir: Path
    work_tree: Path | None = None
    """None: the call touches no working files."""
    index: Path | None = None
    """None: the repository's own."""


class Output(Struct, frozen=True):
    """What a git call printed."""

    stdout: bytes
    stderr: bytes


class GitTimeout(WorkspaceError):
    """A git call was ended at its time limit."""


class Git(Struct, frozen=True):
    """A git program."""

    program: str

    async def run(
        self,
        place: Place,
        *arguments: str,
        stdin: bytes | None = None,
        accepted: Collection[int] = (0,),
        timeout_s: float = TIMEOUT_S,
        user_home: Path | None = None,
    ) -> Output:
        """Run one git command.

        `user_home` lets it see the user's own config (never the pinned settings' values in it), for the
        user's ignore rules. Cancelled or out of time: TERM, a grace, KILL.

        Raises: WorkspaceError with git's own last line for an exit code that is not accepted.
        """
        command = f"git {arguments[0]}"
        where = place.work_tree or place.git_dir
        try:
            process = await asyncio.create_subprocess_exec(
                self.program,
                *arguments,
                cwd=where,
                env=_environment(self, place, user_home),
                stdin=subprocess.DEVNULL if stdin is None else subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                start_new_session=True,
            )
        except OSError as error:
            raise WorkspaceError(f"{command} in {str(where)!r}: {error.strerror or error}") from error
        try:
            async with asyncio.timeout(timeout_s):
                stdout, stderr = await process.communicate(stdin)
        except TimeoutError as error:
            await _end(process)
            raise GitTimeout(f"{command} in {str(where)!r}: not done after {timeout_s:g} s") from error
        except asyncio.CancelledError:
            await _end(process)
            raise
        if process.returncode not in accepted:
            raise WorkspaceError(f"{command} in {str(where)!r}: {_last_line(stderr, process.returncode)}")
        return Output(stdout, stderr)


def _environment(git: Git, place: Place, user_home: Path | None) -> dict[str, str]:
    environment = {
        **_FIXED_ENVIRONMENT,
        "PATH": f"{Path(git.program).parent}:/usr/local/bin:/usr/bin:/bin",
        "HOME": str(user_home or "/dev/null"),  # no directory, so that no ignore file is in it
        "GIT_DIR": str(place.git_dir),
    }
    if user_home is None:
        environment["GIT_CONFIG_GLOBAL"] = "/dev/null"
    if place.work_tree is not None:
        environment["GIT_WORK_TREE"] = str(place.work_tree)
    if place.index is not None:
        environment["GIT_INDEX_FILE"] = str(place.index)
    return environment


async def _end(process: asyncio.subprocess.Process) -> None:
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGTERM)
    try:
        async with asyncio.timeout(GRACE_S):
            await process.wait()
    except TimeoutError:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        await process.wait()


def _last_line(stderr: bytes, code: int | None) -> str:
    lines = [line.strip() for line in stderr.decode("utf-8", "backslashreplace").split("\n") if line.strip()]
    if not lines:
        return f"exit code {code}"
    return lines[-1].removeprefix("fatal: ").removeprefix("error: ")


@functools.lru_cache(maxsize=8)
def find_git(search_path: str | None = None) -> str:
    """Find the git program, once, and see that it is new enough.

    `search_path` is a PATH; None means the caller's. A relative entry of it is never used: it would
    name a file of the checkout.

    Raises: WorkspaceError when there is none or it is too old.
    """
    needed = ".".join(str(part) for part in MINIMUM_VERSION)
    program = shutil.which("git", path=search_path)
    if program is None or not Path(program).is_absolute():
        raise WorkspaceError(f"git: not found on PATH; workspaces need git >= {needed}")
    try:
        answer = subprocess.run(
            [program, "--version"],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=30,
            check=False,
        ).stdout.decode("utf-8", "replace")
    except (OSError, subprocess.TimeoutExpired) as error:
        raise WorkspaceError(f"{program}: git does not run: {error}") from error
    version = re.search(r"(\d+)\.(\d+)", answer)
    if version is None or (int(version[1]), int(version[2])) < MINIMUM_VERSION:
        raise WorkspaceError(f"{program}: {answer.strip()!r} is too old; need git >= {needed}")
    return program
