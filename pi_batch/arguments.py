"""What the arguments of a call are: a struct with bounds, and how models spell and send them.

A field is `name: Annotated[TYPE, said("What the model reads.", "other", "spellings", ge=1)] = DEFAULT`. A
rule over several fields stands in `__post_init__` and raises ValueError("field: what is wrong").
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from functools import cache
from typing import Annotated, Any, get_args, get_origin

from msgspec import Meta, Struct
from msgspec.structs import fields

_HALF = re.compile("[\ud800-\udfff]")

Coerce = Callable[[Any], Any]
"""What came in -> what is judged; anything it does not know stays as it is. Raises: ValueError."""


class ToolArguments(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Base of the tools' argument models: frozen, no unknown keys."""


class Argument(Struct, frozen=True):
    """One field of a tool's arguments."""

    name: str
    type: Any
    """With its bounds."""
    is_required: bool
    spellings: tuple[str, ...] = ()
    """Accepted besides the name, not shown."""
    coerce: Coerce | None = None


def said(description: str, *spellings: str, coerce: Coerce | None = None, **bounds: Any) -> Meta:
    """The annotation of a field: what the model reads, how models write it, what they send, Meta's bounds."""
    return Meta(description=description, extra={"spellings": spellings, "coerce": coerce}, **bounds)


def need_text(value: str, what: str) -> None:
    """Refuse what no program could be given. Raises: ValueError."""
    if not value.strip():
        raise ValueError(f"is blank: give a {what}")
    if _HALF.search(value):
        raise ValueError(f"holds half a character (a lone surrogate): give a {what} of whole ones")


@cache
def arguments_of(model: type[Struct]) -> Mapping[str, Argument]:
    """The fields of a model by every key that is accepted, their own names first."""
    made = [_argument(info.name, info.type, is_required=info.required) for info in fields(model)]
    others = {spelling: one for one in made for spelling in one.spellings}
    return {**{one.name: one for one in made}, **others}


def _argument(name: str, kind: Any, *, is_required: bool) -> Argument:
    extra = get_args(kind)[-1].extra if get_origin(kind) is Annotated else None
    return Argument(name, kind, is_required, **(extra or {}))
