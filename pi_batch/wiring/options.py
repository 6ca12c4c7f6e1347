"""What the command line asked for, before any default."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from msgspec import Struct, field

from pi_batch.engine.legs import Rerun


class RunOptions(Struct, frozen=True):
    """The flags of `run` and `exec`; None and empty mean: not given."""

    models: tuple[str, ...] = ()
    inputs: Mapping[str, str] = field(default_factory=dict)
    filters: tuple[str, ...] = ()
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
    cache: bool = False
    """Answer requests that were made before out of kept replies."""
    cache_repeats: bool = False
    """The same for repeats."""
    jobs: int | None = None
    shard: str | None = None
    """I/N: only this part of the plan."""
    manifest: Path | None = None
    """Says which tasks each shard has; None: the plan itself does."""
    executor: str | None = None
    """Who carries trials out; None: local."""
    scheduler: str | None = None
    """Where the executor's cluster is."""
    state: str | None = None
    """Where what was tried is remembered between nights."""
    tries_again: bool = False
    """Also what earlier nights speak against."""
    output: Path | None = None
    junit: Path | None = None
    json_file: Path | None = None
    markdown: Path | None = None
    secrets: tuple[str, ...] = ()
    events: bool = False
    quiet: bool = False
    rerun: tuple[Rerun, ...] = ()
    is_reverify: bool = False
    is_forced: bool = False
    """Go on although specs or declarations have changed."""
    is_continued: bool = False
    """A new prompt in the session of an earlier `exec`."""
    fork: str | None = None
    """SESSION[:ENTRY] to branch from."""
