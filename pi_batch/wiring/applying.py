"""`pi-batch apply`: the patches of a finished run, judged once more and put where they are wanted."""

from __future__ import annotations

import asyncio
import stat
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Literal

from msgspec import Struct, field
from msgspec.structs import replace

from pi_batch.encoders import plain_line, workflow_safe
from pi_batch.errors import LogWriteError, PiBatchError, UsageError
from pi_batch.event_log import read_log
from pi_batch.fold import fold
from pi_batch.git import Place
from pi_batch.published import Publication, add_published
from pi_batch.publishing.commit import (
    Author,
    author_of,
    branch_name,
    make_commit,
    to_branch,
    to_head,
    to_tree,
)
from pi_batch.publishing.github import publish
from pi_batch.publishing.merge import Merged, NotPublished, changes_in, merge
from pi_batch.publishing.policy import Limits, refusals
from pi_batch.publishing.words import Texts, commit_message
from pi_batch.reports.masked import masked
from pi_batch.reports.write import DIGESTS, make_report, write_report
from pi_batch.results import BatchResult, RunResult
from pi_batch.standard_streams import say, tell
from pi_batch.wiring.repositories import Repositories
from pi_batch.wiring.settings import Settings
from pi_batch.wiring.surroundings import Surroundings, utf8_streams
from pi_batch.wiring.targets import Target, Targets

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
    repos: tuple[str, ...] = ()
    """Globs over addresses of other repositories that a run may name; empty: any."""


