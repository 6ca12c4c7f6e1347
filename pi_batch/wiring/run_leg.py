"""One process's part of a run: where its files are, what earlier ones left, what there is to do."""

from __future__ import annotations

import hashlib
import os
import secrets
import stat
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from msgspec import Struct

from pi_batch.engine.legs import Mode, Work, choose, everything, read_earlier
from pi_batch.engine.restoring import read_conversation
from pi_batch.errors import LogWriteError, UsageError
from pi_batch.event_log import read_log
from pi_batch.sandboxes.leftovers import end_leftovers
from pi_batch.spec import Plan
from pi_batch.standard_streams import tell
from pi_batch.wiring.options import RunOptions
from pi_batch.wiring.run_lock import Holder
from pi_batch.wiring.stored_plan import StoredPlan, differences, listed
from pi_batch.workspaces import is_kept
from pi_batch.workspaces.removal import remove_tree

LOG = "events.jsonl"
PREFIX = "pi-batch-"
"""Of private directories."""
UNFINISHED = (".run.json.*", ".junit.xml.*", ".plan.json.*")
"""Temporary files of a process that was killed while it wrote."""


class Leg(Struct, frozen=True):
    """What a leg works on."""

    run_dir: Path
    private_dir: Path
    work: Work
    number: int = 1

    def task_dir(self, key: str) -> Path:
        """tasks/<key>."""
        return self.run_dir / "tasks" / key

    def state_dir(self, key: str) -> Path:
        """The private directory of a task; the same in every leg."""
        return state_dir_of(self.private_dir, key)

    def ready(self, key: str) -> None:
        """Make a task's directories; what an earlier trial left is moved aside. Raises: LogWriteError."""
        task_dir, state_dir, mode = self.task_dir(key), self.state_dir(key), self.work.mode(key)
        try:
            if mode != "go_on":
                remove_tree(state_dir)
            if mode in ("begin", "rerun") and key in self.work.earlier.tasks and task_dir.exists():
                aside = self.run_dir / "earlier" / str(self.number - 1) / key
                aside.parent.mkdir(parents=True, exist_ok=True)
                task_dir.rename(aside)
            task_dir.mkdir(parents=True, exist_ok=True)
            state_dir.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            where = error.filename or task_dir
            raise LogWriteError(f"{where}: cannot be made: {error.strerror or error}") from error


def state_dir_of(private_dir: Path, key: str) -> Path:
    """A task's private directory."""
    return private_dir / hashlib.sha256(key.encode()).hexdigest()[:8]


@contextmanager
def private_directory(known: Path | None, parent: Path | None = None) -> Iterator[Path]:
    """The run's directory outside every project: the one of earlier legs, or a new one.

    Only its name is given: `make_private` makes it once the name is on the disk, so that none is forgotten.
    It is removed in the end, unless a workspace in it is kept to be gone on with. `parent` is where it lies;
    left out: where temporary files go.
    """
    parent = parent or _temporary()
    path = known if known is not None and may_be_private(known, parent) else _new_name(parent)
    try:
        yield path
    finally:
        if not has_kept(path):
            try:
                remove_tree(path)
            except OSError as error:
                tell(f"pi-batch: {path}: cannot be removed: {error.strerror or error}")


def make_private(path: Path) -> None:
    """Make a private directory, where it is not there from an earlier leg. Raises: LogWriteError."""
    try:
        if not path.is_dir():
            path.mkdir(mode=0o700)
    except OSError as error:
        raise LogWriteError(f"{path}: cannot be made: {error.strerror or error}") from error


def may_be_private(path: Path, parent: Path | None = None) -> bool:
    """True for what was made or named here, whatever a plan.json says: it will be removed."""
    if not path.name.startswith(PREFIX):
        return False
    try:
        status = path.lstat()
    except FileNotFoundError:
        return path.parent == (parent or _temporary())
    except OSError:
        return False
    is_ours = stat.S_ISDIR(status.st_mode) and status.st_uid == os.getuid()
    return is_ours and stat.S_IMODE(status.st_mode) == 0o700


def _new_name(parent: Path) -> Path:
    return parent / f"{PREFIX}{secrets.token_hex(6)}"


