"""A request that was made before: the same reply, at no cost, with a mark; anything else is asked."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from pi_batch.errors import ProviderError
from pi_batch.messages import (
    AssistantMessage,
    ImageBlock,
    TextBlock,
    ToolCall,
    ToolDeclaration,
    ToolResultMessage,
    UserMessage,
    user_text,
)
from pi_batch.protocols import Delta, ModelRequest
from pi_batch.providers.cached import WORKSPACE, Cached
from pi_batch.providers.fake import Scripted, Step, calls, says
from pi_batch.providers.kept_replies import KeptReplies

REQUEST = ModelRequest("m", "Be brief.", (user_text("go", 1),), (), 100, None, 60.0, "s1")
SERVICE = {"name": "x", "base_url": "http://x"}


class Cache:
    """A cache in a directory, and what its service was asked."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        self.asked = 0
        self.warnings: list[str] = []

    async def ask(
        self,
        request: ModelRequest,
        *steps: Step,
        service: dict[str, Any] | None = None,
        workspace: str = "",
    ) -> AssistantMessage:
        provider = Scripted(steps)
        cached = Cached(
            provider,
            KeptReplies(self.directory),
            service or SERVICE,
            now_ms=lambda: 77,
            warn=self.warnings.append,
        )
        if workspace:
            cached.bind(workspace)
        *deltas, reply = [piece async for piece in cached.stream(request)]
        assert all(isinstance(delta, Delta) for delta in deltas)
        assert isinstance(reply, AssistantMessage)
        self.asked += len(provider.requests)
        return reply


@pytest.fixture
def cache(tmp_path: Path) -> Cache:
    return Cache(tmp_path / "cache")


async def test_the_same_request_is_answered_for_nothing_and_marked(cache: Cache) -> None:
    first = await cache.ask(REQUEST, says("done", cost_usd=0.5))
    second = await cache.ask(REQUEST)
    assert cache.asked == 1
    assert (first.is_cached, first.cost_usd) == (False, 0.5)
    assert (second.is_cached, second.cost_usd, second.timestamp_ms) == (True, 0.0, 77)
    assert (second.text, second.usage) == ("done", first.usage)


async def test_times_session_and_seconds_left_make_no_difference(cache: Cache) -> None:
    await cache.ask(REQUEST, says("done"))
    later = replace(REQUEST, messages=(user_text("go", 999),), timeout_s=1.5, session_id="s2")
    assert (await cache.ask(later)).is_cached


Change = Callable[[ModelRequest], ModelRequest]
CHANGES: Sequence[Change] = [
    lambda one: replace(one, model="n"),
    lambda one: replace(one, system="Be long."),
    lambda one: replace(one, messages=(user_text("stop", 1),)),
    lambda one: replace(one, messages=(*one.messages, user_text("go", 1))),
    lambda one: replace(one, messages=(UserMessage((TextBlock("go"), ImageBlock("aGk=", "image/png"))),)),
    lambda one: replace(one, tools=(ToolDeclaration("t", "T.", {}),)),
    lambda one: replace(one, max_output_tokens=101),
    lambda one: replace(one, thinking="high"),
    lambda one: replace(one, output_schema={"type": "object"}),
]


@pytest.mark.parametrize("change", CHANGES)
async def test_anything_else_is_another_request(cache: Cache, change: Change) -> None:
    await cache.ask(REQUEST, says("done"))
    assert (await cache.ask(change(REQUEST), says("new"))).text == "new"
    assert cache.asked == 2


async def test_another_service_or_other_habits_are_another_request(cache: Cache) -> None:
    await cache.ask(REQUEST, says("done"))
    other = {**SERVICE, "base_url": "http://y"}
    assert (await cache.ask(REQUEST, says("new"), service=other)).text == "new"


async def test_what_logs_see_of_a_result_is_not_part_of_the_request(cache: Cache) -> None:
    def request(result: str, **details: Any) -> ModelRequest:
        called = calls(ToolCall("c1", "bash", {"command": "x"}))
        told = ToolResultMessage("c1", "bash", (TextBlock(result),), details=details, timestamp_ms=3)
        return replace(REQUEST, messages=(user_text("go"), called, told))

    await cache.ask(request("out", duration_s=0.1), says("done"))
    assert (await cache.ask(request("out", duration_s=9.9))).is_cached
    assert not (await cache.ask(request("other"), says("new"))).is_cached


async def test_the_workspace_may_lie_elsewhere_the_next_time(cache: Cache) -> None:
    def at(place: str) -> ModelRequest:
        return replace(REQUEST, system=f"You work in {place}.", messages=(user_text(f"see {place}/a.py"),))

    wanted = ToolCall("c1", "read", {"path": "/tmp/one/a.py"})
    await cache.ask(at("/tmp/one"), calls(wanted, text="in /tmp/one"), workspace="/tmp/one")
    again = await cache.ask(at("/tmp/two"), workspace="/tmp/two/")
    assert again.is_cached
    assert again.text == "in /tmp/two"
    assert again.tool_calls[0].arguments == {"path": "/tmp/two/a.py"}
    (file,) = cache.directory.glob("*/*.json")
    assert "/tmp/one" not in file.read_text(encoding="utf-8")
    assert WORKSPACE in file.read_text(encoding="utf-8")


@pytest.mark.parametrize(
    "step",
    [
        says(""),
        replace(says("half"), stop_reason="length"),
        replace(says("no"), stop_reason="content_filter"),
    ],
)
async def test_what_did_not_come_to_a_good_end_is_asked_again(cache: Cache, step: AssistantMessage) -> None:
    await cache.ask(REQUEST, step)
    assert (await cache.ask(REQUEST, says("done"))).text == "done"


async def test_a_failed_request_keeps_nothing(cache: Cache) -> None:
    with pytest.raises(ProviderError):
        await cache.ask(REQUEST, ProviderError("busy", kind="overloaded"))
    assert not (await cache.ask(REQUEST, says("done"))).is_cached


async def test_a_damaged_file_is_asked_for_anew(cache: Cache) -> None:
    await cache.ask(REQUEST, says("done"))
    (file,) = cache.directory.glob("*/*.json")
    file.write_text("{}", encoding="utf-8")
    assert (await cache.ask(REQUEST, says("new"))).text == "new"
    assert (await cache.ask(REQUEST)).text == "new"


async def test_where_nothing_can_be_kept_the_reply_comes_and_one_warning(tmp_path: Path) -> None:
    (tmp_path / "cache").write_text("a file")
    cache = Cache(tmp_path / "cache")
    assert (await cache.ask(REQUEST, says("done"))).text == "done"
    (line,) = cache.warnings
    assert line.startswith("--cache: ")
    assert "goes on without keeping replies" in line


async def test_a_watcher_hears_a_kept_reply_too(tmp_path: Path) -> None:
    kept = KeptReplies(tmp_path)
    for _ in range(2):
        step = calls(ToolCall("c1", "read", {"path": "a"}), text="I look.")
        cached = Cached(Scripted([step]), kept, SERVICE, now_ms=lambda: 1)
        pieces = [piece async for piece in cached.stream(REQUEST)]
    assert [piece.kind for piece in pieces if isinstance(piece, Delta)] == ["text", "tool_call"]
    await cached.close()
