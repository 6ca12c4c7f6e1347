"""`pi-batch apply`: the patches of a finished run, judged once more and put where they are wanted."""

from __future__ import annotations

import asyncio
import stat
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Literal

from msgspec import Struct, field

from pi_batch.encoders import plain_line, workflow_safe
from pi_batch.errors import PiBatchError, UsageError
from pi_batch.event_log import read_log
from pi_batch.fold import fold
from pi_batch.git import Git, Place, find_git
from pi_batch.publishing.commit import (
    Author,
    author_of,
    branch_name,
    make_commit,
    resolve,
    to_branch,
    to_head,
    to_tree,
)
from pi_batch.publishing.github import API, Repository, publish
from pi_batch.publishing.merge import Merged, NotPublished, changes_in, merge
from pi_batch.publishing.policy import Limits, refusals
from pi_batch.publishing.remote import Remote
from pi_batch.publishing.words import Texts, commit_message
from pi_batch.results import BatchResult, RunResult
from pi_batch.standard_streams import say, tell
from pi_batch.wiring.surroundings import Surroundings, utf8_streams
from pi_batch.workspaces.checkout import find_top
from pi_batch.workspaces.layout import repository_of

As = Literal["tree", "commit", "branch", "pull-request"]
DEFAULT_AUTHOR = Author("pi-batch", "pi-batch@localhost")


class ApplyOptions(Struct, frozen=True):
    """The flags of `apply`."""

    as_: As = "tree"
    base: str = "HEAD"
    into: str | None = None
    """The branch that a pull request is for; None: the one that is checked out."""
    branch_prefix: str = "pi-batch/"
    remote: str = "origin"
    author: str | None = None
    texts: Texts = field(default_factory=Texts)
    limits: Limits = field(default_factory=Limits)
    takes_unverified: bool = False
    is_pushed: bool = False
    """Push a branch, too."""
    is_draft: bool = True
    is_dry_run: bool = False
    secrets: tuple[str, ...] = ()


def apply(run_dir: Path, tasks: Sequence[str], options: ApplyOptions) -> int:
    """Publish the patches of the named tasks, or of all that passed; 1 when one of them was not.

    Raises: UsageError, WorkspaceError, ForgeError.
    """
    utf8_streams()
    around = Surroundings.of_process()
    log = run_dir / "events.jsonl"
    if not log.is_file():
        raise UsageError(f"{run_dir}: no events.jsonl there: name the directory of a run")
    batch = fold(read_log(log))
    chosen = list(_selected(batch, tasks))
    if not chosen:
        tell("pi-batch: nothing to apply: no task of this run passed and left a patch")
        return 0
    publisher = _Publisher(run_dir, batch.run_id, options, around)
    return asyncio.run(publisher.all(chosen))


def _selected(batch: BatchResult, tasks: Sequence[str]) -> Iterator[RunResult]:
    """Results by key or task id, in the run's order; left out: all that passed and left a patch."""
    known = {name for result in batch.results for name in (result.key, result.task_id)}
    unknown = [task for task in tasks if task not in known]
    if unknown:
        names = ", ".join(result.key for result in batch.results[:20])
        raise UsageError(f"{unknown[0]}: no such task in this run. Its tasks: {names}")
    for result in batch.results:
        is_named = bool({result.key, result.task_id} & set(tasks))
        if is_named or (not tasks and result.patch and result.outcome == "passed"):
            yield result


