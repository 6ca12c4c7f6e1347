"""`pi-batch hook`: a task spec as a pre-commit check of what is staged.

The same content is judged once: the key of a result is everything that it was made from. So a second look
at an unchanged commit makes no request, and loads next to nothing.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
import secrets
import tempfile
import time
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from msgspec import Struct, field, structs
from msgspec.structs import replace

from pi_batch import __version__
from pi_batch.encoders import plain_line, workflow_safe
from pi_batch.errors import LogWriteError, PiBatchError, SpecError, UsageError
from pi_batch.files import write_atomic
from pi_batch.findings import Finding, findings_of
from pi_batch.git import Git, find_git
from pi_batch.standard_streams import say, tell
from pi_batch.wiring.surroundings import Surroundings, utf8_streams
from pi_batch.workspaces.removal import remove_tree
from pi_batch.workspaces.staged import Staged, index_variables, read_staged

if TYPE_CHECKING:  # 150 ms of CPU; only where a request is made
    from pi_batch.results import RunResult
    from pi_batch.spec import Plan

DIFF_MAX_BYTES = 400_000
CACHE_ENTRIES_MAX = 2000
RUNS_MAX = 20
CONFIG_FILES = (".pi-batch.toml", "pyproject.toml")
STAGED_DIFF = Path(".pi-batch-staged.diff")
BLOCKING = "error"
"""The severity of a finding that stops a commit."""


class NotJudged(PiBatchError):
    """The task ended in an error: nothing is known of what is staged."""


class HookOptions(Struct, frozen=True):
    """The flags of `hook`."""

    spec: str = "review-staged"
    models: tuple[str, ...] = ()
    inputs: dict[str, str] = field(default_factory=dict)
    on_error: Literal["fail", "pass"] = "fail"
    fail_on: Literal["error", "warning", "never"] = "error"
    max_diff_bytes: int = DIFF_MAX_BYTES
    max_cost_usd: float | None = None
    is_cached: bool = True


class Judged(Struct, frozen=True):
    """What a check came to."""

    is_ok: bool
    summary: str
    findings: tuple[Finding, ...] = ()


def hook(options: HookOptions) -> int:
    """Check what is staged: 0 fine, 1 not, 3 could not be judged. Raises: PiBatchError from wrong calls."""
    utf8_streams()
    around = Surroundings.of_process()
    try:
        git = Git(find_git(around.environ.get("PATH")))
        staged = asyncio.run(read_staged(git, around.cwd, around.environ))
        if staged.is_empty:
            return 0
        file = _cache(around, staged) / f"{_key(staged, options, around)}.json"
        judged = _read(file) if options.is_cached else None
        if judged is None:
            judged = _judge(staged, options, around)
            _keep(file, judged)
    except PiBatchError as error:
        if options.on_error == "fail" or isinstance(error, SpecError):
            raise
        tell(f"pi-batch: not checked: {plain_line(str(error))} (--on-error pass lets the commit through)")
        return 0
    return _told(judged, options, around)


def _told(judged: Judged, options: HookOptions, around: Surroundings) -> int:
    """Print the findings; the exit code."""
    blocking = {"error": {BLOCKING}, "warning": {BLOCKING, "warning"}, "never": set[str]()}[options.fail_on]
    is_bad = options.fail_on != "never" and not judged.is_ok
    lines = [str(finding) for finding in judged.findings]
    if is_bad or lines:
        lines.append(plain_line(judged.summary, 500))
    text = "".join(f"{line}\n" for line in lines)
    say(workflow_safe(text) if around.is_ci else text)
    return 1 if is_bad or any(finding.severity in blocking for finding in judged.findings) else 0


def _judge(staged: Staged, options: HookOptions, around: Surroundings) -> Judged:
    """Run the task on the staged files in a directory of their own. Raises: PiBatchError."""
    from pi_batch.wiring.carrying_out import run_plan
    from pi_batch.wiring.options import RunOptions
    from pi_batch.wiring.planning import make_plan

    diff = asyncio.run(staged.diff(options.max_diff_bytes))
    if diff.left_out:
        said = f"{diff.left_out:,} of {diff.files:,} changed files do not fit (--max-diff-bytes)"
        tell(f"pi-batch: {said}: the model gets their names, and can read them")
    clean = Surroundings(around.cwd, index_variables(around.environ))
    runs = staged.place.git_dir / "pi-batch" / "runs"
    flags = RunOptions(
        models=options.models, inputs=options.inputs, max_cost_usd=options.max_cost_usd, quiet=True
    )
    plan = make_plan([options.spec], flags, clean)
    with tempfile.TemporaryDirectory(prefix="pi-batch-staged-") as directory:
        asyncio.run(staged.write_to(Path(directory)))
        file = Path(directory) / STAGED_DIFF
        file.write_bytes(diff.text)
        output = replace(flags, output=_run_dir(runs))
        _, batch = run_plan(_in(plan, Path(directory)), output, clean)
    (result,) = batch.results
    if result.outcome == "error":
        raise NotJudged(f"{result.reason} (see {output.output})")
    return _judged(result)


def _run_dir(runs: Path) -> Path:
    """A directory of this run's own; only the newest are kept."""
    with suppress(OSError):
        for old in sorted(path for path in runs.iterdir() if path.is_dir())[: 1 - RUNS_MAX]:
            remove_tree(old)
    return runs / f"{time.strftime('%Y%m%d-%H%M%S', time.gmtime())}-{secrets.token_hex(3)}"


