"""plan.json: what a run was asked for and what that came to, so that it can be resumed, and only as it was.

Nothing secret stands in it: known secret values are masked, and the environment's keys are not kept.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from msgspec import Struct
from msgspec.structs import replace

from pi_batch.errors import UsageError
from pi_batch.files import write_atomic
from pi_batch.jsonl import decode_line
from pi_batch.manifest import task_digest
from pi_batch.redact import Masker
from pi_batch.spec import Plan, PlannedTask
from pi_batch.spec import to_json as spec_json
from pi_batch.struct_json import from_json, to_json
from pi_batch.wiring.options import RunOptions
from pi_batch.wiring.scripting import has_scripts
from pi_batch.wiring.tools import Unavailable, tools_of

FILE = "plan.json"
VERSION = 1
PLAN_VARIABLES = tuple(
    f"PI_BATCH_{name}"
    for name in (
        *(
            "MODEL",
            "THINKING",
            "SANDBOX",
            "SANDBOX_IMAGE",
            "SANDBOX_REQUIRED",
            "CODEMODE",
            "TRUST",
            "JOBS",
            "STATE",
            "REPEAT",
        ),
        *("MAX_TURNS", "MAX_TOKENS", "MAX_COST_USD", "MAX_WALL_S"),
    )
)
"""Variables that a plan depends on."""
PLAN_OPTIONS = (
    *("models", "inputs", "filters", "repeat", "max_turns", "max_tokens", "max_cost_usd", "max_wall_s"),
    *("state", "tries_again"),
    *("sandbox", "sandbox_image", "sandbox_required", "trust", "codemode", "thinking", "jobs", "shard"),
    *("cache", "cache_repeats"),
)
CHECK_KEYS = frozenset({"verify", "verify_in", "protect", "output"})
"""Parts of a spec that only judge: work that was done under others can be judged by them."""
MAX_SHOWN = 10
MAX_VALUE_CHARS = 60


class Origin(Struct, frozen=True):
    """The command line that a plan was made from."""

    command: Literal["run", "exec"]
    words: tuple[str, ...]
    """SPEC words, or the prompt."""


class StoredTask(Struct, frozen=True):
    """One planned task, as it was loaded."""

    key: str
    model: str
    spec_sha256: str
    spec: Mapping[str, Any]
    declarations: Mapping[str, str]
    """Tool -> SHA-256 of what the model is told of it."""
    digest: str = ""
    """As in the manifest: of all that the trial is asked."""


class StoredPlan(Struct, frozen=True):
    """Everything that is kept of a plan."""

    run_id: str
    cwd: str
    origin: Origin
    options: Mapping[str, Any]
    environ: Mapping[str, str]
    secrets: tuple[str, ...]
    """Names of variables, never values."""
    state_dir: str
    """Where workspaces are."""
    budget: Mapping[str, Any]
    tasks: tuple[StoredTask, ...]
    is_masked: bool = False
    """True when an option holds a secret value: the command line has to be given again."""
    version: int = VERSION

    def with_plan_options(self, options: RunOptions) -> RunOptions:
        """Other options, with those that the plan was made with."""
        given = {name: value for name, value in self.options.items() if name in PLAN_OPTIONS}
        lists = {name: tuple(value) for name, value in given.items() if isinstance(value, list)}
        return replace(options, **{**given, **lists})


class Difference(Struct, frozen=True):
    """One thing that is not as it was."""

    key: str
    """Of the task; empty for the run as a whole."""
    path: str
    text: str

    @property
    def is_of_checks(self) -> bool:
        """True for what only judges."""
        return self.path.split(".")[0].split("[")[0] in CHECK_KEYS

    def __str__(self) -> str:
        """`fix: budget.turns: was 50, now 60`."""
        return ": ".join(part for part in (self.key, self.path, self.text) if part)


@dataclass(frozen=True, slots=True)
class Storing:
    """What is stored beside a plan."""

    run_id: str
    cwd: Path
    origin: Origin
    options: RunOptions
    environ: Mapping[str, str] = field(repr=False)
    mask: Masker

    def of(self, plan: Plan, state_dir: Path) -> StoredPlan:
        """The plan as it is kept."""
        options = {name: getattr(self.options, name) for name in PLAN_OPTIONS}
        plain = {"options": to_json(options), "words": list(self.origin.words)}
        masked = self.mask.mask_json(plain)
        digests: dict[tuple[str, ...], Mapping[str, str]] = {}
        return StoredPlan(
            run_id=self.run_id,
            cwd=str(self.cwd),
            origin=Origin(self.origin.command, tuple(masked["words"])),
            options=masked["options"],
            environ={name: self.environ[name] for name in PLAN_VARIABLES if name in self.environ},
            secrets=self.options.secrets,
            state_dir=str(state_dir),
            budget=spec_json(plan.budget),
            tasks=tuple(self._task(task, digests) for task in plan.tasks),
            is_masked=masked != plain,
        )

    def _task(self, task: PlannedTask, digests: dict[tuple[str, ...], Mapping[str, str]]) -> StoredTask:
        names = (*task.spec.tools, str(task.spec.codemode))
        if names not in digests:
            made = tools_of(task.spec, Unavailable() if has_scripts(task.spec) else None)
            digests[names] = {one.name: _digest(to_json(one)) for one in made.declarations}
        spec = spec_json(task.spec)
        key, digest = task.planned.key, task.planned.spec_sha256
        asked = task_digest([key, task.model, digest, spec, dict(digests[names])])
        return StoredTask(key, task.model, digest, self.mask.mask_json(spec), digests[names], asked)


def write_plan(run_dir: Path, stored: StoredPlan) -> None:
    """Write plan.json. Raises: LogWriteError."""
    text = json.dumps(to_json(stored), indent=1, ensure_ascii=False) + "\n"
    write_atomic(run_dir / FILE, text.encode("utf-8", "replace"))


def read_plan(run_dir: Path) -> StoredPlan | None:
    """Read plan.json; None where there is none. Raises: UsageError for one that cannot be read."""
    path = run_dir / FILE
    try:
        content = path.read_bytes()
    except FileNotFoundError:
        return None
    except OSError as error:
        raise UsageError(f"{path}: cannot be read: {error.strerror or error}") from error
    value = decode_line(content)
    if value is None or value.get("version") != VERSION:
        raise UsageError(f"{path}: is not whole, or was written by another version of pi-batch")
    try:
        stored: StoredPlan = from_json(StoredPlan, value, FILE)
    except ValueError as error:
        raise UsageError(f"{path}: cannot be read: {error}") from error
    return stored


def differences(before: StoredPlan, now: StoredPlan) -> tuple[Difference, ...]:
    """What a plan says otherwise than the stored one: task by task, key by key."""
    found = list(_changed("", dict(before.budget), dict(now.budget), "suite budget"))
    old, new = ({task.key: task for task in plan.tasks} for plan in (before, now))
    found += [Difference(key, "", "is not in the plan any more") for key in old.keys() - new.keys()]
    found += [Difference(key, "", "is new in the plan") for key in new.keys() - old.keys()]
    for key in old.keys() & new.keys():
        found += _changed(key, _told(old[key]), _told(new[key]))
    return tuple(sorted(found, key=lambda one: (one.key, one.path)))


def listed(found: tuple[Difference, ...]) -> str:
    """The first of them, one a line."""
    more = f"\n  and {len(found) - MAX_SHOWN} more" if len(found) > MAX_SHOWN else ""
    return "".join(f"\n  {one}" for one in found[:MAX_SHOWN]) + more


def _told(task: StoredTask) -> dict[str, Any]:
    return {**task.spec, "model": task.model, "declaration of tool": dict(task.declarations)}


def _changed(key: str, before: Any, now: Any, path: str = "") -> Iterator[Difference]:
    if before == now:
        return
    if isinstance(before, Mapping) and isinstance(now, Mapping):
        for name in {**before, **now}:
            inner = f"{path}.{name}" if path else name
            yield from _changed(key, before.get(name), now.get(name), inner)
    elif isinstance(before, list) and isinstance(now, list) and len(before) == len(now):
        for index, pair in enumerate(zip(before, now, strict=True)):
            yield from _changed(key, *pair, f"{path}[{index}]")
    elif path.startswith("declaration of tool."):
        how = "is new" if before is None else "is gone" if now is None else "changed"
        yield Difference(key, path, how)
    else:
        yield Difference(key, path, f"was {_short(before)}, now {_short(now)}")


def _short(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= MAX_VALUE_CHARS else f"{text[: MAX_VALUE_CHARS - 1]}…"


def _digest(value: Any) -> str:
    return hashlib.sha256(json.dumps(value, sort_keys=True, default=str).encode()).hexdigest()