class _Publisher:
    """One call of `apply`."""

    def __init__(self, run_dir: Path, run_id: str, options: ApplyOptions, around: Surroundings) -> None:
        self._run_dir = run_dir
        self._run_id = run_id
        self._options = options
        self._around = around
        self._mask = around.masker(options.secrets)
        top = find_top(around.cwd)
        if top is None:
            raise UsageError(f"{around.cwd}: no git repository: change to the one that the patch is for")
        self._git = Git(find_git(around.environ.get("PATH")))
        self._place = Place(repository_of(top), top)

    async def all(self, results: Sequence[RunResult]) -> int:
        """Each in turn; the exit code."""
        bad = 0
        for result in results:
            try:
                self._tell(
                    "checked" if self._options.is_dry_run else "applied", result, await self._one(result)
                )
            except NotPublished as refusal:
                bad += 1
                kept = f"; the patch is kept: {self._run_dir / result.patch}" if result.patch else ""
                self._tell("refused", result, f"{refusal}{kept}")
            except PiBatchError as error:
                kept = f"; the patch is kept: {self._run_dir / result.patch}" if result.patch else ""
                self._tell("error", result, f"{error}{kept}")
                raise
        return 1 if bad else 0

    def _tell(self, word: str, result: RunResult, text: str) -> None:
        line = f"{word:<8} {plain_line(result.key, 100)}: {plain_line(self._mask.mask(text), 1000)}"
        say(f"{workflow_safe(line) if self._around.is_github_actions else line}\n")

    async def _one(self, result: RunResult) -> str:
        """Judge and publish one patch; what was done, one line. Raises: NotPublished, PiBatchError."""
        patch = self._patch(result)
        head = await resolve(self._git, self._place, self._options.base)
        if head is None:
            raise UsageError(f"--base {self._options.base}: no such commit here")
        merged = await self._merged(patch, head)
        changes = merged.changes if merged is not None else await changes_in(self._git, self._place, patch)
        reasons = refusals(patch, changes, result.protected_touched, self._options.limits, self._mask)
        if reasons:
            raise NotPublished("; ".join(reasons[:5]) + (" …" if len(reasons) > 5 else ""))
        moved = self._moved(result, head, merged)
        if merged is not None and not merged.changes:
            return f"nothing to do: {self._options.base} has it already{moved}"
        if self._options.is_dry_run:
            return f"{len(changes)} {'file' if len(changes) == 1 else 'files'} would change{moved}"
        return f"{await self._publish(result, patch, head, merged)}{moved}"

    async def _merged(self, patch: bytes, head: str) -> Merged | None:
        """The patch on top of the base; for the working tree None where only that may fit it."""
        try:
            return await merge(self._git, self._place, head, patch)
        except NotPublished:
            if self._options.as_ != "tree":
                raise
            return None

    def _patch(self, result: RunResult) -> bytes:
        """The patch's bytes. Raises: NotPublished where there is none that may be published."""
        if result.outcome != "passed":
            raise NotPublished(f"the task's outcome is {result.outcome}: {result.reason}")
        if not result.verified and not self._options.takes_unverified:
            raise NotPublished("no check has judged it (--unverified takes it all the same)")
        if not result.patch:
            raise NotPublished("the task changed nothing")
        path = (self._run_dir / result.patch).resolve()
        try:
            if not path.is_relative_to(self._run_dir.resolve()) or not stat.S_ISREG(path.lstat().st_mode):
                raise NotPublished("the patch is no file of the run directory")
            limit = self._options.limits.patch_bytes
            with path.open("rb") as file:
                content = file.read(limit + 1)
        except OSError as error:
            raise NotPublished(f"the patch cannot be read: {error.strerror or error}") from error
        if len(content) > limit:
            raise NotPublished(f"the patch has more than {limit:,} bytes (--max-patch-bytes)")
        return content

    def _moved(self, result: RunResult, head: str, merged: Merged | None) -> str:
        """What to say of a base that is not the run's."""
        if result.base_commit is None or result.base_commit == head:
            return ""
        how = (
            "merged three ways"
            if merged is not None and merged.is_three_way
            else "the patch applied as it is"
        )
        return f" (the base moved from {result.base_commit[:12]} to {head[:12]}: {how})"

    async def _publish(self, result: RunResult, patch: bytes, head: str, merged: Merged | None) -> str:
        options = self._options
        if options.as_ == "tree" or merged is None:
            await to_tree(self._git, self._place, patch, head, merged)
            return "in the working files"
        message = commit_message(options.texts.title(result, self._run_id), result, self._run_id)
        author = await self._author()
        commit = await make_commit(
            self._git,
            self._place,
            merged,
            message=self._mask.mask(message),
            author=author,
            time_s=await self._time_s(head),
        )
        if options.as_ == "commit":
            await to_head(self._git, self._place, commit, head)
            return f"commit {commit[:12]}"
        name = branch_name(options.branch_prefix, result.key)
        if options.as_ == "branch":
            return await self._branch_of(commit, name)
        return await self._pull_request(result, commit, name)

    async def _branch_of(self, commit: str, name: str) -> str:
        if not self._options.is_pushed:
            await to_branch(self._git, self._place, commit, name)
            return f"branch {name} at {commit[:12]}"
        is_new = await self._remote().push(commit, name)
        where = f"branch {name} on {self._options.remote} at {commit[:12]}"
        return where if is_new else f"{where}, unchanged"

    def _remote(self) -> Remote:
        environ = self._around.environ
        server = environ.get("GITHUB_SERVER_URL", "https://github.com")
        return Remote(self._git, self._place, self._options.remote, environ, _token(environ), server)

    async def _pull_request(self, result: RunResult, commit: str, name: str) -> str:
        options, environ = self._options, self._around.environ
        repository = self._repository()
        into = options.into or environ.get("GITHUB_BASE_REF") or await self._branch()
        is_new = await self._remote().push(commit, name)
        address = await publish(
            repository,
            branch=name,
            base=into,
            title=self._mask.mask(options.texts.title(result, self._run_id)),
            body=self._mask.mask(options.texts.body(result, self._run_id)),
            is_draft=options.is_draft,
        )
        return f"{address} (branch {name}{'' if is_new else ', unchanged'})"

    def _repository(self) -> Repository:
        """Where pull requests go. Raises: UsageError naming what is missing."""
        environ = self._around.environ
        name = environ.get("GITHUB_REPOSITORY", "")
        token = _token(environ)
        if name.count("/") != 1 or not token:
            raise UsageError(
                "--as pull-request needs GITHUB_REPOSITORY (owner/name) and GH_TOKEN or GITHUB_TOKEN "
                "with the right to write contents and pull requests"
            )
        return Repository(name, token, environ.get("GITHUB_API_URL", API))

    async def _branch(self) -> str:
        output = await self._git.run(
            self._place, "symbolic-ref", "--short", "--quiet", "HEAD", accepted=(0, 1)
        )
        name = output.stdout.decode("utf-8", "replace").strip()
        if not name:
            raise UsageError("--into is needed: no branch is checked out that the pull request could be for")
        return name

    async def _author(self) -> Author:
        """--author, then git's own user, then a name that says what made it."""
        if self._options.author is not None:
            author = author_of(self._options.author)
            if author is None:
                raise UsageError(f"--author: got {self._options.author!r}, need 'Name <email>'")
            return author
        values = []
        for key in ("user.name", "user.email"):
            output = await self._git.run(
                self._place, "config", "--get", key, accepted=(0, 1), user_home=self._around.home
            )
            values.append(output.stdout.decode("utf-8", "replace").strip())
        return author_of(f"{values[0]} <{values[1]}>") or DEFAULT_AUTHOR

    async def _time_s(self, head: str) -> int:
        """Now, but never before the commit that it stands on."""
        output = await self._git.run(self._place, "show", "-s", "--format=%ct", head)
        return max(int(time.time()), int(output.stdout.split()[-1]))


def _token(environ: Mapping[str, str]) -> str:
    """The right to write that was handed to this process, if any."""
    return environ.get("GH_TOKEN") or environ.get("GITHUB_TOKEN") or ""
