"""The file between nights (`--state DIR`): locked for a whole run, written whole after each task."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from pi_batch.errors import LogWriteError, UsageError
from pi_batch.events import Record, TaskEnd
from pi_batch.files import write_atomic
from pi_batch.fold import Fold
from pi_batch.jsonl import decode_line
from pi_batch.nights import VERSION, Memory, Tried, after, name_of
from pi_batch.redact import Masker
from pi_batch.spec import PlannedTask
from pi_batch.standard_streams import tell
from pi_batch.struct_json import from_json, to_json
from pi_batch.wiring.run_dir import IGNORE_ALL
from pi_batch.wiring.run_lock import held

FILE: Final = "state.json"
BROKEN: Final = "state.json.broken"


class MemoryFile:
    """What is remembered, kept in step with its file; held by one run at a time."""

    def __init__(self, directory: Path, memory: Memory) -> None:
        self._directory = directory
        self._memory = memory

    def of(self, task: PlannedTask) -> Tried | None:
        """What is known of a task."""
        return self._memory.of(name_of(task))

    def add(self, tried: Tried) -> None:
        """Remember a try; it is on the disk when this returns. Raises: LogWriteError."""
        self._memory = self._memory.with_tried(tried)
        text = json.dumps(to_json(self._memory), ensure_ascii=False, indent=1)
        write_atomic(self._directory / FILE, f"{text}\n".encode("utf-8", "replace"))


@contextmanager
def memory_held(directory: Path | None) -> Iterator[MemoryFile | None]:
    """The memory in a directory, which is made, until the run ends; None where none is wanted.

    Raises: UsageError while another run holds it, or when a newer version wrote it; LogWriteError.
    """
    if directory is None:
        yield None
        return
    try:
        is_new = not directory.exists()
        directory.mkdir(parents=True, exist_ok=True)
        if is_new:  # neither `git status` nor a snapshot of the project shows it
            (directory / ".gitignore").write_text(IGNORE_ALL, encoding="utf-8")
    except OSError as error:
        raise LogWriteError(f"--state {directory}: cannot be made: {error.strerror or error}") from error
    with held(directory):
        yield MemoryFile(directory, _read(directory))


def _read(directory: Path) -> Memory:
    """The file's memory; one that cannot be read is kept aside and said, for the night has to go on."""
    path = directory / FILE
    try:
        content = path.read_bytes()
    except FileNotFoundError:
        return Memory()
    except OSError as error:
        raise UsageError(f"{path}: cannot be read: {error.strerror or error}") from error
    value = decode_line(content)
    version = None if value is None else value.get("version")
    if isinstance(version, int) and version > VERSION:
        raise UsageError(f"{path}: was written by a newer version of pi-batch (format {version})")
    try:
        memory: Memory = from_json(Memory, value, FILE)
    except ValueError as error:
        tell(f"pi-batch: {path}: {error}: kept as {BROKEN}, and nothing is remembered")
        path.replace(directory / BROKEN)
        return Memory()
    return memory


class Remembering:
    """A sink that remembers each task as it ends."""

    takes_live_only = False

    def __init__(
        self, file: MemoryFile, fold: Fold, tasks: Mapping[str, PlannedTask], run_id: str, mask: Masker
    ) -> None:
        """`fold` is the run's own, fed before its sinks."""
        self._file = file
        self._fold = fold
        self._tasks = tasks
        self._run_id = run_id
        self._mask = mask

    def handle(self, record: Record) -> None:
        """Take one record. Raises: LogWriteError."""
        task = self._tasks.get(record.key or "")
        if task is None or not isinstance(record.event, TaskEnd):
            return
        result = self._fold.task_result(task.planned.key)
        tried = None if result is None else after(self._file.of(task), task, result, self._run_id)
        if tried is not None:
            self._file.add(Tried(**{**to_json(tried), "reason": self._mask.mask(tried.reason)}))

    def close(self) -> None:
        """Nothing is open."""
