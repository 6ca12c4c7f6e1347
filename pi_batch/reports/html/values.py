"""What a page shows: frozen values that the templates lay out, text as yet unescaped."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

MAX_TEXT_CHARS = 100_000
"""Of one block of text; the session file has the rest."""

Mark = Literal["plain", "good", "bad", "warn"]
PreStyle = Literal["code", "terminal"]


@dataclass(frozen=True, slots=True)
class Badge:
    """A word that says how something went; the colour only repeats it."""

    text: str
    mark: Mark = "plain"


@dataclass(frozen=True, slots=True)
class Span:
    """A run of text within a paragraph."""

    text: str
    style: Literal["", "code", "strong"] = ""


@dataclass(frozen=True, slots=True)
class Paragraph:
    """Lines of prose, a heading, or a block of code."""

    style: Literal["text", "heading", "code"]
    spans: tuple[Span, ...]


@dataclass(frozen=True, slots=True)
class Prose:
    """What somebody said."""

    paragraphs: tuple[Paragraph, ...]
    kind: Literal["prose"] = "prose"


@dataclass(frozen=True, slots=True)
class Pre:
    """Text as it is."""

    text: str
    style: PreStyle = "code"
    command: str = ""
    """Shown before a terminal's output."""
    kind: Literal["pre"] = "pre"


@dataclass(frozen=True, slots=True)
class DiffLine:
    """A line of a diff with its sign."""

    text: str
    style: Literal["", "add", "del", "at"] = ""


@dataclass(frozen=True, slots=True)
class Diff:
    """What was changed."""

    lines: tuple[DiffLine, ...]
    kind: Literal["diff"] = "diff"


@dataclass(frozen=True, slots=True)
class Image:
    """An image, or why it is not shown."""

    source: str
    """A data: address; empty where there is nothing to show."""
    note: str
    kind: Literal["image"] = "image"


@dataclass(frozen=True, slots=True)
class Fact:
    """A name and its value."""

    name: str
    value: str


@dataclass(frozen=True, slots=True)
class Facts:
    """Names and values in two columns."""

    rows: tuple[Fact, ...]
    kind: Literal["facts"] = "facts"


@dataclass(frozen=True, slots=True)
class InnerCall:
    """A call that a script made."""

    name: str
    title: str
    badge: Badge
    duration: str
    left: float
    """Where its bar begins, 0 to 100."""
    width: float
    """How long its bar is, 0 to 100; 0: unknown."""


@dataclass(frozen=True, slots=True)
class InnerCalls:
    """The calls of a script in order."""

    rows: tuple[InnerCall, ...]
    note: str
    kind: Literal["inner"] = "inner"


@dataclass(frozen=True, slots=True)
class Fold:
    """Parts behind a line that opens them."""

    title: str
    note: str
    parts: tuple[Part, ...]
    id: str = ""
    """The entry that it stands for; empty where that is the item's own."""
    label: str = ""
    badges: tuple[Badge, ...] = ()
    is_code: bool = False
    """True where the note is code: a command, a path."""
    is_open: bool = False
    kind: Literal["fold"] = "fold"


Part = Prose | Pre | Diff | Image | Facts | InnerCalls | Fold


@dataclass(frozen=True, slots=True)
class Item:
    """An entry of the session, its calls' results folded into it."""

    id: str
    style: Literal["user", "assistant", "tool", "system", "summary", "note"]
    title: str
    time: str = ""
    cost: str = ""
    """What the turn took, and the sum so far."""
    badges: tuple[Badge, ...] = ()
    label: str = ""
    outline: str = ""
    """Its line in the outline; empty: not in it."""
    parts: tuple[Part, ...] = ()
    is_unseen: bool = False
    """True where a compaction has taken it from the model's sight."""
    forks: tuple[str, ...] = ()
    """Ids of the first entries of branches that leave here."""

    @property
    def is_marked(self) -> bool:
        """True where something went wrong, in a call of it too."""
        folds = (part for part in self.parts if isinstance(part, Fold))
        badges = (*self.badges, *(badge for fold in folds for badge in fold.badges))
        return any(badge.mark in ("bad", "warn") for badge in badges)


@dataclass(frozen=True, slots=True)
class TurnCost:
    """A row of the table of costs."""

    id: str
    turn: str
    model: str
    input: str
    cache_read: str
    cache_write: str
    output: str
    share: str
    cost: str
    total: str


@dataclass(frozen=True, slots=True)
class Section:
    """A branch: the active one, or another from where it leaves."""

    items: tuple[Item, ...]
    costs: tuple[TurnCost, ...]
    from_id: str = ""
    """The entry that it leaves; empty for the active branch and for other roots."""
    first_id: str = ""
    title: str = ""
