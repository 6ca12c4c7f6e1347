"""A run as a step of a GitHub Actions job: outputs, summary, annotations, folded details.

All of it is for people and later steps. What cannot be written is said on standard error and changes no
verdict.
"""

from __future__ import annotations

import secrets
from collections.abc import Mapping
from pathlib import Path

from pi_batch.encoders import output_entry, workflow_command
from pi_batch.errors import PiBatchError
from pi_batch.reports.actions import ActionsReport, step_outputs
from pi_batch.reports.logs import log_reader
from pi_batch.reports.markdown import STEP_SUMMARY_BYTES, Markdown
from pi_batch.results import BatchResult
from pi_batch.standard_streams import say, tell
from pi_batch.wiring.surroundings import Surroundings

SUMMARY_LIMIT_BYTES = 1024 * 1024
"""GitHub drops a step's summary above this whole."""
SUMMARY_MARGIN_BYTES = 1024
SUMMARY_MIN_BYTES = 2048
"""Below this, no page makes sense."""


def report_to_runner(
    batch: BatchResult, run_dir: Path, around: Surroundings, *, is_stdout_free: bool
) -> None:
    """Tell GitHub's runner what became of a run; nothing outside of a job of GitHub Actions.

    `is_stdout_free` is False where standard output holds something that is read as a whole: commands then
    go to standard error, where the runner obeys them too. Raises: LogWriteError from standard output.
    """
    if not around.is_github_actions:
        return
    report = ActionsReport(log_reader(run_dir), Finder(around))
    text = report.groups(batch, secrets.token_hex(16)) + report.annotations(batch)
    if text and is_stdout_free:
        say(text)
    elif text:
        tell(text.removesuffix("\n"))
    _append(around, "GITHUB_OUTPUT", _outputs(batch, run_dir))
    summary = around.environ.get("GITHUB_STEP_SUMMARY")
    if summary:
        _append(around, "GITHUB_STEP_SUMMARY", _summary(batch, run_dir, Path(summary)))


def report_failure(error: PiBatchError, around: Surroundings) -> None:
    """Tell the runner of a run that never began; nothing outside of a job of GitHub Actions."""
    if not around.is_github_actions:
        return
    tell(workflow_command("error", str(error).split("\n")[0], {"title": "pi-batch"}))
    values = {"outcome": "error", "exit-code": str(error.exit_code)}
    _append(around, "GITHUB_OUTPUT", "".join(_entry(*pair) for pair in values.items()).encode())


class Finder:
    """Names files as GitHub does: relative to the repository's root."""

    def __init__(self, around: Surroundings) -> None:
        self._cwd = around.cwd
        root = Path(around.environ.get("GITHUB_WORKSPACE", around.cwd))
        self._root = root if around.cwd.is_relative_to(root) else around.cwd

    def __call__(self, path: str) -> str | None:
        """The same file relative to the root; None where there is no such file below it."""
        for base in (self._cwd, self._root):
            candidate = base / path
            try:
                if candidate.is_file() and candidate.resolve().is_relative_to(self._root.resolve()):
                    return str(candidate.resolve().relative_to(self._root.resolve()))
            except (OSError, ValueError):
                continue
        return None


def _outputs(batch: BatchResult, run_dir: Path) -> bytes:
    patches = [result.patch for result in batch.results if result.patch]
    paths: Mapping[str, str] = {
        "report": str(run_dir.resolve() / "run.json"),
        "junit": str(run_dir.resolve() / "junit.xml"),
        "patch": str(run_dir.resolve() / patches[0]) if len(patches) == 1 and patches[0] else "",
    }
    return "".join(_entry(name, value) for name, value in step_outputs(batch, paths).items()).encode(
        "utf-8", "replace"
    )


def _entry(name: str, value: str) -> str:
    while True:
        word = f"end-{secrets.token_hex(16)}"
        if word not in value:
            return output_entry(name, value, word)


def _summary(batch: BatchResult, run_dir: Path, file: Path) -> bytes:
    """The page in Markdown, as long as what the step has written before lets it be."""
    try:
        written = file.stat().st_size
    except OSError:
        written = 0
    room = min(STEP_SUMMARY_BYTES, SUMMARY_LIMIT_BYTES - SUMMARY_MARGIN_BYTES - written)
    if room < SUMMARY_MIN_BYTES:
        tell("pi-batch: warning: this step's summary is full: the run's page was left out (see run.json)")
        return b""
    return Markdown(log_reader(run_dir), max_bytes=room).render(batch).encode("utf-8", "replace")


def _append(around: Surroundings, variable: str, content: bytes) -> None:
    path = around.environ.get(variable)
    if not path or not content:
        return
    try:
        with Path(path).open("ab") as file:
            file.write(content)
    except OSError as error:
        tell(f"pi-batch: warning: {variable}: {path}: cannot be written: {error.strerror or error}")
