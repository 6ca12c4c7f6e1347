"""`pi-batch report` and `export`: what a finished run left, read again."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import quote

from msgspec import Struct, field
from msgspec.structs import replace

from pi_batch.errors import PiBatchError, UsageError
from pi_batch.event_log import read_log
from pi_batch.fold import fold
from pi_batch.reports.export import export_text
from pi_batch.reports.html.run_page import Html
from pi_batch.reports.html.session_page import Verdict, session_page
from pi_batch.reports.html.story import story
from pi_batch.reports.logs import log_reader
from pi_batch.reports.masked import masked
from pi_batch.reports.write import encoded, make_report, write_report
from pi_batch.results import BatchResult, RunResult
from pi_batch.session import SessionFile, read_session
from pi_batch.standard_streams import tell
from pi_batch.wiring.run_lock import is_held
from pi_batch.wiring.showing import print_table
from pi_batch.wiring.surroundings import Surroundings, utf8_streams

if TYPE_CHECKING:
    from markupsafe import Markup

MAX_PATCH_BYTES = 256 * 1024
STORY_MAX_CHARS = 1_000_000
"""Of one session's story on its run's page; longer ones have their own page alone."""
STORIES_MAX_CHARS = 1_500_000
"""Of all of them, so that the page opens at once."""
SESSION = re.compile(r"tasks/([^/\0.][^/\0]*)/session\.jsonl")
"""Where a run keeps a task's session; an event log made elsewhere may name anything."""


def report(run_dir: Path, wanted: Mapping[str, Path | None]) -> int:
    """Fold a run's log and render it into files, report name -> file; the run's exit code.

    Without any the summary is printed. Raises: UsageError, LogWriteError.
    """
    utf8_streams()
    around = Surroundings.of_process()
    log = run_dir / "events.jsonl"
    if not log.is_file():
        raise UsageError(f"{run_dir}: no events.jsonl there: name the directory of a run")
    batch = masked(fold(read_log(log), is_over=not is_held(run_dir)), around.masker(()))
    if not batch.run_id:
        raise UsageError(f"{log}: holds no run: it ended before the first event was written")
    targets = {name: path for name, path in wanted.items() if path is not None}
    for name, path in targets.items():
        made = make_report(name, run_dir, around.cwd)
        if name == "html":
            pages = _write_session_pages(run_dir, batch, path)
            made = Html(log_reader(run_dir), pages.links, pages.stories)
        write_report(path, encoded(name, made.render(batch), path))
    if not targets:
        print_table(batch, run_dir, around)
    return batch.exit_code


class SessionPages(Struct, frozen=True):
    """What a run's page shows of its sessions, by result key."""

    links: dict[str, str] = field(default_factory=dict)
    """Where a session's page lies from the run's."""
    stories: dict[str, Markup] = field(default_factory=dict)
    """What stands on the run's page itself: as much as it can hold, what did not pass first."""


def _write_session_pages(run_dir: Path, batch: BatchResult, page: Path) -> SessionPages:
    """Pages of the run's sessions in `<page's name>-sessions/`, and their stories.

    A session that is not there or cannot be read has none; a device or a pipe has no pages beside it.
    Raises: LogWriteError.
    """
    has_pages = page.is_file() or not page.exists()
    folder = f"{page.stem}-sessions"
    pages, room = SessionPages(), STORIES_MAX_CHARS
    results = sorted(enumerate(batch.results, 1), key=lambda one: one[1].outcome in ("passed", "skipped"))
    for number, result in results:
        found = SESSION.fullmatch(result.session or "")
        path = run_dir / (result.session or "")
        if found is None or not path.is_file() or not path.resolve().is_relative_to(run_dir.resolve()):
            continue
        try:
            session, verdict = read_masked(path), _verdict_of(run_dir, result)
        except UsageError:
            continue
        if has_pages:
            text = session_page(session, verdict)
            write_report(page.parent / folder / f"{found[1]}.html", text.encode())
            pages.links[result.key] = f"{quote(folder)}/{quote(found[1])}.html"
        if path.stat().st_size <= room:
            told = story(session, verdict.patch, f"s{number}-")
            if len(told) <= min(room, STORY_MAX_CHARS):
                pages.stories[result.key] = told
                room -= len(told)
    return pages


def export_session(path: Path, *, is_page: bool) -> str:
    """A session as an HTML page or as readable text. Raises: UsageError."""
    utf8_streams()
    session = read_masked(path)
    if not is_page:
        return export_text(session)
    return session_page(session, _verdict(path))


def read_masked(path: Path) -> SessionFile:
    """A session without secret values of this environment; hidden ones are said. Raises: UsageError."""
    session, mask = read_session(path), Surroundings.of_process().masker(())
    if mask.is_empty:
        return session
    entries = tuple(replace(entry, fields=mask.mask_json(entry.fields)) for entry in session.entries)
    if entries != session.entries:
        tell(f"pi-batch: {path}: holds values of secrets of this environment: they are shown as ***")
    return replace(session, entries=entries)


def _verdict(path: Path) -> Verdict | None:
    """What the run says of a session that lies in its directory as `tasks/KEY/session.jsonl`."""
    run_dir = path.resolve().parent.parent.parent
    log = run_dir / "events.jsonl"
    try:
        batch = fold(read_log(log)) if log.is_file() else None
    except (PiBatchError, OSError):
        return None  # a page of the session alone is better than none
    name = path.resolve().relative_to(run_dir).as_posix()
    result = next((one for one in batch.results if one.session == name), None) if batch else None
    if result is None:
        return None
    return _verdict_of(run_dir, result)


def _verdict_of(run_dir: Path, result: RunResult) -> Verdict:
    read = log_reader(run_dir)
    mask = Surroundings.of_process().masker(())
    red = [check.log for check in result.verification if check.log and not check.passed]
    logs = {name: mask.mask(read(name)) for name in red}
    return Verdict(result, logs, mask.mask(_patch(run_dir, result.patch)))


def _patch(run_dir: Path, name: str | None) -> str:
    """A patch that is short enough to be read on a page; empty otherwise."""
    if not name:
        return ""
    text = log_reader(run_dir, MAX_PATCH_BYTES)(name)
    return text if text.startswith("diff ") else ""
