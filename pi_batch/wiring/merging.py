"""`pi-batch merge`: run directories of shards, and one run directory of the whole."""

from __future__ import annotations

import os
import secrets
import shutil
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

from pi_batch.errors import LogWriteError, PiBatchError, UsageError
from pi_batch.event_log import encode_record, header_line, read_log
from pi_batch.fold import Fold
from pi_batch.manifest import FILE, Manifest, Shard
from pi_batch.merging import Attempts, merged, missing, refusals
from pi_batch.reports.write import ReportFiles
from pi_batch.results import BatchResult
from pi_batch.standard_streams import tell
from pi_batch.wiring.run_dir import make_run_dir
from pi_batch.wiring.run_leg import LOG
from pi_batch.wiring.run_lock import is_held
from pi_batch.wiring.sharding import load_manifest, save_manifest
from pi_batch.wiring.showing import print_table
from pi_batch.wiring.stored_plan import FILE as PLAN
from pi_batch.wiring.stored_plan import StoredPlan, read_plan
from pi_batch.wiring.surroundings import Surroundings, utf8_streams
from pi_batch.workspaces.removal import remove_tree


def merge(run_dirs: Sequence[Path], output: Path | None, extra: Mapping[str, Path | None]) -> int:
    """Merge shards into one run; its exit code. Raises: UsageError with a line a refusal, LogWriteError."""
    utf8_streams()
    around = Surroundings.of_process()
    parts, problems = _read(run_dirs)
    problems += list(refusals(parts)) if parts else []
    if problems:
        raise UsageError("\n".join(problems))
    target = _target(around.cwd, output)
    where = {part.name: path for part, path in zip(parts, run_dirs, strict=True)}
    wanted = {name: path for name, path in extra.items() if path is not None}
    made = target.parent / f".{target.name}.{secrets.token_hex(4)}"
    try:
        batch = _write(made, parts, where, wanted, around.cwd)
        _put(made, target)
    except OSError as error:
        raise LogWriteError(f"{target}: cannot be written: {error.strerror or error}") from error
    finally:
        if made.exists():
            remove_tree(made)
    for line in missing(parts):
        tell(f"pi-batch: {line}")
    print_table(batch, target, around)
    return batch.exit_code


def _read(run_dirs: Sequence[Path]) -> tuple[list[Attempts], list[str]]:
    """The parts that can be read, and what is wrong with the others."""
    parts: list[Attempts] = []
    problems: list[str] = []
    for run_dir in dict.fromkeys(run_dirs):
        try:
            parts.append(_attempts(run_dir))
        except PiBatchError as error:
            problems.append(str(error))
    return parts, problems


def _attempts(run_dir: Path) -> Attempts:
    """One run directory. Raises: UsageError, one line."""
    for name in (LOG, FILE):
        if not (run_dir / name).is_file():
            how = "" if name == LOG else ": only runs with --shard can be merged"
            raise UsageError(f"{run_dir}: no {name} there{how or ': name the directory of a run'}")
    if is_held(run_dir):
        raise UsageError(f"{run_dir}: is still running: wait for it to end")
    manifest, stored = load_manifest(run_dir / FILE), read_plan(run_dir)
    shards = _shards(run_dir, manifest, stored)
    if stored is not None:
        known = manifest.by_key
        changed = [
            task.key for task in stored.tasks if task.key in known and known[task.key].digest != task.digest
        ]
        if changed:
            raise UsageError(
                f"{run_dir}: {changed[0]} was run with another spec than the manifest's (--force)"
            )
    attempts = Attempts.of(str(run_dir), manifest, shards, read_log(run_dir / LOG))
    if not attempts.of_run:
        raise UsageError(f"{run_dir}: holds no run: it ended before the first event was written")
    return attempts


def _shards(run_dir: Path, manifest: Manifest, stored: StoredPlan | None) -> Sequence[int]:
    """Which shards a run directory holds; a merged one has no plan of its own and may hold all."""
    if stored is None:
        return range(1, manifest.shards + 1)
    shard = Shard.parse(str(stored.options.get("shard")))
    if shard.count != manifest.shards:
        raise UsageError(f"{run_dir}: is shard {shard}, and its manifest has {manifest.shards} shards")
    return (shard.index,)


def _target(cwd: Path, output: Path | None) -> Path:
    """Where the whole goes: a new directory, an empty one, or an earlier merge. Raises: UsageError."""
    if output is None:
        name = f"{time.strftime('%Y%m%d-%H%M%S', time.gmtime())}-{secrets.token_hex(3)}"
        return make_run_dir(cwd, name, None, None)
    target = cwd / output
    if (target / PLAN).exists() or (target.exists() and not target.is_dir()):
        raise UsageError(f"--output {output}: is no place for a merged run: name a new directory")
    is_merged = (target / LOG).is_file() and (target / FILE).is_file()
    if target.is_dir() and not is_merged and any(path.name != ".gitignore" for path in target.iterdir()):
        raise UsageError(f"--output {output}: is not empty, and holds no merged run: name a new directory")
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise LogWriteError(f"{target.parent}: cannot be made: {error.strerror or error}") from error
    return target


def _write(
    made: Path,
    parts: Sequence[Attempts],
    where: Mapping[str, Path],
    extra: Mapping[str, Path],
    root: Path,
) -> BatchResult:
    """Everything of the merged run, in a directory of its own. Raises: OSError, LogWriteError."""
    made.mkdir()
    (made / ".gitignore").write_text("*\n", encoding="utf-8")
    save_manifest(made / FILE, parts[0].manifest)
    fold, sources = Fold(), dict[str, Path]()
    with (made / LOG).open("w", encoding="utf-8", errors="replace") as log:
        log.write(f"{header_line()}\n")
        for record, part in merged(parts):
            fold.feed(record)
            log.write(f"{encode_record(record, live=False)}\n")
            if part is not None and record.key is not None:
                sources[record.key] = where[part.name]
        log.flush()
        os.fsync(log.fileno())
    for key, run_dir in sources.items():
        task_dir = run_dir / "tasks" / key
        if task_dir.is_dir() and not task_dir.is_symlink():
            shutil.copytree(task_dir, made / "tasks" / key, symlinks=True, ignore=_links)
    batch = fold.result()
    ReportFiles(made, extra=extra, root=root).write(batch)
    return batch


def _links(directory: str, names: list[str]) -> list[str]:
    """What is not copied: links lead out of a run directory, and a run has none."""
    return [name for name in names if (Path(directory) / name).is_symlink()]


def _put(made: Path, target: Path) -> None:
    """Put the merged run in its place; an earlier one goes only when it is whole. Raises: OSError."""
    aside = target.parent / f".{target.name}.{secrets.token_hex(4)}"
    if target.exists():
        target.rename(aside)
    made.rename(target)
    if aside.exists():
        remove_tree(aside)
