"""The tree of a session: its branches, and what a branch was set to.

Source: "Tree Structure" in docs/session-format.md of @earendil-works/pi-coding-agent 1.6.0.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from types import MappingProxyType

from msgspec import Struct
from msgspec.structs import replace

from pi_batch.errors import UsageError
from pi_batch.messages import AssistantMessage
from pi_batch.session.file import Entry, SessionFile
from pi_batch.session.from_json import message_from_json
from pi_batch.wording import quoted


class BranchSettings(Struct, frozen=True):
    """What a branch was last set to, as its entries say."""

    provider: str | None = None
    """pi's name; None where no entry names a model."""
    model: str | None = None
    thinking_level: str | None = None
    """None where no entry names one."""


def active_branch(session: SessionFile) -> tuple[Entry, ...]:
    """The last entry and its parents, root first.

    A parent that is missing (its line was broken) or met before (a cycle) ends the walk.
    """
    return _walk(session, session.entries[-1]) if session.entries else ()


def branch_to(session: SessionFile, entry_id: str) -> tuple[Entry, ...]:
    """An entry and its parents, root first; the beginning of an id is enough where it is no other's.

    Raises: UsageError for an id that is not in the file, or not only once.
    """
    exact = [entry for entry in session.entries if entry.id == entry_id]
    found = exact[-1:] or [entry for entry in session.entries if entry_id and entry.id.startswith(entry_id)]
    if len(found) != 1:
        what = f"{len(found)} entries begin with" if found else "no entry"
        raise UsageError(f"{session.path}: {what} {quoted(entry_id)}; `pi-batch export` shows their ids")
    return _walk(session, found[0])


def leaves(session: SessionFile) -> tuple[Entry, ...]:
    """The ends of all branches in the order of the file; that of the active one is the last."""
    parents = {entry.parent_id for entry in session.entries}
    return tuple(entry for entry in session.entries if entry.id not in parents)


def settings_of(branch: Iterable[Entry]) -> BranchSettings:
    """The model and thinking level in force at the end of a branch."""
    settings = BranchSettings()
    for entry in branch:
        fields = entry.fields
        match entry.type:
            case "model_change":
                settings = replace(
                    settings, provider=_text(fields.get("provider")), model=_text(fields.get("modelId"))
                )
            case "thinking_level_change":
                settings = replace(settings, thinking_level=_text(fields.get("thinkingLevel")))
            case "message":
                said = message_from_json(fields.get("message"))
                if isinstance(said, AssistantMessage) and said.model:
                    settings = replace(settings, provider=said.provider, model=said.model)
    return settings


def labels_of(session: SessionFile) -> Mapping[str, str]:
    """Entry id -> its label; a later entry changes or takes away an earlier one's."""
    labels: dict[str, str] = {}
    for entry in session.entries:
        target, label = entry.fields.get("targetId"), entry.fields.get("label")
        if entry.type != "label" or not isinstance(target, str):
            continue
        labels.pop(target, None)
        if isinstance(label, str) and label:
            labels[target] = label
    return MappingProxyType(labels)


def name_of(session: SessionFile) -> str | None:
    """What the session was named; None where it was not, or the name was taken away."""
    names = [entry.fields.get("name") for entry in session.entries if entry.type == "session_info"]
    return (_text(names[-1]).strip() or None) if names else None


def _walk(session: SessionFile, leaf: Entry) -> tuple[Entry, ...]:
    by_id = {entry.id: entry for entry in session.entries}
    branch: list[Entry] = []
    seen: set[str] = set()
    current: Entry | None = leaf
    while current is not None and current.id not in seen:
        seen.add(current.id)
        branch.append(current)
        current = None if current.parent_id is None else by_id.get(current.parent_id)
    return tuple(reversed(branch))


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""
