"""Report files: run.json and junit.xml in the run directory, others where they were asked for."""

from __future__ import annotations

import errno
import os
from collections.abc import Mapping
from pathlib import Path

from pi_batch.encoders import json_safe, workflow_safe, xml_safe
from pi_batch.errors import LogWriteError
from pi_batch.files import write_atomic
from pi_batch.protocols import Clock, Report
from pi_batch.published import read_published
from pi_batch.redact import Masker
from pi_batch.reports import load
from pi_batch.reports.logs import log_reader
from pi_batch.reports.masked import BatchMask
from pi_batch.results import BatchResult

PAUSE_S = 0.25
"""Between two writings while a run goes on: of tasks that end together one report is enough."""
SHARE = 0.1
"""Of the time, what writing may take while a run goes on."""

DIGESTS = {"digest": "digest.md", "digest-json": "digest.json"}
"""Report -> file in the run directory, of runs that remember."""

RUN_DIR_FILES = {"run.json": "json", "junit.xml": "junit"}


class ReportWriter:
    """Writes a run's reports anew after each task, and says how long they will do.

    Reports of thousands of tasks take a while: while the run goes on they are rewritten so seldom that
    writing takes a tenth of the time at most.
    """

    def __init__(
        self,
        run_dir: Path,
        clock: Clock,
        *,
        extra: Mapping[str, Path] | None = None,
        root: Path | None = None,
        mask: Masker | None = None,
    ) -> None:
        self._clock = clock
        self._files = ReportFiles(run_dir, extra=extra, root=root, mask=mask)
        self._not_before_s = float("-inf")

    def pause_s(self) -> float:
        """Seconds from now until it is worth writing again; 0: it is."""
        return max(0.0, self._not_before_s - self._clock.monotonic())

    def write(self, batch: BatchResult) -> None:
        """Write the reports. Raises: LogWriteError."""
        started_s = self._clock.monotonic()
        self._files.write(batch)
        ended_s = self._clock.monotonic()
        self._not_before_s = ended_s + max(PAUSE_S, (ended_s - started_s) * (1 / SHARE - 1))


class ReportFiles:
    """A run's reports and where they go; what they say of a task is kept while it does not change."""

    def __init__(
        self,
        run_dir: Path,
        *,
        extra: Mapping[str, Path] | None = None,
        root: Path | None = None,
        mask: Masker | None = None,
    ) -> None:
        self._run_dir = run_dir
        self._root = root or Path.cwd()
        self._targets = [(report, run_dir / file) for file, report in RUN_DIR_FILES.items()]
        self._targets += list((extra or {}).items())
        self._masked = BatchMask(mask)
        self._reports: dict[str, Report] = {}

    def write(self, batch: BatchResult) -> None:
        """Write every report whole. Raises: LogWriteError."""
        shown = self._masked(batch)
        texts: dict[str, str] = {}
        for name, path in self._targets:
            if batch.status == "running" and _is_stream(path):
                continue  # what went down a pipe cannot be written anew
            if name not in texts:
                texts[name] = self._report(name).render(shown)
            write_report(path, encoded(name, texts[name], path), is_synced=batch.status != "running")

    def _report(self, name: str) -> Report:
        if name not in self._reports:
            self._reports[name] = make_report(name, self._run_dir, self._root)
        return self._reports[name]


def write_run_reports(
    run_dir: Path,
    batch: BatchResult,
    extra: Mapping[str, Path] | None = None,
    root: Path | None = None,
    mask: Masker | None = None,
) -> None:
    """Write run.json and junit.xml into `run_dir`, and each report of `extra` (name -> file) as well.

    Secret values that `mask` knows stand in none of them.
    Spec files under `root` (the current directory when left out) are named relative to it in junit.xml.
    Directories of extra files are made. Raises: LogWriteError.
    """
    ReportFiles(run_dir, extra=extra, root=root, mask=mask).write(batch)


def make_report(name: str, run_dir: Path, root: Path) -> Report:
    """A report of the table, with the run directory's logs at hand where it shows them."""
    made: Report
    match name:
        case "junit" | "xunit":
            made = load(name)(log_reader(run_dir), root)
        case "markdown" | "comment" | "html":
            made = load(name)(log_reader(run_dir))
        case "digest" | "digest-json":
            made = load(name)(lambda: read_published(run_dir))
        case _:
            made = load(name)()
    return made


def encoded(name: str, document: str, path: Path) -> bytes:
    """A report's bytes for where it goes: in a log that a CI runner may read, no command is found in it."""
    if _is_stream(path):
        match name:
            case "json" | "sarif":
                document = json_safe(document)
            case "junit" | "xunit":
                document = xml_safe(document)
            case "markdown" | "comment":
                document = workflow_safe(document)
    return document.encode("utf-8")


def write_report(path: Path, content: bytes, *, is_synced: bool = True) -> None:
    """Write one report file whole or not at all; a device or a pipe (/dev/stdout) is written into.

    A link is followed, so that it stays a link. Raises: LogWriteError.
    """
    try:
        if _is_stream(path):
            with path.open("ab") as stream:
                stream.write(content)
            return
        target = path.resolve()
        target.parent.mkdir(parents=True, exist_ok=True)
    except (OSError, RuntimeError) as error:  # RuntimeError: a loop of links before Python 3.13
        reason = getattr(error, "strerror", None) or error
        raise LogWriteError(f"{path}: cannot be written: {reason}") from error
    if target.is_symlink():
        raise LogWriteError(f"{path}: cannot be written: {os.strerror(errno.ELOOP)}")
    write_atomic(target, content, is_synced=is_synced)


def _is_stream(path: Path) -> bool:
    """True for what is written into and never replaced, also where it leads to a file just now."""
    is_standard = path.is_relative_to("/dev/fd") or str(path) in {"/dev/stdout", "/dev/stderr"}
    return is_standard or (path.exists() and not path.is_file() and not path.is_dir())
