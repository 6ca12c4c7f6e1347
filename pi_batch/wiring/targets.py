"""Where a patch goes: the repository in the current directory, or the one that its task was about."""

from __future__ import annotations

from collections.abc import Sequence
from fnmatch import fnmatchcase

from msgspec import Struct

from pi_batch.errors import UsageError
from pi_batch.git import Git, Place, find_git
from pi_batch.git_transport import Login, Transport
from pi_batch.publishing.commit import REF_PREFIX, resolve
from pi_batch.publishing.github import API, Repository
from pi_batch.publishing.merge import NotPublished
from pi_batch.publishing.remote import Remote
from pi_batch.repository_address import Address, address_of, ref_complaint
from pi_batch.results import RunResult
from pi_batch.wiring.repositories import Repositories, transport_for
from pi_batch.wiring.surroundings import Surroundings
from pi_batch.wording import quoted
from pi_batch.workspaces.checkout import find_top
from pi_batch.workspaces.layout import repository_of

GITHUB = "https://github.com"


class Target(Struct, frozen=True):
    """A repository and the commit that patches are put on."""

    place: Place
    base: str
    base_name: str
    remote: Remote
    address: Address | None = None
    """None: the repository in the current directory."""
    branch: str | None = None
    """What a pull request is for where nobody says it; None: it has to be said."""

    @property
    def has_files(self) -> bool:
        """True where patches can be put into working files."""
        return self.place.work_tree is not None


class Targets:
    """The repositories of one call of `apply`, each looked at once."""

    def __init__(self, around: Surroundings, repositories: Repositories, *, base: str, remote: str) -> None:
        self._around = around
        self._repositories = repositories
        self._base = base
        self._remote = remote
        self._own: Target | None = None
        self.git = Git(find_git(around.environ.get("PATH")))

    async def of(self, result: RunResult, allowed: Sequence[str] = ()) -> Target:
        """The target of one task's patch. Raises: UsageError, WorkspaceError, NotPublished.

        A run directory may come from a job with fewer rights: `allowed` holds globs over addresses that a run
        may name; empty: it may name any.
        """
        if not result.repo:
            self._own = self._own or await self._here()
            return self._own
        if allowed and not any(fnmatchcase(result.repo, glob) for glob in allowed):
            raise NotPublished(f"{result.repo} is none of the repositories of --repo")
        try:
            address = address_of(result.repo)
        except ValueError as error:
            raise NotPublished(f"the run names no repository that can be pushed to: {error}") from error
        if address.kind == "local" and not address.url.startswith("/"):
            raise NotPublished(f"the run names no repository that can be pushed to: {quoted(result.repo)}")
        if result.ref and (complaint := ref_complaint(result.ref)):
            raise NotPublished(f"the run names no ref that there can be: {complaint}")
        return await self._elsewhere(address, result.ref or None)

    def forge(self, target: Target) -> Repository:
        """Where pull requests go. Raises: UsageError naming what is missing, NotPublished."""
        environ = self._around.environ
        token = environ.get("GH_TOKEN") or environ.get("GITHUB_TOKEN") or ""
        name = environ.get("GITHUB_REPOSITORY", "")
        if target.address is not None:
            server = environ.get("GITHUB_SERVER_URL", GITHUB).rstrip("/").lower()
            if target.address.host != server.rpartition("/")[2] or target.address.path.count("/") != 1:
                raise NotPublished(
                    f"{target.address.url}: pull requests are opened on {server} alone: --as branch --push"
                )
            name = target.address.path
        if name.count("/") != 1 or not token:
            raise UsageError(
                "--as pull-request needs GITHUB_REPOSITORY (owner/name) and GH_TOKEN or GITHUB_TOKEN "
                "with the right to write contents and pull requests"
            )
        return Repository(name, token, environ.get("GITHUB_API_URL", API))

    async def _here(self) -> Target:
        around, git = self._around, self.git
        top = find_top(around.cwd)
        if top is None:
            raise UsageError(f"{around.cwd}: no git repository: change to the one that the patch is for")
        place = Place(repository_of(top), top)
        base = await resolve(git, place, self._base)
        if base is None:
            raise UsageError(f"--base {self._base}: no such commit here")
        found = await git.run(place, "symbolic-ref", "--short", "--quiet", "HEAD", accepted=(0, 1))
        branch = found.stdout.decode("utf-8", "replace").strip() or None
        token = around.environ.get("GH_TOKEN") or around.environ.get("GITHUB_TOKEN")
        server = around.environ.get("GITHUB_SERVER_URL", GITHUB)
        login = Login(server, f"x-access-token:{token}") if token else None
        transport = Transport(git.program, around.environ, login, protocols=None)
        remote = Remote(git, place, self._remote, transport)
        return Target(place, base, self._base, remote, branch=branch)

    async def _elsewhere(self, address: Address, ref: str | None) -> Target:
        """The newest state of the branch that the task began at; fetched once a call."""
        mirror = await self._repositories.mirror(address)
        at = await mirror.position(ref if self._base == "HEAD" else self._base)
        branch = at.branch or mirror.advertised.head_branch
        remote = Remote(self.git, mirror.place, address.url, transport_for(address, self._around, self.git))
        shown = (at.branch or ref or "HEAD").removeprefix(REF_PREFIX)
        return Target(
            mirror.place, at.commit, shown, remote, address, branch and branch.removeprefix(REF_PREFIX)
        )
