"""Virtual models out of the configuration file: `[models.NAME]`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, get_args

import msgspec

from pi_batch.results import RoutePolicy
from pi_batch.routes import complaint
from pi_batch.spec import VirtualModel
from pi_batch.wording import listed, nearest, quoted

POLICIES: tuple[str, ...] = get_args(RoutePolicy)


def virtual_models(tables: Mapping[str, Any]) -> Mapping[str, VirtualModel]:
    """The tables as models. Raises: ValueError, one line, for the first that is none."""
    found = {name: _virtual(name, table) for name, table in tables.items()}
    for name, virtual in found.items():
        if wrong := complaint(name, virtual, may_call=True):
            raise ValueError(f"{name}: {wrong}")
    return found


def _virtual(name: str, table: Any) -> VirtualModel:
    if not isinstance(table, Mapping):
        raise ValueError(f"{name}: got {quoted(str(table))}, need a table with policy")  # noqa: TRY004 -- as all
    known = VirtualModel.__struct_fields__
    for key in table:
        if key not in known:
            raise ValueError(f"{name}: {quoted(str(key))}: unknown key{nearest(key, known)}")
    policy = table.get("policy")
    if policy not in POLICIES:
        raise ValueError(f"{name}.policy: got {quoted(str(policy))}, need one of {listed(POLICIES)}")
    try:
        return msgspec.convert(table, VirtualModel)
    except msgspec.ValidationError as error:
        raise ValueError(f"{name}: {error}") from error
