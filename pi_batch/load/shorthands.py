"""Shorthands of a task written out: a plain command as a check, a plain text as a system prompt."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Final

from pi_batch.load.nodes import Entry, Fields, Items, Node, Scalar, descend

MAX_SLUG_CHARS: Final = 40
_SLUGGED: Final = re.compile(r"[^A-Za-z0-9._]+")


def written_out(node: Fields) -> Fields:
    """The same task without shorthands."""
    system = node.get("system")
    if isinstance(system, Scalar) and not system.is_null:
        node = node.replacing("system", _mapping(system, {"append": system}))
    only_if = node.get("only_if")
    if isinstance(only_if, Scalar) and not only_if.is_null:
        node = node.replacing("only_if", _mapping(only_if, {"run": only_if}))
    verify = node.get("verify")
    if isinstance(verify, Scalar) and not verify.is_null:
        verify = Items(verify.source, verify.line, (verify,))
    if isinstance(verify, Items):
        node = node.replacing("verify", Items(verify.source, verify.line, tuple(_named_checks(verify))))
    return node


def _mapping(at: Node, values: Mapping[str, Node]) -> Fields:
    entries = tuple(Entry(key, at.line, value) for key, value in values.items())
    return Fields(at.source, at.line, entries)


def _named_checks(checks: Items) -> Iterator[Node]:
    """Every check as a mapping with a name; a plain command is named after its text or position."""
    taken = {name.text for check in checks.nodes if isinstance(name := descend(check, ("name",)), Scalar)}
    for number, check in enumerate(checks.nodes, start=1):
        run = check if isinstance(check, Scalar) else descend(check, ("run",))
        if not isinstance(run, Scalar) or descend(check, ("name",)) is not None:
            yield check
            continue
        label = _slug(run.text)
        if not label or label in taken:
            label = f"check-{number}"
        while label in taken:
            label += "-"
        taken.add(label)
        entries = check.entries if isinstance(check, Fields) else _mapping(check, {"run": run}).entries
        named = Entry("name", check.line, Scalar(check.source, check.line, label, "quoted"))
        yield Fields(check.source, check.line, (named, *entries))


def _slug(command: str) -> str:
    """A short one-line command as a name; empty where it makes none."""
    if "{{" in command or "{%" in command:
        return ""
    slug = _SLUGGED.sub("-", command.strip()).strip("-._")
    return slug if len(slug) <= MAX_SLUG_CHARS and slug[:1].isalnum() else ""
