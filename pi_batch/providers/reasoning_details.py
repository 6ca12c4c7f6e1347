"""OpenRouter's `reasoning_details`: streamed in pieces, sent back whole.

Pieces of text and of summaries are merged while they follow each other; encrypted entries stay apart.
Source: https://openrouter.ai/docs/use-cases/reasoning-tokens.
"""

from __future__ import annotations

from typing import Any

from pi_batch.providers.wire_json import dumps

_GROWING = {"reasoning.text": "text", "reasoning.summary": "summary"}
"""Type -> the field that grows."""


class Details:
    """The details of one reply."""

    def __init__(self) -> None:
        self._entries: list[dict[str, Any]] = []

    def add(self, details: object) -> None:
        """Take the list out of one delta."""
        for detail in details if isinstance(details, list) else ():
            if not isinstance(detail, dict) or not isinstance(detail.get("type"), str):
                continue
            last = self._entries[-1] if self._entries else None
            if last is not None and _goes_on(last, detail):
                _grow(last, detail)
            else:
                self._entries.append(dict(detail))

    def text(self) -> str:
        """What a person may read of it."""
        parts = (entry.get(_GROWING.get(entry["type"], "")) for entry in self._entries)
        return "".join(part for part in parts if isinstance(part, str))

    def signature(self) -> str | None:
        """The list as JSON, kept in the thinking block's signature; None when there was none."""
        return dumps(self._entries).decode() if self._entries else None


def _goes_on(last: dict[str, Any], detail: dict[str, Any]) -> bool:
    return (
        last["type"] == detail["type"]
        and detail["type"] in _GROWING
        and last.get("index") in (None, detail.get("index", last.get("index")))
        and not last.get("signature")
    )


def _grow(last: dict[str, Any], detail: dict[str, Any]) -> None:
    growing = _GROWING[detail["type"]]
    for key, value in detail.items():
        if key == growing:
            last[key] = f"{last.get(key) or ''}{value or ''}"
        elif last.get(key) is None:
            last[key] = value
