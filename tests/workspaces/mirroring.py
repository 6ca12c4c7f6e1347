"""Bare repositories as people publish them, and mirrors of them."""

from __future__ import annotations

import os
from pathlib import Path

from pi_batch.git import Git, find_git
from pi_batch.git_transport import Said, Transport
from pi_batch.repository_address import Address, address_of
from pi_batch.workspaces.mirrors import Mirror, Mirrors
from tests.workspaces.repositories import commit, git, make_repository, write

FILES: dict[str, str | bytes] = {"a.txt": "one\n", "src/b.py": "x = 1\n", "src/sub/c.py": "y = 2\n"}


class Counting(Transport):
    """A transport that remembers what it was asked."""

    calls: list[str] = []  # noqa: RUF012 -- cleared by each Place

    async def run(
        self, place: Path, *arguments: str, cwd: Path | None = None, timeout_s: float = 60.0
    ) -> Said:
        self.calls.append(arguments[0])
        return await super().run(place, *arguments, cwd=cwd, timeout_s=timeout_s)


class Forge:
    """A bare repository, a clone to change it from, and a directory of mirrors."""

    def __init__(self, base: Path, name: str = "r") -> None:
        self.base = base
        self.work = make_repository(base / f"{name}-work", FILES)
        self.bare = base / f"{name}.git"
        git(base, "clone", "-q", "--bare", str(self.work), str(self.bare))
        git(self.work, "remote", "add", "origin", str(self.bare))
        self.git = Git(find_git())
        self.environ = {"PATH": os.environ["PATH"], "HOME": str(base)}
        Counting.calls.clear()

    @property
    def address(self) -> Address:
        return address_of(str(self.bare))

    def push(self, files: dict[str, str | bytes], *, branch: str = "main", message: str = "more") -> str:
        """Another commit on a branch of the bare repository; its id."""
        write(self.work, files)
        commit(self.work, message)
        git(self.work, "push", "-q", "-f", "origin", f"HEAD:refs/heads/{branch}")
        return git(self.work, "rev-parse", "HEAD")

    def mirrors(self) -> Mirrors:
        """Those of one run."""
        return Mirrors(
            self.base / "mirrors",
            self.git,
            lambda _: Counting(self.git.program, self.environ, protocols="file"),
        )

    async def mirror(self) -> Mirror:
        """The repository's mirror, as a run that begins now has it."""
        return await self.mirrors().get(self.address)
