"""A branch on a remote, kept up to date: the one place where git talks to somebody else.

Here git has the caller's own settings and credentials, for that is what a push needs; hooks stay off and
nothing is asked. A branch on the remote is replaced only while its tip is a commit of ours that was seen.
"""

from __future__ import annotations

from pathlib import Path

from msgspec import Struct

from pi_batch.errors import WorkspaceError
from pi_batch.git import Git, Place
from pi_batch.git_transport import ASK_TIMEOUT_S, MOVE_TIMEOUT_S, Said, Transport
from pi_batch.publishing.commit import REF_PREFIX, is_ours, is_same_change, resolve
from pi_batch.publishing.merge import NotPublished


class Pushed(Struct, frozen=True):
    """A branch on a remote."""

    commit: str
    is_new: bool
    """False when it was there already, by this commit or by one of the same change."""


class Remote(Struct, frozen=True):
    """A remote of a repository, and the way to it."""

    git: Git
    place: Place
    name: str
    """As `git remote` lists it, or a URL without credentials."""
    transport: Transport

    async def push(self, commit: str, branch: str) -> Pushed:
        """Let the remote's branch be this commit, unless it holds the same change on the same base already.

        Raises: NotPublished when the branch holds commits that are not ours, or was moved meanwhile;
        WorkspaceError when the remote cannot be reached.
        """
        ref = f"{REF_PREFIX}{branch}"
        old = await self._tip(ref)
        if old == commit:
            return Pushed(commit, is_new=False)
        if old is not None:
            if not await self._is_ours(ref, old):
                raise NotPublished(f"branch {branch} on {self.name} holds commits that are not pi-batch's")
            if await is_same_change(self.git, self.place, old, commit):
                return Pushed(old, is_new=False)
        lease = f"--force-with-lease={ref}:{old or ''}"
        said = await self._run("push", "--quiet", "--no-verify", lease, self.name, f"{commit}:{ref}")
        if said.code != 0:
            if "rejected" in said.output or "stale info" in said.output:
                raise NotPublished(f"{self.name} did not take branch {branch}: {_refusal(said)}")
            raise WorkspaceError(f"git push to {self.name!r}: {said.last_line}")
        return Pushed(commit, is_new=True)

    async def _tip(self, ref: str) -> str | None:
        said = await self._run("ls-remote", "--exit-code", self.name, ref, timeout_s=ASK_TIMEOUT_S)
        if said.code == 2:
            return None
        if said.code != 0:
            raise WorkspaceError(f"git ls-remote {self.name!r}: {said.last_line}")
        found = [line.split("\t")[0] for line in said.output.split("\n") if line.endswith(f"\t{ref}")]
        return found[0] if found else None

    async def _is_ours(self, ref: str, commit: str) -> bool:
        if await resolve(self.git, self.place, commit) is None:
            fetch = ("fetch", "--quiet", "--no-tags", "--no-write-fetch-head", "--depth=1", self.name, ref)
            said = await self._run(*fetch)
            if said.code != 0:
                raise WorkspaceError(f"git fetch from {self.name!r}: {said.last_line}")
        return await resolve(self.git, self.place, commit) is not None and await is_ours(
            self.git, self.place, commit
        )

    async def _run(self, *arguments: str, timeout_s: float = MOVE_TIMEOUT_S) -> Said:
        cwd = self.place.work_tree or Path(self.place.git_dir)
        return await self.transport.run(self.place.git_dir, *arguments, cwd=cwd, timeout_s=timeout_s)


def _refusal(said: Said) -> str:
    """Why a push was rejected: what the other side's hook said, else git's own word."""
    lines = [line.strip() for line in said.output.split("\n")]
    remote = [line.removeprefix("remote: ") for line in lines if line.startswith("remote: ")]
    return "; ".join([*remote[:3], said.last_line])
