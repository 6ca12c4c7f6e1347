"""The story of one task on the page of its run: what its session's page shows of the active branch."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import Struct
from msgspec.structs import replace

from pi_batch.reports.html.branches import sections
from pi_batch.reports.html.calls import diff
from pi_batch.reports.html.rendering import render_part
from pi_batch.reports.html.values import Diff, Item, TurnCost
from pi_batch.session import SessionFile

if TYPE_CHECKING:
    from markupsafe import Markup


class Story(Struct, frozen=True):
    """What the template of a story lays out."""

    items: tuple[Item, ...]
    costs: tuple[TurnCost, ...]
    patch: Diff | None


def story(session: SessionFile, patch: str, prefix: str) -> Markup:
    """Prompt, turns, calls and patch; `prefix` makes the ids in it those of this task alone."""
    active = sections(session)[0]
    items = tuple(
        replace(item, forks=()) for item in active.items
    )  # other branches are on the session's own page
    page = Story(items, active.costs, diff(patch) if patch.strip() else None)
    return render_part("story.html.j2", page, prefix)
