"""published.json: what became of a run's patches, in its directory; `apply` writes it, digests read it."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Final, Literal

from msgspec import Struct

from pi_batch.files import write_atomic
from pi_batch.jsonl import decode_line
from pi_batch.struct_json import from_json, to_json

FILE: Final = "published.json"
VERSION: Final = 1


class Publication(Struct, frozen=True):
    """What `apply` did with one patch the last time."""

    key: str
    state: Literal["applied", "unchanged", "refused", "error"]
    """`unchanged`: it was there already."""
    text: str
    """One line."""
    branch: str = ""
    url: str = ""
    """Of the pull request."""
    commit: str = ""


class Published(Struct, frozen=True):
    """The file."""

    tasks: tuple[Publication, ...] = ()
    version: int = VERSION


def read_published(run_dir: Path) -> Mapping[str, Publication]:
    """By key; empty where nothing was published or the file cannot be read."""
    try:
        value = decode_line((run_dir / FILE).read_bytes())
        published: Published = from_json(Published, value or {}, FILE)
    except (OSError, ValueError):
        return {}
    return {one.key: one for one in published.tasks} if published.version == VERSION else {}


def add_published(run_dir: Path, publications: Iterable[Publication]) -> None:
    """Note what was done, over what was noted before of the same tasks. Raises: LogWriteError."""
    known = {**read_published(run_dir), **{one.key: one for one in publications}}
    text = json.dumps(to_json(Published(tuple(known.values()))), ensure_ascii=False, indent=1)
    write_atomic(run_dir / FILE, f"{text}\n".encode("utf-8", "replace"))
