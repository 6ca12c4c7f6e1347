"""`pi-batch suite import`: tasks of other formats, written as a suite."""

from __future__ import annotations

import asyncio
import shutil
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Literal

from pi_batch.encoders import plain_line
from pi_batch.errors import LogWriteError, PiBatchError, UsageError, WorkspaceError
from pi_batch.git import Git, Place, find_git
from pi_batch.peers.harbor import find_tasks, read_task
from pi_batch.peers.swebench import Change, Row, find_repository, imported, read_rows
from pi_batch.peers.task_files import Imported, Refused, TaskFile, suite_yaml, write_task
from pi_batch.standard_streams import say
from pi_batch.wording import printable

Format = Literal["harbor", "swebench"]


def import_suite(form: Format, path: Path, out: Path, *, repos: Path | None, setup: Sequence[str]) -> int:
    """Write a suite, and say of each task what became of it; 0 when all could be had, 1 when some.

    Raises: UsageError when none could, or OUT is not empty; LogWriteError.
    """
    shown = printable(str(path))
    if not path.exists():
        raise UsageError(f"{shown}: no such file or directory")
    if out.exists() and (not out.is_dir() or any(out.iterdir())):
        raise UsageError(f"{printable(str(out))}: is there already and not empty: name another directory")
    made = _harbor(path, out) if form == "harbor" else _swebench(path, out, repos, setup)
    imports = refusals = 0
    try:
        for one in made:
            imports += isinstance(one, Imported)
            refusals += isinstance(one, Refused)
            say("".join(f"{line}\n" for line in _lines(one)))
        if imports:
            title = f"Imported from {path.resolve().name}"
            (out / "suite.yaml").write_text(suite_yaml(title), encoding="utf-8")
    except OSError as error:
        where = printable(str(error.filename or out))
        raise LogWriteError(f"{where}: cannot be written: {error.strerror or error}") from error
    if not imports:
        what = f"none of {refusals} tasks can be had" if refusals else f"no task of that format: {form}"
        raise UsageError(f"{shown}: {what}")
    say(f"{imports} imported, {refusals} not; pi-batch suite check {printable(str(out))} proves them\n")
    return 1 if refusals else 0


def _lines(one: Imported | Refused) -> Iterator[str]:
    name = plain_line(one.id, 120)
    if isinstance(one, Refused):
        yield f"not imported: {name}: {plain_line('; '.join(one.reasons), 500)}"
        return
    yield f"imported: {name}"
    yield from (f"note: {name}: {plain_line(note, 500)}" for note in one.notes)


def _harbor(path: Path, out: Path) -> Iterator[Imported | Refused]:
    seen: set[str] = set()
    for directory in find_tasks(path):
        task = read_task(directory)
        if task.id.lower() in seen:
            yield Refused(task.id, (f"{directory.name}: another task has this id",))
            continue
        seen.add(task.id.lower())
        if isinstance(task, Imported):
            write_task(task, out / task.id)
        yield task


def _swebench(
    path: Path, out: Path, repos: Path | None, setup: Sequence[str]
) -> Iterator[Imported | Refused]:
    if repos is None:
        raise UsageError("--repos DIR is needed: where repositories are, as OWNER/NAME, OWNER__NAME or NAME")
    try:
        rows = read_rows(path.read_text(encoding="utf-8"), path.name)
    except (OSError, ValueError) as error:
        raise UsageError(" ".join(f"{printable(str(path))}: {error}".split())[:400]) from error
    git = Git(find_git())
    seen: set[str] = set()
    for name, row in rows:
        if isinstance(row, str):
            yield Refused(name, (row,))
            continue
        try:
            task = asyncio.run(_instance(git, row, repos, out, setup))
        except PiBatchError as error:
            yield Refused(name, (str(error),))
            continue
        if task.id.lower() in seen:
            yield Refused(name, ("another instance has this id",))
            continue
        seen.add(task.id.lower())
        write_task(task, out / task.id)
        yield task


async def _instance(git: Git, row: Row, repos: Path, out: Path, setup: Sequence[str]) -> Imported:
    """A row with its workspace written. Raises: WorkspaceError, UsageError."""
    repository = find_repository(repos, row.repo)
    if repository is None:
        raise UsageError(f"repository {row.repo!r} is not in {printable(str(repos))}")
    task = imported(row, Change({}), None, setup)
    workspace = out / task.id / "workspace"
    if workspace.exists():
        return task
    workspace.mkdir(parents=True)
    try:
        await _checkout(git, repository, row.base_commit, workspace)
        tests = await _changed(git, repository, row.test_patch, workspace, "test_patch")
        gold = await _changed(git, repository, row.patch, workspace, "patch") if row.patch.strip() else None
    except WorkspaceError:
        shutil.rmtree(out / task.id)
        raise
    if gold is not None and not all(_is_text(file) for file in gold.files.values()):
        gold = None
    return imported(row, tests, gold, setup)


async def _checkout(git: Git, repository: Path, commit: str, workspace: Path) -> None:
    """The files of a commit; nothing of its history, and the repository's own index is left alone."""
    with tempfile.TemporaryDirectory(prefix="import-") as box:
        place = Place(repository.resolve(), workspace.resolve(), Path(box) / "index")
        try:
            await git.run(place, "read-tree", f"{commit}^{{tree}}")
        except WorkspaceError as error:
            where = printable(str(repository))
            raise WorkspaceError(f"base_commit {commit[:40]} is not in {where}") from error
        await git.run(place, "checkout-index", "--all", "--force")


async def _changed(git: Git, repository: Path, patch: str, workspace: Path, key: str) -> Change:
    """What a patch makes of the workspace's files, tried on copies. Raises: WorkspaceError."""
    body = (patch if patch.endswith("\n") else f"{patch}\n").encode()
    with tempfile.TemporaryDirectory(prefix="import-") as box:
        scratch = Path(box).resolve()
        place = Place(repository.resolve(), scratch)
        try:
            listed = await git.run(place, "apply", "--numstat", "-z", "-", stdin=body)
            names = _names(listed.stdout.decode("utf-8", "surrogateescape"))
            before = [name for name in names if _copied(workspace / name, scratch / name)]
            await git.run(place, "apply", "--whitespace=nowarn", "-", stdin=body)
        except WorkspaceError as error:
            raise WorkspaceError(f"{key} does not apply to base_commit: {error}") from error
        files = {name: _read(scratch / name) for name in names if (scratch / name).is_file()}
        return Change(files, tuple(name for name in before if name not in files))


def _names(numstat: str) -> list[str]:
    """The paths of `git apply --numstat -z`; of a renamed file both."""
    names: list[str] = []
    for part in numstat.split("\0"):
        name = part.split("\t", 2)[-1] if part.count("\t") >= 2 else part
        if name:
            names.append(name)
    return list(dict.fromkeys(names))


def _copied(source: Path, target: Path) -> bool:
    if not source.is_file() or source.is_symlink():
        return False
    target.parent.mkdir(parents=True, exist_ok=True)
    shutil.copy(source, target)
    return True


def _read(path: Path) -> TaskFile:
    return TaskFile(path.read_bytes(), bool(path.stat().st_mode & 0o100))


def _is_text(file: TaskFile) -> bool:
    try:
        file.content.decode()
    except UnicodeDecodeError:
        return False
    return True
