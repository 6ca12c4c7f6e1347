"""The digest of a night: what changed and where that is, what failed, what was skipped and why, the cost.

For whoever reads one page in the morning about many repositories; as Markdown, bounded in bytes, and as JSON.
Foreign text stands in code spans only. What became of patches comes from `published.json`, where `apply` was
called since.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Final, Literal

from msgspec import Struct

from pi_batch.encoders import keep_head, markdown_code, utf8_bytes
from pi_batch.jsonl import encode_line
from pi_batch.published import Publication
from pi_batch.reports.rows import Row, rows
from pi_batch.result_words import counts, dollars, seconds, turns
from pi_batch.results import BatchResult, SkippedBy
from pi_batch.struct_json import to_json

DIGEST_VERSION: Final = 1
MAX_BYTES: Final = 60_000
"""GitHub takes 65,536 characters in a comment."""
REASON_CHARS: Final = 300

State = Literal["changed", "unchanged", "failed", "error", "skipped", "left_alone", "not_run"]
"""`changed`: passed and left a patch; `unchanged`: passed without one."""

HEADINGS: Final[Mapping[State, str]] = {
    "changed": "Changed",
    "failed": "Failed",
    "error": "Errors",
    "left_alone": "Left alone, as it failed too often",
    "not_run": "Not run",
    "unchanged": "Passed without a change",
    "skipped": "Skipped",
}
"""In the order of the page: what asks for somebody comes first."""

_LINK = re.compile(r"https://[A-Za-z0-9.-]+(?::\d+)?(?:/[A-Za-z0-9._~%/-]*)?")


class Entry(Struct, frozen=True):
    """One task."""

    key: str
    name: str
    """Unique in its suite, as reports show it."""
    state: State
    repo: str
    """Address; empty: the workspace's own."""
    reason: str
    verified: bool
    skipped_by: SkippedBy | None
    num_turns: int
    cost_usd: float | None
    files: int
    added: int
    """Lines, of files that are text."""
    deleted: int
    patch: str | None
    published: Publication | None
    """None where `apply` was not called for it."""


class OfRepository(Struct, frozen=True):
    """All tasks of one repository."""

    repo: str
    tasks: int
    changed: int
    failed: int
    """Errors included."""
    cost_usd: float | None


class Digest(Struct, frozen=True):
    """A run in the words of a morning."""

    digest_version: int
    run_id: str
    started_at: str
    duration_s: float
    status: str
    exit_code: int
    num_turns: int
    cost_usd: float | None
    counts: Mapping[str, int]
    """State -> how many tasks."""
    repositories: tuple[OfRepository, ...]
    tasks: tuple[Entry, ...]
    warnings: tuple[str, ...]


def digest_of(batch: BatchResult, published: Mapping[str, Publication]) -> Digest:
    """The digest of a run, tasks in the plan's order."""
    repos = {planned.key: planned.repo for planned in batch.planned}
    entries = tuple(_entry(row, repos.get(row.key, ""), published.get(row.key)) for row in rows(batch))
    return Digest(
        DIGEST_VERSION,
        batch.run_id,
        batch.started_at,
        seconds(batch.duration_s),
        batch.status,
        batch.exit_code,
        batch.totals.num_turns,
        batch.totals.total_cost_usd,
        {state: sum(entry.state == state for entry in entries) for state in HEADINGS},
        tuple(_of_repository(repo, entries) for repo in dict.fromkeys(entry.repo for entry in entries)),
        entries,
        batch.warnings,
    )


def _entry(row: Row, planned_repo: str, published: Publication | None) -> Entry:
    result = row.result
    files = result.changed_files if result is not None else ()
    return Entry(
        row.key,
        row.name,
        _state(row),
        result.repo if result is not None else planned_repo,
        row.reason,
        result.verified if result is not None else False,
        result.skipped_by if result is not None else None,
        result.num_turns if result is not None else 0,
        result.total_cost_usd if result is not None else 0.0,
        len(files),
        sum(file.added or 0 for file in files),
        sum(file.deleted or 0 for file in files),
        result.patch if result is not None else None,
        published,
    )


def _state(row: Row) -> State:
    if row.result is None:
        return "not_run"
    match row.outcome:
        case "passed":
            return "changed" if row.result.patch else "unchanged"
        case "skipped":
            is_starved = row.result.skipped_by == "budget"
            left_alone = row.result.skipped_by == "left_alone"
            return "not_run" if is_starved else "left_alone" if left_alone else "skipped"
        case "missing":
            return "not_run"
        case outcome:
            return outcome


def _of_repository(repo: str, entries: Sequence[Entry]) -> OfRepository:
    own = [entry for entry in entries if entry.repo == repo]
    costs = [entry.cost_usd for entry in own]
    known = [cost for cost in costs if cost is not None]
    return OfRepository(
        repo,
        len(own),
        sum(entry.state == "changed" for entry in own),
        sum(entry.state in ("failed", "error") for entry in own),
        sum(known) if len(known) == len(costs) else None,
    )


