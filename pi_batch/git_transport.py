"""Runs git where it talks to another repository: fetches and pushes.

Unlike `git.py` it has the caller's own settings and credentials, for that is what they need. No hook runs,
nothing is asked (no terminal, no askpass program), only plain transports are allowed,
and every call has a time limit after which git and whatever helper it started are killed. Credentials that
this program knows go to git in variables: no command line and no file shows them. In a session of its own
ssh has no terminal to ask on, and no askpass program to ask by, so that it fails instead.
"""

from __future__ import annotations

import asyncio
import base64
import contextlib
import os
import signal
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from msgspec import Struct

from pi_batch.errors import WorkspaceError

ASK_TIMEOUT_S: Final = 90.0
"""For `ls-remote`: where a credential helper hangs, it hangs here."""
MOVE_TIMEOUT_S: Final = 1200.0
"""For a fetch or a push; one that stands still is given up long before."""
_STALL_S: Final = 60
_PINNED: Final = (
    ("core.hooksPath", "/dev/null"),
    ("core.fsmonitor", "false"),
    ("core.pager", "cat"),
    ("push.gpgSign", "false"),
    ("push.followTags", "false"),
    ("push.recurseSubmodules", "no"),
    ("gc.auto", "0"),
    ("maintenance.auto", "false"),
    ("fetch.unpackLimit", "1"),  # always a pack: packs are linked into workspaces one by one
    ("fetch.recurseSubmodules", "false"),
    ("credential.interactive", "false"),
    ("http.lowSpeedLimit", "100"),
    ("http.lowSpeedTime", str(_STALL_S)),
)
_IDLE: Final = (
    "hint:",
    "fatal: Could not read from remote repository.",
    "Please make sure you have the correct access rights",
    "and the repository exists.",
)
_KEPT: Final = frozenset(
    {"GIT_SSH", "GIT_SSH_COMMAND", "GIT_SSH_VARIANT", "GIT_SSL_CAINFO", "GIT_SSL_CAPATH", "GIT_SSL_CERT"}
    | {"GIT_SSL_KEY", "GIT_PROXY_SSL_CAINFO"}
)
"""Variables of git that say how to reach a service; all others are taken out: they may name a repository."""
_FIXED: Final = {
    "GIT_TERMINAL_PROMPT": "0",
    "GIT_ASKPASS": "true",
    "SSH_ASKPASS": "false",
    "SSH_ASKPASS_REQUIRE": "never",
    "GCM_INTERACTIVE": "never",
    "GIT_EDITOR": "true",
    "LC_ALL": "C",
}


@dataclass(frozen=True, slots=True)
class Login:
    """Credentials for one server."""

    server: str
    """https://host, as a prefix of the URLs that they are for."""
    credentials: str = field(repr=False)
    """`user:password`."""


class Said(Struct, frozen=True):
    """How a call ended."""

    code: int
    output: str
    """Both streams, as text."""

    @property
    def last_line(self) -> str:
        """Git's own reason, one line; not the one that it gives whatever the reason is."""
        said = [line.strip() for line in self.output.split("\n") if line.strip()]
        lines = [line for line in said if not line.startswith(_IDLE)] or said[:1]
        named = [line for line in lines if line.startswith(("fatal: ", "error: ", "ERROR: "))]
        chosen = named[0] if named else lines[-1] if lines else f"exit code {self.code}"
        return chosen.removeprefix("fatal: ").removeprefix("error: ")


@dataclass(frozen=True, slots=True)
class Transport:
    """A git program and the environment in which it reaches others."""

    program: str
    environ: Mapping[str, str] = field(repr=False)
    login: Login | None = None
    protocols: str | None = "https:http:ssh:file"
    """Those that git may use, whatever the user's settings turn an address into; None: as the user says."""

    async def run(
        self, place: Path, *arguments: str, cwd: Path | None = None, timeout_s: float = MOVE_TIMEOUT_S
    ) -> Said:
        """One git command on the repository `place`, in its directory or another one.

        Raises: WorkspaceError when it takes too long.
        """
        try:
            process = await asyncio.create_subprocess_exec(
                self.program,
                *arguments,
                cwd=cwd or place,
                env=self._environment(place),
                stdin=asyncio.subprocess.DEVNULL,
                stdout=asyncio.subprocess.PIPE,
                stderr=asyncio.subprocess.STDOUT,
                start_new_session=True,
            )
        except OSError as error:
            raise WorkspaceError(f"git in {str(place)!r}: {error.strerror or error}") from error
        try:
            async with asyncio.timeout(timeout_s):
                output, _ = await process.communicate()
        except TimeoutError as error:
            raise WorkspaceError(f"git {arguments[0]}: not done after {timeout_s:g} s") from error
        finally:
            await _end(process)
        return Said(process.returncode or 0, output.decode("utf-8", "backslashreplace"))

    def _environment(self, place: Path) -> dict[str, str]:
        kept = {
            name: value
            for name, value in self.environ.items()
            if not name.startswith("GIT_") or name in _KEPT
        }
        settings = [*_PINNED, *self._credentials()]
        numbered = {f"GIT_CONFIG_KEY_{number}": key for number, (key, _) in enumerate(settings)}
        numbered |= {f"GIT_CONFIG_VALUE_{number}": value for number, (_, value) in enumerate(settings)}
        return {
            **kept,
            **_FIXED,
            "GIT_DIR": str(place),
            **({} if self.protocols is None else {"GIT_ALLOW_PROTOCOL": self.protocols}),
            "GIT_CONFIG_COUNT": str(len(settings)),
            **numbered,
        }

    def _credentials(self) -> list[tuple[str, str]]:
        if self.login is None:
            return []
        word = base64.b64encode(self.login.credentials.encode()).decode("ascii")
        key = f"http.{self.login.server.rstrip('/')}/.extraheader"
        return [(key, ""), (key, f"Authorization: Basic {word}")]


async def _end(process: asyncio.subprocess.Process) -> None:
    """Kill git and what it started, where it has not ended by itself."""
    if process.returncode is not None:
        return
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    await process.wait()
