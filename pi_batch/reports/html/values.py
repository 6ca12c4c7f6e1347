"""What a page shows: frozen values that the templates lay out, text as yet unescaped."""

from __future__ import annotations

from typing import Literal

from msgspec import Struct

MAX_TEXT_CHARS = 100_000
"""Of one block of text; the session file has the rest."""

Mark = Literal["plain", "good", "bad", "warn"]
PreStyle = Literal["code", "terminal"]
MARKS: dict[str, Mark] = {"passed": "good", "failed": "bad", "error": "bad", "unverified": "warn"}
"""Outcome words -> how they are shown; others are plain."""


class Badge(Struct, frozen=True):
    """A word that says how something went; the colour only repeats it."""

    text: str
    mark: Mark = "plain"


class Span(Struct, frozen=True):
    """A run of text within a paragraph."""

    text: str
    style: Literal["", "code", "strong"] = ""


class Paragraph(Struct, frozen=True):
    """Lines of prose, a heading, or a block of code."""

    style: Literal["text", "heading", "code"]
    spans: tuple[Span, ...]


class Prose(Struct, frozen=True):
    """What somebody said."""

    paragraphs: tuple[Paragraph, ...]
    kind: Literal["prose"] = "prose"


class Pre(Struct, frozen=True):
    """Text as it is."""

    text: str
    style: PreStyle = "code"
    command: str = ""
    """Shown before a terminal's output."""
    kind: Literal["pre"] = "pre"


class DiffLine(Struct, frozen=True):
    """A line of a diff with its sign."""

    text: str
    style: Literal["", "add", "del", "at"] = ""


class Diff(Struct, frozen=True):
    """What was changed."""

    lines: tuple[DiffLine, ...]
    kind: Literal["diff"] = "diff"


class Image(Struct, frozen=True):
    """An image, or why it is not shown."""

    source: str
    """A data: address; empty where there is nothing to show."""
    note: str
    kind: Literal["image"] = "image"


class Fact(Struct, frozen=True):
    """A name and its value."""

    name: str
    value: str


class Facts(Struct, frozen=True):
    """Names and values in two columns."""

    rows: tuple[Fact, ...]
    kind: Literal["facts"] = "facts"


class InnerCall(Struct, frozen=True):
    """A call that a script made."""

    name: str
    title: str
    badge: Badge
    duration: str
    left: float
    """Where its bar begins, 0 to 100."""
    width: float
    """How long its bar is, 0 to 100; 0: unknown."""


class InnerCalls(Struct, frozen=True):
    """The calls of a script in order."""

    rows: tuple[InnerCall, ...]
    note: str
    kind: Literal["inner"] = "inner"


class Fold(Struct, frozen=True):
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


class Item(Struct, frozen=True):
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


class TurnCost(Struct, frozen=True):
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
    all_tokens: int = 0
    width: float = 0.0
    """Of its bar: its tokens in hundredths of the greatest turn's."""


class Section(Struct, frozen=True):
    """A branch: the active one, or another from where it leaves."""

    items: tuple[Item, ...]
    costs: tuple[TurnCost, ...]
    from_id: str = ""
    """The entry that it leaves; empty for the active branch and for other roots."""
    first_id: str = ""
    title: str = ""
