"""Other repositories, fetched once into bare mirrors that outlive the run.

A run asks each repository once, however many tasks are about it, and fetches only what its mirror lacks.
A mirror is locked while it is fetched into, so that runs may share it; what a killed fetch left is cleared
away, and a mirror that is broken is made anew. Nothing in a mirror is ever run: it is a repository of ours.
"""

from __future__ import annotations

import asyncio
import fcntl
import hashlib
import os
import re
import shutil
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Final

from msgspec import Struct

from pi_batch.errors import WorkspaceError
from pi_batch.git import Git, Place
from pi_batch.git_transport import ASK_TIMEOUT_S, Transport
from pi_batch.repository_address import Address
from pi_batch.wording import listed, nearest, quoted
from pi_batch.workspaces.boundary import in_thread, workspace_errors
from pi_batch.workspaces.checkout import Checkout, read_commit, read_refs
from pi_batch.workspaces.layout import Heads, write_shadow

LOCK_TIMEOUT_S: Final = 1800.0
"""How long another run may fetch the same repository."""
MAX_PACKS: Final = 60
"""Each fetch brings one; beyond this a mirror is made anew."""
_BRANCH, _TAG = "refs/heads/", "refs/tags/"
_EXTRA = "refs/pi-batch/"
"""Where commits are kept that no branch or tag leads to."""
_OID = re.compile(r"[0-9a-f]{7,64}")
_FETCH = ("fetch", "--quiet", "--force", "--no-tags", "--no-write-fetch-head", "--update-shallow")


class Advertised(Struct, frozen=True):
    """What a repository says of itself."""

    refs: Mapping[str, str]
    """Branches and tags -> object id."""
    head: str | None
    """The commit that its HEAD is at."""
    head_branch: str | None
    """refs/heads/NAME, where its HEAD names a branch."""

    @property
    def object_format(self) -> str:
        """By the length of an id."""
        return "sha256" if self.refs and len(next(iter(self.refs.values()))) == 64 else "sha1"


class Position(Struct, frozen=True):
    """A commit to begin at."""

    commit: str
    branch: str | None
    """refs/heads/NAME; None: HEAD is detached there."""


class Mirror(Struct, frozen=True):
    """A repository as it was when this run asked for it."""

    git: Git
    transport: Transport
    address: Address
    git_dir: Path
    advertised: Advertised

    @property
    def place(self) -> Place:
        """For git calls that read it."""
        return Place(self.git_dir)

    async def position(self, ref: str | None) -> Position:
        """The commit of a branch, a tag, a commit's id, or of HEAD. Raises: WorkspaceError naming the ref."""
        said = self.advertised
        if ref in (None, "HEAD"):
            if said.head_branch is not None:
                return Position(await self._commit(said.head_branch, "HEAD"), said.head_branch)
            if said.head is None:
                raise WorkspaceError(f"{self.address.url}: its HEAD names no commit: give a ref")
            return Position(said.head, None)
        assert ref is not None  # noqa: S101 -- for the type checker
        for name in (ref, f"{_BRANCH}{ref}", f"{_TAG}{ref}"):
            if name in said.refs:
                branch = name if name.startswith(_BRANCH) else None
                return Position(await self._commit(name, ref), branch)
        is_id = _OID.fullmatch(ref) is not None
        if is_id and (found := await self._resolved(ref)) is not None:
            return Position(found, None)
        if (is_id and len(ref) in (40, 64)) or ref.startswith("refs/"):
            return Position(await self._fetch_one(ref), None)
        raise WorkspaceError(self._unknown(ref))

    async def checkout(self, at: Position) -> Checkout:
        """The mirror as a workspace reads it, its HEAD at a position."""
        refs, symbolic = await read_refs(self.git, self.place)
        shallow = self.git_dir / "shallow"
        return Checkout(
            top=self.git_dir,
            git_dir=self.git_dir,
            objects=self.git_dir / "objects",
            object_format=self.advertised.object_format,
            branch=None if at.branch is None else os.fsencode(at.branch),
            head=await read_commit(self.git, self.place, at.commit),
            refs=refs,
            symbolic=symbolic,
            shallow=shallow.read_bytes() if shallow.is_file() else b"",
            exclude=b"",
            trusts_exec_bit=True,
        )

    @asynccontextmanager
    async def held(self) -> AsyncIterator[None]:
        """Nobody fetches into it meanwhile."""
        async with _locked(self.git_dir, fcntl.LOCK_SH):
            yield

    async def _commit(self, name: str, ref: str) -> str:
        found = await self._resolved(name)
        if found is None:
            raise WorkspaceError(f"{self.address.url}: {quoted(ref)} names no commit")
        return found

    async def _resolved(self, name: str) -> str | None:
        words = ("rev-parse", "--verify", "--quiet", "--end-of-options", f"{name}^{{commit}}")
        output = await self.git.run(self.place, *words, accepted=(0, 1, 128))
        return output.stdout.decode("ascii", "replace").strip() or None

    async def _fetch_one(self, ref: str) -> str:
        """A commit that no branch or tag names: git asks for it by itself."""
        kept = f"{_EXTRA}{hashlib.sha256(ref.encode()).hexdigest()[:16]}"
        async with _locked(self.git_dir, fcntl.LOCK_EX):
            said = await self.transport.run(self.git_dir, *_FETCH, "--", self.address.url, f"+{ref}:{kept}")
        if said.code != 0:
            raise WorkspaceError(f"{self._unknown(ref)} ({said.last_line})")
        return await self._commit(kept, ref)

    def _unknown(self, ref: str) -> str:
        branches = [name.removeprefix(_BRANCH) for name in self.advertised.refs if name.startswith(_BRANCH)]
        have = nearest(ref, branches) or f" (branches: {listed(sorted(branches), limit=8)})"
        return f"{self.address.url}: no branch, tag or commit {quoted(ref)}{have}"


