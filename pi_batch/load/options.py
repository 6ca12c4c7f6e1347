"""What a command line, an environment and a directory say about a plan."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from msgspec import Struct, field

from pi_batch.load.config import Config


class PlanOptions(Struct, frozen=True):
    """Everything about a plan that stands in no spec file; None and empty = not given."""

    cwd: Path
    """Absolute: SPEC words and `-i FILE` values start here."""
    models: tuple[str, ...] = ()
    """Of -m, in order."""
    inputs: Mapping[str, str] = field(default_factory=dict)
    """Of -i, as typed."""
    filter: tuple[str, ...] = ()
    """Globs over ids, or over tags as `tag:GLOB`: any may match; `repo:GLOB` says in which repositories."""
    repeat: int | None = None
    max_turns: int | None = None
    max_tokens: int | None = None
    max_cost_usd: float | None = None
    max_wall_s: float | None = None
    sandbox: str | None = None
    sandbox_image: str | None = None
    sandbox_required: bool = False
    trust: str | None = None
    codemode: str | None = None
    thinking: str | None = None
    jobs: int | None = None
    environ: Mapping[str, str] = field(default_factory=dict)
    """Only PI_BATCH_* are looked at."""
    config: Config = field(default_factory=Config)
    """Of `load_config`."""
    providers_with_keys: tuple[str, ...] = ()
    """For the message that no model is named anywhere."""
    builtin_dir: Path | None = None
    """Where built-in specs are; None: where this package has them."""
