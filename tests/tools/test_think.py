"""think does nothing, and says so briefly."""

from __future__ import annotations

import pytest

from pi_batch.tools.think import Think
from tests.tools.context import FakeContext, call, failure, text_of


@pytest.mark.parametrize("thought", ["first this, then that", "", "é\n" * 10_000])
async def test_a_thought_is_acknowledged(context: FakeContext, thought: str) -> None:
    output = await call(Think(), context, thought=thought)
    assert text_of(output) == "Noted."
    assert not output.is_error


async def test_a_thought_has_to_be_text(context: FakeContext) -> None:
    assert "thought: got 1, expected text" in await failure(Think(), context, thought=1)


def test_thinking_writes_nothing() -> None:
    tool = Think()
    assert tool.is_read_only
    assert tool.written_paths(tool.arguments(thought="x")) == ()
