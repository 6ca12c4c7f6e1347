"""A finished run with a patch, as `pi-batch run` leaves it, and the repository that it is for."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from pi_batch.event_log import encode_record, header_line
from pi_batch.fold import fold
from pi_batch.results import ChangedFile, RunResult
from tests.streams import Stream, planned
from tests.workspaces.repositories import commit, git, git_bytes, write

FILES: dict[str, str | bytes] = {
    "a.txt": "".join(f"line {number}\n" for number in range(1, 21)),
    "src/b.py": "x = 1\n",
    ".github/workflows/ci.yml": "on: push\n",
}


def patch_of(repository: Path, files: Mapping[str, str | bytes | None]) -> bytes:
    """The patch that changing these files makes (None removes one); the repository stays as it is."""
    for name, content in files.items():
        if content is None:
            (repository / name).unlink()
        else:
            write(repository, {name: content})
    git(repository, "add", "-A", "-f")
    patch = git_bytes(repository, "diff", "--cached", "--binary", "--full-index", "HEAD")
    git(repository, "reset", "-q", "--hard", "HEAD")
    git(repository, "clean", "-qfd")
    return patch


def stream_of(
    key: str,
    *,
    passed: bool = True,
    has_checks: bool = True,
    touched: Sequence[str] = (),
    repo: str = "",
    ref: str = "",
) -> Stream:
    """One task's stream, with a patch; `repo` is the repository that it was about."""
    stream = Stream(planned(key, title="Mend it", repo=repo, ref=ref))
    stream.start(key, has_checks=has_checks).agent(key, answer="Mended.\n```\n# not a heading @everyone")
    if has_checks:
        stream.check(key, passed=passed)
    stream.end(
        key,
        patch=f"tasks/{key}/changes.patch",
        changed_files=(ChangedFile("a.txt", "modified", 1, 1),),
        protected_touched=tuple(touched),
    )
    return stream.finish()


def result_of(key: str = "mend", **options: object) -> RunResult:
    """The result of such a task."""
    (result,) = fold(stream_of(key, **options).records).results  # type: ignore[arg-type]
    return result


def write_run(run_dir: Path, patch: bytes, key: str = "mend", **options: object) -> Path:
    """A run directory of one task."""
    records = stream_of(key, **options).records  # type: ignore[arg-type]
    lines = [header_line(), *(encode_record(record, live=False) for record in records)]
    task = run_dir / "tasks" / key
    task.mkdir(parents=True)
    (run_dir / "events.jsonl").write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    (task / "changes.patch").write_bytes(patch)
    return run_dir


def move_on(repository: Path, files: Mapping[str, str | bytes]) -> str:
    """Another commit on the branch; its id."""
    write(repository, files)
    commit(repository, "moved on")
    return git(repository, "rev-parse", "HEAD")
