"""What the loopback server answers, step by step; frozen values, from Python or from a JSON file."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

CutHow = Literal["close", "reset"]


@dataclass(frozen=True, slots=True)
class Wire:
    """How the bytes travel: everything that proxies and networks do to a stream."""

    crlf: bool = False
    bom: bool = False
    split_bytes: int = 0
    """Write at most this many bytes at a time: characters are cut in two."""
    gzip: bool = False
    content_type: str = "text/event-stream"
    first_delay_s: float = 0.0
    """Before the response's head."""
    comment_every: int = 0
    """A comment after each so many frames."""
    drops_last_blank: bool = False
    """The last event lacks its blank line."""
    cut_after: int | None = None
    """End the connection after so many frames."""
    cut_how: CutHow = "close"
    cut_inside: bool = False
    """Cut in the middle of the next frame."""
    stall_after: int | None = None
    """Stop sending events after so many frames."""
    stall_s: float = 0.0
    keepalive: str = ""
    """Sent every 20 ms of a stall: a comment, a ping."""
    hangs_at_end: float = 0.0
    """Seconds that the connection stays open after the last frame."""


@dataclass(frozen=True, slots=True)
class Call:
    """A tool call that the model makes."""

    name: str
    arguments: Mapping[str, Any] = field(default_factory=dict)
    raw: str | None = None
    """Sent in place of the arguments' JSON."""
    id: str | None = None
    """None: made up; "": empty on the wire."""


@dataclass(frozen=True, slots=True)
class Reply:
    """A good reply, in whichever wire the request speaks."""

    text: str = ""
    thinking: str = ""
    redacted: str = ""
    """Data of a redacted_thinking block (Messages)."""
    calls: tuple[Call, ...] = ()
    stop: str | None = None
    """The service's own word; None: what fits the content."""
    usage: Mapping[str, Any] | None = None
    """Fields laid over the counted ones; {"none": true}: report nothing."""
    model: str | None = None
    """Who answers; None: who was asked."""
    piece_chars: int = 12
    quirks: tuple[str, ...] = ()
    """Chat: no_ids, same_id, same_index, repeats_names, no_index, ghost_call, no_done, no_finish,
    no_usage_chunk, usage_in_choice, usage_each_chunk, usage_x_groq, reasoning, reasoning_twice, refusal,
    reasoning_details. Messages: no_stop, no_delta_usage, ping_each, whole_input, unknown_events. Responses:
    no_ids, same_id, no_index, out_of_order, no_item_done, empty_output, late_encrypted, phases, refusal,
    unknown_events, no_stop. Gemini: no_ids, same_id, no_finish, signed_text, signed_thought, blocked."""
    wire: Wire = Wire()


@dataclass(frozen=True, slots=True)
class Refuse:
    """A response with an error status."""

    status: int
    body: Mapping[str, Any] | list[Any] | str = ""
    headers: Mapping[str, str] = field(default_factory=dict)
    delay_s: float = 0.0


@dataclass(frozen=True, slots=True)
class Raw:
    """Frames or a body sent exactly so, with status 200."""

    body: str | bytes = b""
    frames: tuple[Mapping[str, Any] | str, ...] = ()
    """JSON objects become `data:` events; strings are sent as they are."""
    wire: Wire = Wire()


@dataclass(frozen=True, slots=True)
class Drop:
    """The connection ends before any answer."""

    how: CutHow = "reset"


Step = Reply | Refuse | Raw | Drop


def load_steps(path: Path) -> list[Step]:
    """Steps out of a JSON file: a list of {"reply": {…}}, {"refuse": {…}}, {"raw": {…}}, {"drop": {…}}.

    "repeat": N beside any of them repeats it.
    """
    steps: list[Step] = []
    for entry in json.loads(path.read_text(encoding="utf-8")):
        steps += [_step(entry)] * entry.get("repeat", 1)
    return steps


def _step(entry: Mapping[str, Any]) -> Step:
    if "reply" in entry:
        fields = dict(entry["reply"])
        fields["calls"] = tuple(Call(**call) for call in fields.get("calls", ()))
        fields["quirks"] = tuple(fields.get("quirks", ()))
        fields["wire"] = Wire(**fields.get("wire", {}))
        return Reply(**fields)
    if "refuse" in entry:
        return Refuse(**entry["refuse"])
    if "raw" in entry:
        fields = dict(entry["raw"])
        fields["frames"] = tuple(fields.get("frames", ()))
        fields["wire"] = Wire(**fields.get("wire", {}))
        return Raw(**fields)
    return Drop(**entry.get("drop", {}))
