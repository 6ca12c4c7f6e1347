"""What scripts keep for later ones."""

from __future__ import annotations

from typing import Any

from pi_batch.codemode.store import ScriptStore, stored_in
from pi_batch.messages import Message, TextBlock, ToolResultMessage, user_text


def result(name: str = "codemode", **details: Any) -> ToolResultMessage:
    return ToolResultMessage("c", name, (TextBlock("x"),), details=details)


def test_a_store_holds_what_the_last_script_left() -> None:
    store = ScriptStore({"a": 1})
    store.keep({"b": [2]})
    assert store.values == {"b": [2]}


def test_a_conversation_says_what_was_stored_last() -> None:
    said: list[Message] = [
        user_text("go"),
        result(store={"a": 1}),
        result(store={"a": 1, "b": 2}),
        result(status="failed"),
    ]
    assert stored_in(said) == {"a": 1, "b": 2}


def test_nothing_stored_is_an_empty_store() -> None:
    assert stored_in([]) == {}
    assert stored_in([result(store="broken"), result("bash", store={"a": 1})]) == {}
