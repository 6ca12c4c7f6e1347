"""A reader of what a step leaves for GitHub's runner: its commands on a stream, its files.

Written from the runner's own rules (actions/runner: `ActionCommand`, `ActionCommandManager`,
`FileCommandManager`), not from ours.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

_COMMAND = re.compile(
    r"^\s*::(?P<name>[A-Za-z-]+|[A-Za-z0-9-]{8,})(?:\s(?P<properties>[^:]*))?::(?P<text>.*)$"
)
_HEREDOC = re.compile(r"^(?P<name>[^=<]+)<<(?P<word>.+)$")


@dataclass(frozen=True)
class Command:
    """One command that the runner obeys."""

    name: str
    properties: Mapping[str, str]
    text: str


def commands(stream: str) -> list[Command]:
    """Every command that is obeyed, stop-commands taken into account."""
    found: list[Command] = []
    stopped = ""
    for line in re.split(r"\r\n|\n|\r", stream):
        match = _COMMAND.match(line)
        if match is None:
            assert stopped or not re.search(r"##\w*\[", line), line
            continue
        if stopped:
            stopped = "" if match["name"] == stopped else stopped
            continue
        if match["name"] == "stop-commands":
            stopped = match["text"]
        found.append(Command(match["name"], _properties(match["properties"] or ""), _decoded(match["text"])))
    assert not stopped, "the text was never ended"
    return found


def outputs(file: str) -> dict[str, str]:
    """The outputs that a GITHUB_OUTPUT file sets."""
    lines = file.split("\n")
    assert lines.pop() == ""
    found: dict[str, str] = {}
    while lines:
        line = lines.pop(0)
        match = _HEREDOC.match(line)
        assert match is not None, f"no entry: {line!r}"
        value: list[str] = []
        while (inside := lines.pop(0)) != match["word"]:
            value.append(inside)
        found[match["name"]] = "\n".join(value)
    return found


def _properties(text: str) -> dict[str, str]:
    pairs = (pair.partition("=") for pair in text.split(",") if pair)
    return {
        key.strip(): _decoded(value).replace("%3A", ":").replace("%2C", ",") for key, _equals, value in pairs
    }


def _decoded(text: str) -> str:
    return text.replace("%0D", "\r").replace("%0A", "\n").replace("%25", "%")