def _in(plan: Plan, directory: Path) -> Plan:
    """The same plan on the staged files. Raises: UsageError when it has more than one task."""
    if len(plan.tasks) != 1:
        raise UsageError(f"a hook runs one task, this spec has {len(plan.tasks)}")
    (task,) = plan.tasks
    workspace = replace(task.spec.workspace, path=str(directory), isolation="none")
    return replace(plan, tasks=(replace(task, spec=replace(task.spec, workspace=workspace)),))


def _judged(result: RunResult) -> Judged:
    """A result as a verdict: that of a review's JSON, else that of the task's own checks."""
    output = result.structured_output
    if result.outcome != "passed" or not isinstance(output, dict):
        return Judged(result.outcome in ("passed", "skipped"), result.answer or result.reason)
    is_ok = output.get("verdict", "approve") == "approve"
    return Judged(is_ok, str(output.get("summary") or result.reason), findings_of(output))


# --- results that are kept ------------------------------------------------------------------------


def _cache(around: Surroundings, staged: Staged) -> Path:
    """XDG_CACHE_HOME, or ~/.cache, or without a home the repository."""
    base = around.environ.get("XDG_CACHE_HOME")
    if base or around.home is None:
        return Path(base or staged.place.git_dir) / "pi-batch" / "hook"
    return around.home / ".cache" / "pi-batch" / "hook"


def _key(staged: Staged, options: HookOptions, around: Surroundings) -> str:
    """A hash of all that a result is made from: trees, spec, configuration, flags, this version."""
    spec = around.cwd / options.spec
    top = staged.place.work_tree or around.cwd
    files = [spec, *(place / name for place in {around.cwd, top} for name in CONFIG_FILES)]
    settings = sorted(item for item in around.environ.items() if item[0].startswith("PI_BATCH_"))
    parts: Sequence[Any] = (
        __version__,
        staged.old,
        staged.new,
        options.spec,
        options.max_diff_bytes,
        options.models,
        sorted(options.inputs.items()),
        settings,
        [_digest(file) for file in sorted(files)],
    )
    return hashlib.sha256(json.dumps(parts).encode()).hexdigest()


def _digest(file: Path) -> str:
    try:
        return hashlib.sha256(file.read_bytes()).hexdigest()
    except OSError:
        return ""


def _read(file: Path) -> Judged | None:
    """A kept result; None where there is none, or none that can be read."""
    try:
        content = json.loads(file.read_bytes())
        findings = tuple(Finding(**finding) for finding in content["findings"])
        return Judged(bool(content["is_ok"]), str(content["summary"]), findings)
    except (OSError, ValueError, TypeError, KeyError):
        return None


def _keep(file: Path, judged: Judged) -> None:
    """Keep a result; a cache that cannot be written costs a request and no commit."""
    content = {
        "is_ok": judged.is_ok,
        "summary": judged.summary,
        "findings": [structs.asdict(finding) for finding in judged.findings],
    }
    with suppress(OSError, LogWriteError):
        file.parent.mkdir(parents=True, exist_ok=True)
        write_atomic(file, json.dumps(content).encode())
        kept = sorted(file.parent.glob("*.json"), key=lambda path: path.stat().st_mtime)
        for old in kept[:-CACHE_ENTRIES_MAX]:
            old.unlink(missing_ok=True)
