"""What a model said, written down briefly, and as a session file that replay plays."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.session.files import ZERO_COST, chain, reply


@dataclass(frozen=True)
class Call:
    """One tool call; `raw` stands for arguments that are no JSON object."""

    tool: str
    arguments: dict[str, Any]
    raw: str | None = None


@dataclass(frozen=True)
class Turn:
    """One reply."""

    calls: tuple[Call, ...] = ()
    text: str = ""
    stop: str | None = None
    """pi's word; left out: what fits."""
    cost_usd: float = 0.0
    tokens: int = 0
    """Of input."""


def call(tool: str, **arguments: Any) -> Call:
    """A call in order."""
    return Call(tool, arguments)


def bash(command: str, **arguments: Any) -> Call:
    """A command."""
    return Call("bash", {"command": command, **arguments})


def write(path: str, content: str) -> Call:
    """A file to be written."""
    return Call("write", {"path": path, "content": content})


def edit(path: str, old: str, new: str) -> Call:
    """An edit, in pi's spelling."""
    return Call("edit", {"path": path, "oldText": old, "newText": new})


def broken(tool: str, raw: str) -> Call:
    """A call whose arguments are not JSON."""
    return Call(tool, {}, raw)


def turn(
    *calls: Call, text: str = "", stop: str | None = None, cost_usd: float = 0.0, tokens: int = 0
) -> Turn:
    """A reply with calls."""
    return Turn(calls, text, stop, cost_usd, tokens)


def say(text: str) -> Turn:
    """A last reply."""
    return Turn((), text)


def call_id(turn_number: int, call_number: int) -> str:
    """The id of a call, both numbers from 0."""
    return f"t{turn_number}c{call_number}"


def write_session(path: Path, turns: Sequence[Turn]) -> Path:
    """The turns as a session file of pi's format."""
    return chain(path, *(_entry(number, said) for number, said in enumerate(turns)), cwd="/recorded/project")


def _entry(number: int, said: Turn) -> dict[str, Any]:
    blocks: list[dict[str, Any] | str] = [said.text] if said.text else []
    for index, one in enumerate(said.calls):
        arguments: Any = one.arguments if one.raw is None else one.raw
        blocks.append(
            {"type": "toolCall", "id": call_id(number, index), "name": one.tool, "arguments": arguments}
        )
    usage = {
        "input": said.tokens,
        "output": 0,
        "cacheRead": 0,
        "cacheWrite": 0,
        "totalTokens": said.tokens,
        "cost": {**ZERO_COST, "total": said.cost_usd},
    }
    stop = said.stop or ("toolUse" if said.calls else "stop")
    return reply(f"{number:08x}", None, *blocks, stop=stop, usage=usage)
