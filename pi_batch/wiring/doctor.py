"""`pi-batch doctor`: what a run will find on this machine."""

from __future__ import annotations

import platform
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from pi_batch import __version__
from pi_batch.load.config import load_config
from pi_batch.wiring.finding import Finding
from pi_batch.wiring.sandbox_findings import sandbox_findings
from pi_batch.wiring.script_findings import script_findings
from pi_batch.wiring.surroundings import Surroundings


def findings(*, tries_sandboxes: bool = True) -> tuple[Finding, ...]:
    """Everything that is looked at, in order. Raises: UsageError for a broken config file."""
    around = Surroundings.of_process()
    return (
        Finding("ok", "pi-batch", __version__),
        Finding("ok", "python", f"{platform.python_version()} at {sys.executable}"),
        _program("git", "clone and patches need it", is_needed=True),
        _program("bash", "the bash tool and every check need it", is_needed=True),
        _program("rg", "grep uses its own search without it", is_needed=False),
        _temp(),
        _run_dir(around.cwd),
        *(sandbox_findings(around) if tries_sandboxes else ()),
        *script_findings(),
        *_models(around),
    )


def _program(name: str, why: str, *, is_needed: bool) -> Finding:
    path = shutil.which(name)
    if path is None:
        return Finding("missing" if is_needed else "note", name, f"not on PATH: {why}")
    try:
        done = subprocess.run([path, "--version"], capture_output=True, timeout=10, check=False)
    except (OSError, subprocess.TimeoutExpired) as error:
        return Finding("missing" if is_needed else "note", name, f"{path} does not answer: {error}")
    first = done.stdout.decode("utf-8", "replace").partition("\n")[0]
    return Finding("ok", name, f"{first} at {path}")


def _temp() -> Finding:
    try:
        with tempfile.TemporaryDirectory(prefix="pi-batch-") as path:
            free_mib = shutil.disk_usage(path).free // (1024 * 1024)
    except OSError as error:
        return Finding("missing", "temporary directory", f"{error.strerror or error}: copies need one")
    return Finding("ok" if free_mib > 500 else "note", "temporary directory", f"{free_mib} MiB free")


def _run_dir(cwd: Path) -> Finding:
    try:
        with tempfile.TemporaryFile(dir=cwd):
            return Finding("ok", "run directory", f"{cwd / '.pi-batch' / 'runs'}")
    except OSError as error:
        return Finding("note", "run directory", f"{cwd}: {error.strerror or error}: use --output")


def _models(around: Surroundings) -> Iterator[Finding]:
    config = load_config(around.cwd)
    model = around.environ.get("PI_BATCH_MODEL") or config.model
    if model:
        yield Finding("ok", "model", f"{model} where a spec names none")
    else:
        yield Finding("note", "model", "no default: name one with -m, in the spec, or in PI_BATCH_MODEL")
