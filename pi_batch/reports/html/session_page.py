"""The page of one session: `pi-batch export`."""

from __future__ import annotations

from msgspec import Struct

from pi_batch.encoders import plain_line
from pi_batch.messages import AssistantMessage
from pi_batch.reports.html.branches import percent, sections
from pi_batch.reports.html.calls import diff
from pi_batch.reports.html.rendering import render
from pi_batch.reports.html.values import MARKS, Badge, Diff, Fact, Item, Section
from pi_batch.result_words import dollars, outcome_word, seconds, turns
from pi_batch.results import RunResult, VerificationResult
from pi_batch.session import SessionFile, message_from_json, name_of, settings_of, total_spent

TITLE_CHARS = 120


class Check(Struct, frozen=True):
    """A check of the verdict."""

    name: str
    badge: Badge
    message: str
    log: str
    """The end of its output; empty where it is not shown."""


class SessionPage(Struct, frozen=True):
    """What the template of a session lays out."""

    title: str
    badge: Badge | None
    reason: str
    facts: tuple[Fact, ...]
    warnings: tuple[str, ...]
    checks: tuple[Check, ...]
    patch: Diff | None
    sections: tuple[Section, ...]

    @property
    def outline(self) -> tuple[Item, ...]:
        """The items of the active branch that say where one is."""
        return tuple(item for item in self.sections[0].items if item.outline)


class Verdict(Struct, frozen=True):
    """What the run says of the task that the session belongs to."""

    result: RunResult
    logs: dict[str, str]
    """Log name -> its end."""
    patch: str = ""


def session_page(session: SessionFile, verdict: Verdict | None = None) -> str:
    """A session as one self-contained HTML document, ending in a newline."""
    made = sections(session)
    title = _title(session, made[0], verdict)
    result = verdict.result if verdict is not None else None
    page = SessionPage(
        title,
        outcome_badge(result) if result is not None else None,
        plain_line(result.reason, 400) if result is not None else "",
        tuple(_facts(session, result)),
        tuple(_warnings(session)),
        tuple(check(one, verdict.logs) for one in verdict.result.verification) if verdict else (),
        diff(verdict.patch) if verdict is not None and verdict.patch.strip() else None,
        made,
    )
    return render("session.html.j2", page)


def check(one: VerificationResult, logs: dict[str, str]) -> Check:
    """A check as pages show it, with the end of its log where there is one."""
    badge = Badge("passed", "good") if one.passed else Badge("failed", "bad")
    name = plain_line(one.name if one.attempt == 1 else f"{one.name} (attempt {one.attempt})", 120)
    message = plain_line(one.message or one.command, 300)
    return Check(name, badge, message, logs.get(one.log or "", ""))


def outcome_badge(result: RunResult) -> Badge:
    """The outcome as a person reads it."""
    word = outcome_word(result)
    return Badge(word, MARKS.get(word, "plain"))


def _title(session: SessionFile, active: Section, verdict: Verdict | None) -> str:
    named = verdict.result.title or verdict.result.task_id if verdict is not None else name_of(session)
    said = next((item.outline for item in active.items if item.style == "user" and item.outline), "")
    return plain_line(named or said, TITLE_CHARS) or f"Session {plain_line(session.header.id, 60)}"


def _facts(session: SessionFile, result: RunResult | None) -> list[Fact]:
    spent, settings = total_spent(session.entries), settings_of(session.entries)
    replies = [
        message
        for entry in session.entries
        if entry.type == "message"
        and isinstance(message := message_from_json(entry.fields.get("message")), AssistantMessage)
    ]
    calls = sum(len(reply.tool_calls) for reply in replies)
    model = "/".join(part for part in (settings.provider, settings.model) if part)
    cost = dollars(spent.cost_usd)
    if spent.unknown_costs:
        cost += f" (unknown for {spent.unknown_costs} of {spent.requests} requests)"
    usage = spent.usage
    pairs = [
        ("Model", result.model if result is not None else model),
        ("Cost", cost),
        ("Tokens", f"{usage.total_tokens:,}"),
        ("Input from cache", percent(usage) or "no input"),
        ("Turns", f"{turns(len(replies))}, {calls:,} {'call' if calls == 1 else 'calls'}"),
        ("Took", f"{seconds(result.duration_s):.1f} s" if result is not None else ""),
        ("Stopped", (result.stop or "") if result is not None else ""),
        ("Sandbox", result.sandbox.name if result is not None and result.sandbox is not None else ""),
        ("Changed", _changed(result) if result is not None else ""),
        ("Started", session.header.timestamp),
        ("Directory", session.header.cwd),
        ("Session", session.header.id),
        ("Forked from", str(session.header.fields.get("parentSession") or "")),
    ]
    return [Fact(name, plain_line(value, 300)) for name, value in pairs if value]


def _changed(result: RunResult) -> str:
    added = sum(file.added or 0 for file in result.changed_files)
    deleted = sum(file.deleted or 0 for file in result.changed_files)
    count = len(result.changed_files)
    return f"{count:,} {'file' if count == 1 else 'files'}, +{added:,} −{deleted:,}"


def _warnings(session: SessionFile) -> list[str]:
    lines = [plain_line(warning, 300) for warning in session.warnings]
    if session.torn is not None:
        lines.append(f"the last line is torn ({len(session.torn)} bytes) and left out")
    return lines