class Mirrors:
    """The mirrors of one run."""

    def __init__(self, directory: Path, git: Git, transport_for: Callable[[Address], Transport]) -> None:
        """`directory` is made when it is needed."""
        self._directory = directory
        self._git = git
        self._transport_for = transport_for
        self._asked: dict[str, asyncio.Future[Mirror]] = {}

    async def get(self, address: Address) -> Mirror:
        """The mirror, fetched when it is first asked for in this run; a failure counts for the whole run.

        Raises: WorkspaceError, one line without credentials.
        """
        key = address.url
        if key not in self._asked:
            self._asked[key] = asyncio.ensure_future(self._fetched(address))
        try:
            return await asyncio.shield(self._asked[key])
        except asyncio.CancelledError:
            if not self._asked[key].done():
                self._asked.pop(key).cancel()
            raise

    async def _fetched(self, address: Address) -> Mirror:
        transport = self._transport_for(address)
        digest = hashlib.sha256(address.url.encode()).hexdigest()[:12]
        git_dir = self._directory / f"{address.name}-{digest}.git"
        with workspace_errors(str(git_dir)):
            self._directory.mkdir(parents=True, exist_ok=True)
            async with _locked(git_dir, fcntl.LOCK_EX):
                said = await _ask(transport, address, self._directory)
                mirror = Mirror(self._git, transport, address, git_dir, said)
                await _bring_up_to_date(mirror)
        return mirror


async def _ask(transport: Transport, address: Address, directory: Path) -> Advertised:
    """What there is. Raises: WorkspaceError."""
    said = await transport.run(directory, "ls-remote", "--symref", "--", address.url, timeout_s=ASK_TIMEOUT_S)
    if said.code != 0:
        raise WorkspaceError(f"{address.url}: cannot be fetched: {said.last_line}")
    refs: dict[str, str] = {}
    head = head_branch = None
    for line in said.output.split("\n"):
        first, tab, name = line.partition("\t")
        if name == "HEAD" and first.startswith("ref: refs/heads/"):
            head_branch = first.removeprefix("ref: ")
        elif name == "HEAD" and tab:
            head = first
        elif name.startswith((_BRANCH, _TAG)) and not name.endswith("^{}"):
            refs[name] = first
    if not refs and head is None:
        raise WorkspaceError(f"{address.url}: has no commit yet")
    if head_branch not in refs:
        head_branch = None
    return Advertised(refs, head, head_branch)


