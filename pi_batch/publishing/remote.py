"""A branch on a remote, kept up to date: the one place where git talks to somebody else.

Here git has the caller's own settings and credentials, for that is what a push needs; hooks stay off and
nothing is asked. A branch on the remote is replaced only while its tip is a commit of ours that was seen.
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

from pi_batch.errors import WorkspaceError
from pi_batch.git import Git, Place
from pi_batch.publishing.commit import REF_PREFIX, is_ours, resolve
from pi_batch.publishing.merge import NotPublished

PUSH_TIMEOUT_S = 300.0
_PINNED = ("-c", "core.hooksPath=/dev/null", "-c", "core.fsmonitor=false", "-c", "push.gpgSign=false")


@dataclass(frozen=True, slots=True)
class Remote:
    """A remote of a repository, and the environment in which git reaches it."""

    git: Git
    place: Place
    name: str
    """As `git remote` lists it, or a URL."""
    environ: Mapping[str, str] = field(repr=False)
    token: str = field(default="", repr=False)
    """Of `server`, where the checkout has no credentials of its own."""
    server: str = "https://github.com"

    async def push(self, commit: str, branch: str) -> bool:
        """Let the remote's branch be this commit; False when it was already.

        Raises: NotPublished when the branch holds commits that are not ours, or was moved meanwhile;
        WorkspaceError when the remote cannot be reached.
        """
        ref = f"{REF_PREFIX}{branch}"
        old = await self._tip(ref)
        if old == commit:
            return False
        if old is not None and not await self._is_ours(ref, old):
            raise NotPublished(f"branch {branch} on {self.name} holds commits that are not pi-batch's")
        lease = f"--force-with-lease={ref}:{old or ''}"
        code, output = await self._run("push", "--quiet", "--no-verify", lease, self.name, f"{commit}:{ref}")
        if code != 0:
            said = _last_line(output)
            if "rejected" in output or "stale info" in output:
                raise NotPublished(f"{self.name} did not take branch {branch}: {said}")
            raise WorkspaceError(f"git push to {self.name!r}: {said}")
        return True

    async def _tip(self, ref: str) -> str | None:
        code, output = await self._run("ls-remote", "--exit-code", self.name, ref)
        if code == 2:
            return None
        if code != 0:
            raise WorkspaceError(f"git ls-remote {self.name!r}: {_last_line(output)}")
        found = [line.split("\t")[0] for line in output.split("\n") if line.endswith(f"\t{ref}")]
        return found[0] if found else None

    async def _is_ours(self, ref: str, commit: str) -> bool:
        if await resolve(self.git, self.place, commit) is None:
            fetch = ("fetch", "--quiet", "--no-tags", "--no-write-fetch-head", "--depth=1", self.name, ref)
            code, output = await self._run(*fetch)
            if code != 0:
                raise WorkspaceError(f"git fetch from {self.name!r}: {_last_line(output)}")
        return await resolve(self.git, self.place, commit) is not None and await is_ours(
            self.git, self.place, commit
        )

    def _credentials(self) -> dict[str, str]:
        """The token for this server alone, in variables: no command line and no file shows it."""
        if not self.token:
            return {}
        word = base64.b64encode(f"x-access-token:{self.token}".encode()).decode("ascii")
        return {
            "GIT_CONFIG_COUNT": "1",
            "GIT_CONFIG_KEY_0": f"http.{self.server.rstrip('/')}/.extraheader",
            "GIT_CONFIG_VALUE_0": f"AUTHORIZATION: basic {word}",
        }

    async def _run(self, *arguments: str) -> tuple[int, str]:
        """Exit code and everything that git said. Raises: WorkspaceError when it takes too long."""
        environ = {name: value for name, value in self.environ.items() if not name.startswith("GIT_")} | {
            "GIT_DIR": str(self.place.git_dir),
            "GIT_TERMINAL_PROMPT": "0",
            "LC_ALL": "C",
            **self._credentials(),
        }
        process = await asyncio.create_subprocess_exec(
            self.git.program,
            *_PINNED,
            *arguments,
            cwd=self.place.work_tree or Path(self.place.git_dir),
            env=environ,
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.STDOUT,
            start_new_session=True,
        )
        try:
            async with asyncio.timeout(PUSH_TIMEOUT_S):
                output, _ = await process.communicate()
        except TimeoutError as error:
            raise WorkspaceError(
                f"git {arguments[0]} {self.name!r}: not done after {PUSH_TIMEOUT_S:g} s"
            ) from error
        finally:
            if process.returncode is None:
                with contextlib.suppress(ProcessLookupError):
                    os.killpg(process.pid, signal.SIGKILL)
                await process.wait()
        return process.returncode or 0, output.decode("utf-8", "backslashreplace")


def _last_line(output: str) -> str:
    lines = [line.strip() for line in output.split("\n") if line.strip() and not line.startswith("hint:")]
    return lines[-1].removeprefix("fatal: ").removeprefix("error: ") if lines else "no word why"
