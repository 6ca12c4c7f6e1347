"""What every provider does that can be made without a network, over the room's table."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from pi_batch import providers
from pi_batch.errors import ProviderError, UsageError
from pi_batch.messages import AssistantMessage, Message, user_text
from pi_batch.protocols import Provider
from pi_batch.providers.fake import Scripted, says
from pi_batch.providers.replay import Replay
from tests.providers.requests import ask, request
from tests.session.files import chain, reply, user


def replay(folder: Path, texts: list[str]) -> Provider:
    entries = [reply(f"r{index}", None, text) for index, text in enumerate(texts)]
    return Replay(chain(folder / "s.jsonl", user("u", None, "go"), *entries))


def fake(_: Path, texts: list[str]) -> Provider:
    return Scripted([says(text) for text in texts])


MAKERS: dict[str, Callable[[Path, list[str]], Provider]] = {"replay": replay, "fake": fake}
"""Those of the table that need no service; the others have a suite against a loopback one."""


Make = Callable[[list[str]], Provider]


@pytest.fixture(params=sorted(MAKERS))
def make(request: pytest.FixtureRequest, tmp_path: Path) -> Make:
    return lambda texts: MAKERS[request.param](tmp_path, texts)


async def test_deltas_come_first_and_one_whole_message_last(make: Make) -> None:
    provider = make(["hello world"])
    deltas, message = await ask(provider, user_text("go"))
    assert "".join(delta.text for delta in deltas if delta.kind == "text") == "hello world"
    assert message.text == "hello world"
    assert message.stop_reason == "stop"
    assert message.usage is not None
    assert message.cost_usd is not None


async def test_each_request_gets_the_next_answer(make: Make) -> None:
    provider = make(["one", "two", "three"])
    history: list[Message] = [user_text("go")]
    for text in ("one", "two", "three"):
        _, message = await ask(provider, *history)
        assert message.text == text
        history += [message, user_text("on")]


async def test_beyond_its_end_it_raises_and_yields_no_message(make: Make) -> None:
    provider = make(["one"])
    await ask(provider, user_text("go"))
    stream = provider.stream(request(user_text("go"), says("one")))
    with pytest.raises(ProviderError) as caught:
        assert not [item async for item in stream if isinstance(item, AssistantMessage)]
    assert "\n" not in str(caught.value)
    assert not caught.value.is_retryable


async def test_closing_twice_is_no_error(make: Make) -> None:
    provider = make(["one"])
    await provider.close()
    await provider.close()


def test_every_provider_of_the_table_has_its_name() -> None:
    for name in MAKERS:
        assert providers.load(name).name == name
    assert set(MAKERS) <= set(providers.TABLE)


def test_an_unknown_provider_is_named_with_those_that_are_known() -> None:
    with pytest.raises(UsageError, match="provider 'skynet': unknown; known are anthropic,"):
        providers.load("skynet")
