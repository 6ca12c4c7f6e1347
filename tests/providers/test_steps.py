"""Replies made beforehand: in the history's order, for nothing."""

from __future__ import annotations

import pytest

from pi_batch.errors import ProviderError
from pi_batch.messages import Message, Usage, user_text
from pi_batch.providers.steps import Steps, calls, says
from tests.providers.requests import ask

REPLIES = (calls("x", [("ls", {}), ("ls", {"path": "a"})], "looking"), says("x", "done"))


async def test_the_history_says_which_reply_comes_next() -> None:
    history: list[Message] = [user_text("go")]
    for wanted in REPLIES:
        _, reply = await ask(Steps("x", REPLIES), *history)
        assert reply == wanted
        history.append(reply)
    with pytest.raises(ProviderError, match="x: has 2 replies, number 3 was asked for"):
        await ask(Steps("x", REPLIES), *history)


async def test_text_comes_as_a_delta_and_calls_do_not() -> None:
    deltas, _ = await ask(Steps("x", REPLIES), user_text("go"))
    assert [delta.text for delta in deltas] == ["looking"]


def test_a_reply_costs_nothing_and_its_calls_have_ids_of_their_own() -> None:
    first, second = REPLIES[0].tool_calls
    assert first.id != second.id
    assert (REPLIES[0].usage, REPLIES[0].cost_usd, REPLIES[0].stop_reason) == (Usage(), 0.0, "tool_use")
    assert calls("x", [("ls", {})]).tool_calls[0].id == calls("x", [("ls", {})]).tool_calls[0].id


async def test_closing_twice_is_no_error() -> None:
    provider = Steps("x", REPLIES)
    await provider.close()
    await provider.close()