async def _bring_up_to_date(mirror: Mirror) -> None:
    """Fetch what the mirror lacks; one that is broken is made anew, once. Raises: WorkspaceError, OSError."""
    if not (mirror.git_dir / "HEAD").is_file() or await in_thread(lambda _: _clear_up(mirror.git_dir)):
        await in_thread(lambda _: _make(mirror))
    elif await _is_current(mirror):
        return
    said = await _fetch(mirror)
    if said is not None and not await _is_whole(mirror):
        await in_thread(lambda _: _make(mirror))
        said = await _fetch(mirror)
    if said is not None:
        raise WorkspaceError(f"{mirror.address.url}: cannot be fetched: {said}")


async def _fetch(mirror: Mirror) -> str | None:
    """Every branch and tag, and HEAD where none leads to it; what git said when it failed."""
    specs = [f"+{_BRANCH}*:{_BRANCH}*", f"+{_TAG}*:{_TAG}*"]
    head = mirror.advertised.head
    if head is not None and head not in mirror.advertised.refs.values():
        specs.append(f"+HEAD:{_EXTRA}head")
    said = await mirror.transport.run(mirror.git_dir, *_FETCH, "--prune", "--", mirror.address.url, *specs)
    return None if said.code == 0 else said.last_line


async def _is_current(mirror: Mirror) -> bool:
    """True when the mirror has exactly the branches and tags that there are, and their commits."""
    try:
        refs, _ = await read_refs(mirror.git, mirror.place)
    except WorkspaceError:
        return False
    wanted = mirror.advertised
    is_same = {os.fsdecode(name): oid for name, oid in refs.items()} == dict(wanted.refs)
    has_head = wanted.head is None or wanted.head in wanted.refs.values()
    return is_same and has_head and await _is_whole(mirror)


async def _is_whole(mirror: Mirror) -> bool:
    """True when every commit that a ref names is there."""
    try:
        await mirror.git.run(mirror.place, "rev-list", "--quiet", "--max-count=1", "--all")
    except WorkspaceError:
        return False
    return True


def _make(mirror: Mirror) -> None:
    """An empty mirror in place of whatever is there. Raises: OSError."""
    if mirror.git_dir.is_dir() and not mirror.git_dir.is_symlink():
        shutil.rmtree(mirror.git_dir, ignore_errors=True)
    else:
        mirror.git_dir.unlink(missing_ok=True)
    write_shadow(mirror.git_dir, mirror.advertised.object_format, Heads("ref: refs/heads/none"))
    (mirror.git_dir / "objects" / "pack").mkdir(exist_ok=True)


def _clear_up(git_dir: Path) -> bool:
    """Remove what a killed fetch left; True when so many packs have come together that it is made anew."""
    packs = git_dir / "objects" / "pack"
    for pattern in ("*.lock", "refs/**/*.lock", "objects/pack/tmp_*", "objects/tmp_*", "objects/incoming-*"):
        for path in git_dir.glob(pattern):
            if path.is_dir():
                shutil.rmtree(path, ignore_errors=True)
            else:
                path.unlink(missing_ok=True)
    return sum(1 for _ in packs.glob("*.pack")) > MAX_PACKS


@asynccontextmanager
async def _locked(git_dir: Path, how: int) -> AsyncIterator[None]:
    """Hold a mirror's lock. Raises: WorkspaceError after `LOCK_TIMEOUT_S`, OSError."""
    path = git_dir.with_suffix(".lock")
    handle = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
    try:
        try:
            async with asyncio.timeout(LOCK_TIMEOUT_S):
                while not _try_lock(handle, how):  # noqa: ASYNC110 -- it is another process that lets go
                    await asyncio.sleep(0.1)
        except TimeoutError as error:
            raise WorkspaceError(f"{path}: locked by another run for {LOCK_TIMEOUT_S:g} s") from error
        yield
    finally:
        os.close(handle)


def _try_lock(handle: int, how: int) -> bool:
    try:
        fcntl.flock(handle, how | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError:
        return True  # a file system without locks
    return True
