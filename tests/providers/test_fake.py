"""The scripted provider says what it was told to."""

from __future__ import annotations

import pytest

from pi_batch.errors import ProviderError
from pi_batch.messages import ToolCall, user_text
from pi_batch.protocols import ModelRequest
from pi_batch.providers.fake import Scripted, calls, says
from tests.providers.requests import ask


async def test_a_step_may_be_a_failure_or_a_function_of_the_request() -> None:
    def echo(request: ModelRequest) -> object:
        return says(f"{len(request.messages)} messages")

    provider = Scripted([ProviderError("busy", kind="overloaded", is_retryable=True), echo])  # type: ignore[list-item]
    with pytest.raises(ProviderError, match="busy"):
        await ask(provider, user_text("go"))
    _, message = await ask(provider, user_text("go"), user_text("on"))
    assert message.text == "2 messages"
    assert [len(request.messages) for request in provider.requests] == [1, 2]


async def test_an_endless_script_repeats_its_last_step() -> None:
    provider = Scripted([calls(ToolCall("c", "ls", {}))], is_endless=True)
    for _ in range(3):
        _, message = await ask(provider, user_text("go"))
        assert message.stop_reason == "tool_use"


async def test_an_empty_script_has_nothing_to_repeat() -> None:
    with pytest.raises(ProviderError, match="the script has 0 replies, number 1 was asked for"):
        await ask(Scripted([], is_endless=True), user_text("go"))


async def test_closing_is_seen() -> None:
    provider = Scripted([])
    await provider.close()
    assert provider.is_closed
