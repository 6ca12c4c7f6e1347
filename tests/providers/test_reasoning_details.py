"""Reasoning details in pieces become whole entries, and what is sealed stays as it came."""

from __future__ import annotations

import json
from typing import Any

import pytest

from pi_batch.providers.reasoning_details import Details


def merged(*deltas: object) -> tuple[list[dict[str, Any]], str]:
    details = Details()
    for delta in deltas:
        details.add(delta)
    signature = details.signature()
    return json.loads(signature) if signature else [], details.text()


def text(piece: str, **rest: Any) -> dict[str, Any]:
    return {"type": "reasoning.text", "text": piece, **rest}


def test_pieces_of_text_are_one_entry() -> None:
    entries, shown = merged([text("be", index=0)], [text("cause", index=0, format="x")], [text(".")])
    assert entries == [{"type": "reasoning.text", "text": "because.", "index": 0, "format": "x"}]
    assert shown == "because."


def test_pieces_of_a_summary_are_one_entry() -> None:
    entries, shown = merged(*([{"type": "reasoning.summary", "summary": piece}] for piece in ("a", "b")))
    assert entries == [{"type": "reasoning.summary", "summary": "ab"}]
    assert shown == "ab"


def test_a_signature_that_comes_last_belongs_to_the_text_and_ends_it() -> None:
    entries, _ = merged([text("a")], [text("", signature="S")], [text("b")])
    assert entries == [text("a", signature="S"), text("b")]


def test_entries_at_different_places_stay_apart() -> None:
    assert len(merged([text("a", index=0)], [text("b", index=1)])[0]) == 2


def test_sealed_entries_stay_apart_and_unread() -> None:
    sealed = [{"type": "reasoning.encrypted", "data": data} for data in ("E1", "E2")]
    entries, shown = merged(sealed[:1], sealed[1:])
    assert entries == sealed
    assert shown == ""


def test_text_after_a_sealed_entry_is_a_new_one() -> None:
    sealed = {"type": "reasoning.encrypted", "data": "E"}
    assert [entry["type"] for entry in merged([text("a"), sealed, text("b")])[0]] == [
        "reasoning.text",
        "reasoning.encrypted",
        "reasoning.text",
    ]


@pytest.mark.parametrize("odd", [None, "x", {}, [None], ["x"], [{}], [{"type": 3}]])
def test_other_shapes_are_nothing(odd: object) -> None:
    assert merged(odd) == ([], "")


def test_a_piece_without_text_adds_nothing() -> None:
    assert merged([text("a")], [{"type": "reasoning.text", "text": None}])[1] == "a"


def test_without_details_there_is_no_signature() -> None:
    assert Details().signature() is None
