"""What one attempt is judged on: its changes, what of them is put back, and what was tampered with."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct
from msgspec.structs import replace

from pi_batch.engine.bench import JudgeParts
from pi_batch.harness import Protection, effective_protect, protection
from pi_batch.protocols import Changes
from pi_batch.runners import is_test_file, may_run_tests
from pi_batch.spec import TaskSpec

MAX_NAMED = 3


class Case(Struct, frozen=True):
    """One attempt, ready to be judged."""

    attempt: int
    answer: str | None
    changes: Changes
    """With every path that is put back among `protected_touched`."""
    globs: tuple[str, ...]
    """What a clean copy has as at the start."""
    is_clean: bool
    """True when it is judged in a clean copy; False: in the workspace as it is."""
    tampered: tuple[str, ...]
    """What decides how checks run and cannot be put back, one phrase each."""

    @property
    def restored(self) -> tuple[str, ...]:
        """Changed paths that the checks see as they were at the start."""
        return self.changes.protected_touched if self.is_clean else ()


async def open_case(
    parts: JudgeParts, attempt: int, answer: str | None, machine_changes: Sequence[str]
) -> Case:
    """Take the workspace's changes and sort them. Raises: WorkspaceError."""
    spec, workspace = parts.spec, parts.workspace

    async def exists(path: str) -> bool:
        return await parts.sandbox.stat(f"{workspace.path}/{path}") is not None

    changes = await workspace.changes(effective_protect(spec))
    protected = await protection(spec, changes.files, exists)
    touched = tuple(sorted({*changes.protected_touched, *protected.touched(changes.files)}))
    is_clean = (spec.verify_in or ("workspace" if workspace.isolation == "none" else "clean")) == "clean"
    tampered = [*machine_changes]
    tampered += [f"{path} was changed, beside the workspace" for path in _beside(protected, changes)]
    if not is_clean:
        tampered += [f"{path} was changed, and verify_in: workspace cannot put it back" for path in touched]
    return Case(
        attempt,
        answer,
        replace(changes, protected_touched=touched),
        protected.globs,
        is_clean,
        tuple(tampered),
    )


def unprotected_tests(spec: TaskSpec, case: Case) -> str | None:
    """A warning where the start's test files were changed and counted as changed: nobody forbade it."""
    if not any(may_run_tests(check.run) for check in spec.verify):
        return None
    changed = [
        file.path
        for file in case.changes.files
        if file.status == "modified" and is_test_file(file.path) and file.path not in case.restored
    ]
    if not changed:
        return None
    more = f" and {len(changed) - MAX_NAMED} more" if len(changed) > MAX_NAMED else ""
    return f"passed with tests changed that `protect` does not cover: {', '.join(changed[:MAX_NAMED])}{more}"


def _beside(protected: Protection, changes: Changes) -> tuple[str, ...]:
    """Harness files of the repository that lie outside the workspace: no clean copy restores them."""
    outside = [file for file in changes.files if file.path.startswith("../")]
    inside = [replace(file, path=file.path.replace("../", ""), old_path=None) for file in outside]
    harness = replace(protected, spec=())
    return tuple(file.path for file, moved in zip(outside, inside, strict=True) if harness.touched([moved]))