def apply(run_dir: Path, tasks: Sequence[str], options: ApplyOptions) -> int:
    """Publish the patches of the named tasks, or of all that passed; 1 when one of them was not.

    Each goes to the repository that its task was about; one that fails does not keep the others back.

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
    publisher = _Publisher(run_dir, batch, options, around)
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


class _Done(Struct, frozen=True):
    """What was done with a patch."""

    text: str
    """One line."""
    is_new: bool = True
    branch: str = ""
    url: str = ""
    commit: str = ""


class _Publisher:
    """One call of `apply`."""

    def __init__(
        self, run_dir: Path, batch: BatchResult, options: ApplyOptions, around: Surroundings
    ) -> None:
        self._run_dir = run_dir
        self._run_id = batch.run_id
        self._options = options
        self._around = around
        self._mask = around.masker(options.secrets)
        self._shown = masked(batch, self._mask)
        self._repositories = Repositories(around, Settings(around).mirrors)
        self._targets = Targets(around, self._repositories, base=options.base, remote=options.remote)
        self._git = self._targets.git

    async def all(self, results: Sequence[RunResult]) -> int:
        """Each in turn; the exit code. Raises: the first error, after the others had their turn."""
        noted: list[Publication] = []
        first: PiBatchError | None = None
        for result in results:
            kept = f"; the patch is kept: {self._run_dir / result.patch}" if result.patch else ""
            try:
                done = await self._one(result)
                noted.append(self._tell("applied" if done.is_new else "unchanged", result, done))
            except NotPublished as refusal:
                noted.append(self._tell("refused", result, _Done(f"{refusal}{kept}")))
            except PiBatchError as error:
                first = first or error
                noted.append(self._tell("error", result, _Done(f"{error}{kept}")))
        if not self._options.is_dry_run:
            self._note(noted)
        if first is not None:
            raise first
        return 1 if any(one.state == "refused" for one in noted) else 0

    def _note(self, noted: Sequence[Publication]) -> None:
        try:
            add_published(self._run_dir, noted)
            for name, file in DIGESTS.items():
                if (self._run_dir / file).is_file():
                    text = make_report(name, self._run_dir, self._around.cwd).render(self._shown)
                    write_report(self._run_dir / file, text.encode("utf-8"))
        except LogWriteError as error:
            tell(f"pi-batch: {error}")

    def _tell(
        self, state: Literal["applied", "unchanged", "refused", "error"], result: RunResult, done: _Done
    ) -> Publication:
        text = plain_line(self._mask.mask(done.text), 1000)
        word = "checked" if self._options.is_dry_run and state in ("applied", "unchanged") else state
        word = "applied" if word == "unchanged" else word
        line = f"{word:<8} {plain_line(result.key, 100)}: {text}"
        say(f"{workflow_safe(line) if self._around.is_ci else line}\n")
        return Publication(result.key, state, text, done.branch, self._mask.mask(done.url), done.commit)

    async def _one(self, result: RunResult) -> _Done:
        """Judge and publish one patch. Raises: NotPublished, PiBatchError."""
        patch = self._patch(result)
        target = await self._targets.of(result, self._options.repos)
        self._need_files(target)
        merged = await self._merged(target, patch)
        if merged is not None:
            changes = merged.changes
        else:
            changes = await changes_in(self._git, target.place, patch)
        reasons = refusals(patch, changes, result.protected_touched, self._options.limits, self._mask)
        if reasons:
            raise NotPublished("; ".join(reasons[:5]) + (" …" if len(reasons) > 5 else ""))
        moved = _moved(result, target.base, merged)
        if merged is not None and not merged.changes:
            return _Done(f"nothing to do: {target.base_name} has it already{moved}", is_new=False)
        if self._options.is_dry_run:
            return _Done(f"{len(changes)} {'file' if len(changes) == 1 else 'files'} would change{moved}")
        done = await self._publish(result, patch, target, merged)
        return replace(done, text=f"{done.text}{moved}")

    def _need_files(self, target: Target) -> None:
        """Raises: NotPublished where what is asked for needs a checkout, and there is none."""
        options = self._options
        if (
            target.has_files
            or options.as_ == "pull-request"
            or (options.as_ == "branch" and options.is_pushed)
        ):
            return
        raise NotPublished(
            f"{target.remote.name} is not checked out here: --as branch --push, or --as pull-request"
        )

    async def _merged(self, target: Target, patch: bytes) -> Merged | None:
        """The patch on top of the base; for the working tree None where only that may fit it."""
        try:
            return await merge(self._git, target.place, target.base, patch)
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

    async def _publish(self, result: RunResult, patch: bytes, target: Target, merged: Merged | None) -> _Done:
        options = self._options
        if options.as_ == "tree" or merged is None:
            await to_tree(self._git, target.place, patch, target.base, merged)
            return _Done("in the working files")
        message = commit_message(options.texts.title(result, self._run_id), result, self._run_id)
        commit = await make_commit(
            self._git,
            target.place,
            merged,
            message=self._mask.mask(message),
            author=await self._author(target.place),
            time_s=await self._time_s(target),
        )
        if options.as_ == "commit":
            await to_head(self._git, target.place, commit, target.base)
            return _Done(f"commit {commit[:12]}", commit=commit)
        name = branch_name(options.branch_prefix, result.key)
        if options.as_ == "branch":
            return await self._branch_of(target, commit, name)
        return await self._pull_request(result, target, commit, name)

    async def _branch_of(self, target: Target, commit: str, name: str) -> _Done:
        if not self._options.is_pushed:
            tip = await to_branch(self._git, target.place, commit, name)
            is_new, where = tip == commit, f"branch {name} at {tip[:12]}"
        else:
            pushed = await target.remote.push(commit, name)
            tip, is_new = pushed.commit, pushed.is_new
            where = f"branch {name} on {target.remote.name} at {tip[:12]}"
        return _Done(where if is_new else f"{where}, unchanged", is_new, name, commit=tip)

    async def _pull_request(self, result: RunResult, target: Target, commit: str, name: str) -> _Done:
        options, environ = self._options, self._around.environ
        forge = self._targets.forge(target)
        of_job = None if target.address else environ.get("GITHUB_BASE_REF")
        into = options.into or of_job or target.branch
        if not into:
            raise UsageError("--into is needed: no branch is checked out that the pull request could be for")
        pushed = await target.remote.push(commit, name)
        address = await publish(
            forge,
            branch=name,
            base=into,
            title=self._mask.mask(options.texts.title(result, self._run_id)),
            body=self._mask.mask(options.texts.body(result, self._run_id)),
            is_draft=options.is_draft,
            is_new=pushed.is_new,
        )
        text = f"{address} (branch {name}{'' if pushed.is_new else ', unchanged'})"
        return _Done(text, pushed.is_new, name, address, pushed.commit)

    async def _author(self, place: Place) -> Author:
        """--author, then git's own user, then a name that says what made it."""
        if self._options.author is not None:
            author = author_of(self._options.author)
            if author is None:
                raise UsageError(f"--author: got {self._options.author!r}, need 'Name <email>'")
            return author
        values = []
        for key in ("user.name", "user.email"):
            output = await self._git.run(
                place, "config", "--get", key, accepted=(0, 1), user_home=self._around.home
            )
            values.append(output.stdout.decode("utf-8", "replace").strip())
        return author_of(f"{values[0]} <{values[1]}>") or DEFAULT_AUTHOR

    async def _time_s(self, target: Target) -> int:
        """Now, but never before the commit that it stands on."""
        output = await self._git.run(target.place, "show", "-s", "--format=%ct", target.base)
        return max(int(time.time()), int(output.stdout.split()[-1]))


def _moved(result: RunResult, head: str, merged: Merged | None) -> str:
    """What to say of a base that is not the run's."""
    if result.base_commit is None or result.base_commit == head:
        return ""
    how = "merged three ways" if merged is not None and merged.is_three_way else "the patch applied as it is"
    return f" (the base moved from {result.base_commit[:12]} to {head[:12]}: {how})"