class DigestJson:
    """The digest for programs."""

    name = "digest-json"

    def __init__(self, read_published: Callable[[], Mapping[str, Publication]] = dict) -> None:
        self._read_published = read_published

    def render(self, batch: BatchResult) -> str:
        """The whole document; what JSON cannot hold is replaced."""
        line = encode_line(to_json(digest_of(batch, self._read_published())))
        return json.dumps(json.loads(line), ensure_ascii=False, indent=1) + "\n"


class DigestMarkdown:
    """The digest for people."""

    name = "digest"

    def __init__(
        self,
        read_published: Callable[[], Mapping[str, Publication]] = dict,
        max_bytes: int = MAX_BYTES,
    ) -> None:
        self._read_published = read_published
        self._max_bytes = max_bytes

    def render(self, batch: BatchResult) -> str:
        """The whole page, never more than `max_bytes` in UTF-8; what was left out is counted."""
        digest = digest_of(batch, self._read_published())
        top = _top(batch, digest)
        for most, reason_chars in ((1000, REASON_CHARS), (300, 120), (100, 60), (30, 60), (10, 40)):
            page = top + _sections(digest, most, reason_chars)
            if utf8_bytes(page) <= self._max_bytes:
                return page.rstrip() + "\n"
        return keep_head(top, self._max_bytes - 1).rstrip() + "\n"


def _top(batch: BatchResult, digest: Digest) -> str:
    parts = (
        turns(digest.num_turns),
        dollars(digest.cost_usd),
        f"{digest.duration_s:.1f} s",
        f"run {_code(digest.run_id, 100)}",
        _code(digest.started_at[:16].replace("T", " "), 20),
        *([] if digest.status == "complete" else [f"**{digest.status}**"]),
    )
    text = f"# pi-batch: {counts(batch.totals)}\n\n{' · '.join(part for part in parts if part)}\n"
    shown = [f"- {_code(warning, 200)}\n" for warning in digest.warnings[:5]]
    more = len(digest.warnings) - len(shown)
    shown += [f"- and {more} more warnings\n"] if more > 0 else []
    return text + (f"\nWarnings:\n\n{''.join(shown)}" if shown else "")


def _sections(digest: Digest, most: int, reason_chars: int) -> str:
    """One list a state, each of at most `most` lines, then the repositories where there are several."""
    text = ""
    for state, heading in HEADINGS.items():
        entries = [entry for entry in digest.tasks if entry.state == state]
        if entries:
            text += f"\n## {heading} ({len(entries)})\n\n"
            text += "".join(_line(entry, reason_chars) for entry in entries[:most])
            text += f"- and {len(entries) - most} more\n" if len(entries) > most else ""
    return text + _repositories(digest.repositories, most)


def _line(entry: Entry, reason_chars: int) -> str:
    name = f"- **{_code(entry.name, 100)}**"
    where = f" in {_code(entry.repo, 150)}" if entry.repo else ""
    cost = f" · {dollars(entry.cost_usd)}" if entry.num_turns else ""
    if entry.state == "changed":
        files = f"{entry.files:,} {'file' if entry.files == 1 else 'files'}"
        checked = "" if entry.verified else " · unverified"
        return f"{name}{where}: {files}, +{entry.added:,} −{entry.deleted:,}{checked}{cost}{_place(entry)}\n"
    return f"{name}{where}: {_code(entry.reason, reason_chars)}{cost}\n"


def _place(entry: Entry) -> str:
    """Where the change is to be seen."""
    published = entry.published
    if published is None:
        return f" · patch {_code(entry.patch or '', 200)}, not applied"
    if published.state in ("refused", "error"):
        return f" · **not published**: {_code(published.text, REASON_CHARS)}"
    kept = ", as it was" if published.state == "unchanged" else ""
    if _LINK.fullmatch(published.url):
        return f" · <{published.url}>{kept}"
    return f" · {_code(published.url or published.branch or published.text, 200)}{kept}"


def _repositories(found: Sequence[OfRepository], most: int) -> str:
    if len(found) < 2:
        return ""
    text = "\n## Repositories\n\n| repository | tasks | changed | failed | cost |\n"
    text += "| --- | ---: | ---: | ---: | ---: |\n"
    for one in found[:most]:
        name = markdown_code(one.repo, 150) or "(this one)"
        text += f"| {name} | {one.tasks} | {one.changed} | {one.failed} | {dollars(one.cost_usd)} |\n"
    return text + (f"\nAnd {len(found) - most} more.\n" if len(found) > most else "")


def _code(text: str, max_chars: int) -> str:
    return markdown_code(text, max_chars, in_table=False)