def _temporary() -> Path:
    """Where temporary files go. Raises: LogWriteError where there is no such place."""
    try:
        return Path(tempfile.gettempdir()).resolve()
    except OSError as error:
        raise LogWriteError(f"no temporary directory: {error.strerror or error}") from error


def has_kept(private_dir: Path) -> bool:
    """True when a workspace is kept there."""
    return private_dir.is_dir() and any(is_kept(path) for path in private_dir.iterdir())


def check_plan(run_dir: Path, before: StoredPlan, now: StoredPlan, options: RunOptions) -> bool:
    """True when the plan changed and that is accepted; False when it is as it was. Raises: UsageError."""
    if (before.origin.command, before.cwd) != (now.origin.command, now.cwd):
        raise UsageError(
            f"{run_dir}: holds a run of `{before.origin.command}` in {before.cwd}: name another --output"
        )
    found = differences(before, now)
    if not found or options.is_forced:
        return bool(found)
    are_checks = all(one.is_of_checks for one in found)
    if are_checks and options.is_reverify:
        return True
    how = "--reverify judges the stored work by them, without a request" if are_checks else ""
    ways = "; ".join(filter(None, (how, "--force goes on with the new ones, another --output begins anew")))
    raise UsageError(f"{run_dir}: the specs are not those of the run:{listed(found)}\n{ways}")


def work_left(run_dir: Path, plan: Plan, private_dir: Path, options: RunOptions, *, is_changed: bool) -> Work:
    """What a further leg does. Raises: UsageError where the log is damaged."""
    earlier = read_earlier(read_log(run_dir / LOG))
    keys = [task.planned.key for task in plan.tasks]
    if options.is_continued:
        modes: Mapping[str, Mode] = dict.fromkeys(keys, "prompt")
    else:
        modes = choose(keys, earlier, rerun=options.rerun, is_reverify=options.is_reverify)
    by_key = {task.planned.key: task for task in plan.tasks}
    looked = {
        key: _looked_at(
            mode,
            has_words=_has_prompt(run_dir / "tasks" / key / "session.jsonl"),
            is_in_place=by_key[key].spec.workspace.isolation == "none",
            has_kept_files=is_kept(state_dir_of(private_dir, key)),
            may_rerun=bool({"error", "all"} & set(options.rerun)),
        )
        for key, mode in modes.items()
    }
    for key, left in earlier.tasks.items():  # killed after its end and before its workspace was removed
        if key not in looked and left.result.outcome != "error":
            remove_tree(state_dir_of(private_dir, key))
    return Work(looked, earlier, is_changed=is_changed)


def first_work(plan: Plan, options: RunOptions) -> Work:
    """The work of a first leg. Raises: UsageError for flags that only make sense later."""
    flag = "--rerun" if options.rerun else "--reverify" if options.is_reverify else ""
    if flag:
        raise UsageError(f"{flag}: needs --output with the directory of an earlier run")
    work = everything(plan)
    if options.fork is None:
        return work
    return Work(dict.fromkeys(work.modes, "prompt"), work.earlier)


def clear_up(run_dir: Path, before: Holder, keys: Iterable[str]) -> None:
    """Remove what a killed process left: half-written files, and commands that still run."""
    for pattern in (*UNFINISHED, *(f"tasks/{key}/.*" for key in keys)):
        for path in run_dir.glob(pattern):
            if path.is_file() and not path.is_symlink():
                path.unlink(missing_ok=True)
    if before.runner is not None:
        end_leftovers(before.runner)


def _looked_at(
    mode: Mode, *, has_words: bool, is_in_place: bool, has_kept_files: bool, may_rerun: bool
) -> Mode:
    """What can be done: without a word said there is nothing to go on with, without files no way to.

    A task that a service failed has its files kept: running it again means going on with it.
    """
    match mode:
        case "prompt":
            return mode if has_words else "rerun"
        case "go_on" if not has_words:
            return "begin"
        case "go_on":
            return "rerun" if may_rerun and not (has_kept_files or is_in_place) else mode
        case "rerun":
            return "go_on" if has_words and has_kept_files else mode
        case "begin" | "reverify":
            return mode


def _has_prompt(session: Path) -> bool:
    try:
        return bool(read_conversation(session).history)
    except UsageError:
        return False
