"""Other repositories for a run: where mirrors are, with what credentials they are fetched."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

from pi_batch.git import Git, find_git
from pi_batch.git_transport import Login, Transport
from pi_batch.repository_address import Address, address_of
from pi_batch.spec import Plan, WorkspaceSpec
from pi_batch.wiring.surroundings import Surroundings
from pi_batch.workspaces.mirrors import Mirror, Mirrors, Position
from pi_batch.workspaces.repository import Origin

PUSH_TOKEN = "PI_BATCH_PUSH_TOKEN"  # noqa: S105 -- a name
"""A GitLab access token with the right to write, in a job of GitLab CI."""


class Repositories:
    """The other repositories of one run; nothing is looked at before the first is asked for."""

    def __init__(self, around: Surroundings, directory: Path) -> None:
        self._around = around
        self._directory = directory
        self._mirrors: Mirrors | None = None

    def origin(self, spec: WorkspaceSpec) -> Origin:
        """What a workspace is cloned from. Raises: WorkspaceError where there is no git."""
        address = address_of(spec.repo or "")

        async def fetch() -> tuple[Mirror, Position]:
            return await self.fetched(spec)

        return Origin(fetch, address.name, spec.path)

    async def fetched(self, spec: WorkspaceSpec) -> tuple[Mirror, Position]:
        """A repository and the commit that a task begins at. Raises: WorkspaceError."""
        mirror = await self.mirror(address_of(spec.repo or ""))
        return mirror, await mirror.position(spec.ref)

    async def mirror(self, address: Address) -> Mirror:
        """A repository, fetched once. Raises: WorkspaceError."""
        if self._mirrors is None:
            git = Git(find_git(self._around.environ.get("PATH")))
            self._mirrors = Mirrors(self._directory, git, lambda one: transport_for(one, self._around, git))
        return await self._mirrors.get(address)


def transport_for(address: Address, around: Surroundings, git: Git) -> Transport:
    """How git reaches a repository."""
    protocols = "file" if address.kind == "local" else "https:http:ssh"
    return Transport(git.program, around.environ, login_for(address, around.environ), protocols)


def login_for(address: Address, environ: Mapping[str, str]) -> Login | None:
    """Credentials: the address's own, or a job's token for the job's own server; None: git's own helpers."""
    if address.kind not in ("https", "http"):
        return None
    server = f"{address.kind}://{address.host}"
    if address.credentials:
        return Login(server, address.credentials)
    if server == environ.get("GITHUB_SERVER_URL", "https://github.com").lower().rstrip("/"):
        token = environ.get("GH_TOKEN") or environ.get("GITHUB_TOKEN")
        return Login(server, f"x-access-token:{token}") if token else None
    if server == environ.get("CI_SERVER_URL", "").lower().rstrip("/"):
        if environ.get(PUSH_TOKEN):
            return Login(server, f"oauth2:{environ[PUSH_TOKEN]}")
        if environ.get("CI_JOB_TOKEN"):
            return Login(server, f"gitlab-ci-token:{environ['CI_JOB_TOKEN']}")
    return None


def secrets_of(plan: Plan) -> tuple[str, ...]:
    """What of the plan's addresses is secret."""
    return tuple(dict.fromkeys(value for task in plan.tasks for value in _secrets(task.spec.workspace)))


def _secrets(spec: WorkspaceSpec) -> Iterator[str]:
    credentials = address_of(spec.repo).credentials if spec.repo is not None else ""
    user, _, password = credentials.partition(":")
    if credentials:
        yield from (credentials, password or user)
