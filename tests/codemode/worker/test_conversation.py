"""The host's side against a worker that says what the test wants: no process, only the socket's other end."""

from __future__ import annotations

import asyncio
import contextlib
import json
import socket
import struct
import time
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import Any

import pytest

from pi_batch.codemode.values import CallReply, ScriptEnd, ScriptRequest
from pi_batch.codemode.worker import conversation as limits
from pi_batch.codemode.worker.conversation import Conversation
from pi_batch.codemode.worker.frames import FrameReader, decoded, encoded
from pi_batch.codemode.worker.wire import Call, Drop, Image, Message, Output, Ready, message_json
from pi_batch.errors import SandboxError
from tests.codemode.worker.rigs import TOOLS, Rig, reason

READY = Ready(("process",), None)
DONE = ScriptEnd("completed", value=1, has_value=True)


class FakeWorker:
    """The other end of the socket."""

    def __init__(self, sock: socket.socket) -> None:
        self.socket = sock
        self._reader = FrameReader()
        self._frames: list[Any] = []

    async def say(self, *messages: Message | bytes) -> None:
        for message in messages:
            data = message if isinstance(message, bytes) else encoded(message_json(message))
            with contextlib.suppress(OSError):
                await asyncio.get_running_loop().sock_sendall(self.socket, data)

    async def hear(self) -> Any:
        while not self._frames:
            piece = await asyncio.get_running_loop().sock_recv(self.socket, 1 << 20)
            assert piece
            self._frames += map(decoded, self._reader.feed(piece))
        return self._frames.pop(0)


@asynccontextmanager
async def talking(
    rig: Rig, **options: Any
) -> AsyncIterator[tuple[FakeWorker, asyncio.Task[ScriptEnd | None]]]:
    """A conversation under way, its worker ready; it is settled in the end."""
    own, theirs = socket.socketpair()
    own.setblocking(False)
    theirs.setblocking(False)
    request = ScriptRequest("pass", TOOLS, **options)
    made = Conversation(own, request, on_call=rig.on_call, on_output=rig.output.append, on_image=rig.on_image)
    with own, theirs:
        talk = asyncio.create_task(made.talk())
        try:
            yield FakeWorker(theirs), talk
        finally:
            await made.settle()
            talk.cancel()
            await asyncio.wait({talk})


async def outcome(*messages: Message | bytes, rig: Rig | None = None, **options: Any) -> ScriptEnd | None:
    """What becomes of a script whose worker says this and then closes."""
    async with talking(rig or Rig(), **options) as (worker, talk):
        await worker.say(*messages)
        with contextlib.suppress(OSError):
            worker.socket.shutdown(socket.SHUT_WR)
        return await talk


async def test_the_request_is_sent_and_the_end_is_given() -> None:
    rig = Rig()
    async with talking(rig, store={"k": 1}) as (worker, talk):
        assert (await worker.hear())["store"] == {"k": 1}
        await worker.say(READY, Output("a"), Image("aGk=", "image/png"), Output("b"), DONE, Output("late"))
        assert await talk == DONE
    assert rig.text == "ab"
    assert rig.images == [("aGk=", "image/png")]


async def test_a_call_is_answered() -> None:
    rig = Rig()
    async with talking(rig) as (worker, talk):
        await worker.hear()
        await worker.say(READY, Call(1, "echo", {"value": [1]}), Call(2, "fail", {}))
        replies = [await worker.hear(), await worker.hear()]
        assert replies == [
            {"id": 1, "value": [1], "error": None, "error_kind": None},
            {"id": 2, "value": None, "error": "it failed", "error_kind": "failed"},
        ]
        await worker.say(DONE)
        assert await talk == DONE


async def test_a_dropped_call_is_cancelled_answered_as_an_error_and_no_other_is_touched() -> None:
    rig = Rig()
    async with talking(rig) as (worker, talk):
        await worker.hear()
        await worker.say(READY, Call(1, "wait", {}), Call(2, "wait", {}))
        while rig.running < 2:
            await asyncio.sleep(0)
        await worker.say(Drop(1), Drop(1), Drop(99))
        assert await worker.hear() == {
            "id": 1,
            "value": None,
            "error": "wait: the script gave it up",
            "error_kind": "failed",
        }
        assert rig.cancelled == [1]
        await worker.say(Call(3, "echo", {"value": 3}), Drop(3))
        assert (await worker.hear())["id"] == 3
        await worker.say(DONE)
        assert await talk == DONE
    assert rig.cancelled == [1, 2]


async def test_a_call_that_is_dropped_before_it_begins_is_answered_too() -> None:
    rig = Rig()
    async with talking(rig) as (worker, talk):
        await worker.hear()
        await worker.say(READY, Call(1, "wait", {}), Drop(1))
        assert (await worker.hear())["error"] == "wait: the script gave it up"
        await worker.say(DONE)
        assert await talk == DONE


async def test_a_call_that_was_never_sent_leaves_a_gap_in_the_numbers() -> None:
    async with talking(Rig()) as (worker, talk):
        await worker.hear()
        await worker.say(READY, Call(2, "echo", {}), Call(5, "echo", {}))
        assert [(await worker.hear())["id"], (await worker.hear())["id"]] == [2, 5]
        await worker.say(DONE)
        assert await talk == DONE


async def test_calls_run_side_by_side_and_replies_come_as_they_end() -> None:
    rig = Rig()
    async with talking(rig) as (worker, _):
        await worker.hear()
        await worker.say(READY, Call(1, "wait", {"value": 0.05}), Call(2, "echo", {}))
        assert [(await worker.hear())["id"], (await worker.hear())["id"]] == [2, 1]
    assert rig.most_running == 2


async def test_calls_still_running_at_the_end_are_cancelled_and_waited_for() -> None:
    rig = Rig()
    async with talking(rig) as (worker, talk):
        await worker.say(READY, Call(1, "wait", {}), Call(2, "wait", {}))
        while rig.running < 2:
            await asyncio.sleep(0)
        await worker.say(DONE)
        assert await talk == DONE
    assert sorted(rig.cancelled) == [1, 2]
    assert rig.running == 0


async def test_a_worker_that_goes_without_an_end_has_none() -> None:
    rig = Rig()
    assert await outcome(READY, Output("partial"), rig=rig) is None
    assert rig.text == "partial"


async def test_a_worker_that_goes_in_the_middle_of_a_frame_has_no_end() -> None:
    assert await outcome(READY, encoded(message_json(DONE))[:-3]) is None


async def test_the_deadline_ends_a_script_and_keeps_what_it_printed() -> None:
    rig = Rig()
    async with talking(rig, timeout_s=0.05) as (worker, talk):
        await worker.say(READY, Output("before"), Call(1, "wait", {}))
        end = await talk
        assert end is not None
        assert "TimeoutError: the script took longer than 0.05 s" in reason(end)
    assert rig.text == "before"
    assert rig.cancelled == [1]


async def test_a_refusal_is_an_error_of_the_run_and_says_why() -> None:
    with pytest.raises(SandboxError, match="codemode is not available: no seccomp"):
        await outcome(Ready((), "no seccomp"))


async def test_an_error_of_the_host_comes_out_and_the_other_calls_are_cancelled() -> None:
    rig = Rig()
    with pytest.raises(LookupError, match="a bug of the host"):
        await outcome(READY, Call(1, "wait", {}), Call(2, "raise", {}), rig=rig)
    assert rig.cancelled == [1]


async def test_a_cancelled_conversation_cancels_its_calls() -> None:
    rig = Rig()
    async with talking(rig) as (worker, talk):
        await worker.say(READY, Call(1, "wait", {}))
        while not rig.running:
            await asyncio.sleep(0)
        talk.cancel()
    assert rig.cancelled == [1]


DEEP = b"[" * 100_000

BREACHES: dict[str, tuple[Message | bytes, ...]] = {
    "says nothing of being ready": (Output("x"),),
    "is ready twice": (READY, READY),
    "starts with its end": (DONE,),
    "goes back in its call numbers": (READY, Call(2, "echo", {}), Call(1, "echo", {})),
    "uses a call number twice": (READY, Call(1, "echo", {}), Call(1, "echo", {})),
    "starts calls at 0": (READY, Call(0, "echo", {})),
    "calls what it may not": (READY, Call(1, "codemode", {})),
    "calls by an empty name": (READY, Call(1, "", {})),
    "claims 4 GiB": (READY, b"\xff\xff\xff\xff"),
    "claims more than the limit": (READY, struct.pack(">I", 16 * 1024 * 1024 + 1)),
    "sends an empty frame": (READY, b"\0\0\0\0"),
    "sends no JSON": (READY, struct.pack(">I", 3) + b"{,}"),
    "sends bytes beyond ASCII": (READY, struct.pack(">I", 4) + b'"\xc3\xa9"'),
    "nests deeply": (READY, struct.pack(">I", len(DEEP)) + DEEP),
    "sends a list": (READY, encoded([1, 2])),
    "sends an unknown kind": (READY, encoded({"kind": "exec"})),
    "sends a true for a number": (
        READY,
        encoded({"kind": "call", "id": True, "name": "echo", "arguments": {}}),
    ),
    "prints a number": (READY, encoded({"kind": "output", "text": 1})),
    "ends as it likes": (READY, encoded({**message_json(DONE), "status": "passed"})),
    "speaks HTTP": (b"GET / HTTP/1.1\r\nHost: x\r\n\r\n",),
}


@pytest.mark.parametrize("messages", BREACHES.values(), ids=BREACHES.keys())
async def test_a_worker_is_ended_that(messages: tuple[Message | bytes, ...]) -> None:
    rig = Rig()
    end = await outcome(*messages, Output("never"), rig=rig)
    assert end is not None
    assert "ProtocolError: the script's process was ended: it sent" in reason(end)
    assert "never" not in rig.text


async def test_more_calls_than_allowed_are_a_breach() -> None:
    rig = Rig()
    async with talking(rig, max_calls=3) as (worker, talk):
        await worker.hear()
        await worker.say(READY)
        for number in (1, 2, 3):
            await worker.say(Call(number, "echo", {}))
            await worker.hear()
        await worker.say(Call(4, "echo", {}))
        end = await talk
        assert end is not None
        assert "more than 3 calls" in reason(end)
    assert len(rig.calls) == 3


async def test_more_calls_at_once_than_allowed_are_a_breach() -> None:
    end = await outcome(READY, *[Call(number, "wait", {}) for number in (1, 2, 3)], max_calls_at_once=2)
    assert end is not None
    assert "more than 2 calls at once" in reason(end)


async def test_a_call_counts_as_open_until_its_reply_is_taken() -> None:
    """Else a worker that reads nothing would have the host hold a thousand replies."""
    rig = Rig()
    size = 4 * 1024 * 1024
    async with talking(rig, max_calls_at_once=2) as (worker, talk):
        await worker.say(READY, Call(1, "big", {"value": size}), Call(2, "big", {"value": size}))
        while rig.running or len(rig.calls) < 2:
            await asyncio.sleep(0.01)
        await worker.say(Call(3, "echo", {}))
        end = await talk
        assert end is not None
        assert "more than 2 calls at once" in reason(end)


async def test_large_replies_arrive_whole_at_a_slow_reader() -> None:
    async with talking(Rig(), max_calls_at_once=2) as (worker, talk):
        await worker.hear()
        await worker.say(READY, Call(1, "big", {"value": 3_000_000}), Call(2, "big", {"value": 2_000_000}))
        first, second = await worker.hear(), await worker.hear()
        assert (len(first["value"]), len(second["value"])) == (3_000_000, 2_000_000)
        await worker.say(Call(3, "echo", {}), DONE)
        assert await talk == DONE


async def test_a_result_that_cannot_be_sent_is_an_error_of_the_call_alone() -> None:
    class Odd(Rig):
        async def on_call(self, call_id: int, name: str, arguments: Mapping[str, Any]) -> CallReply:
            return CallReply(call_id, value=[float("nan"), {1}, "x" * 17_000_000][arguments["which"]])

    async with talking(Odd()) as (worker, talk):
        await worker.hear()
        await worker.say(READY, *[Call(number + 1, "echo", {"which": number}) for number in range(3)])
        errors = [(await worker.hear())["error"] for _ in range(3)]
        assert all(error.startswith("echo: the result cannot be handed to the script") for error in errors)
        assert "17,000,0" in errors[2]
        await worker.say(DONE)
        assert await talk == DONE


async def test_output_without_end_is_a_breach_at_its_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "MAX_OUTPUT_CHARS", 1000)
    rig = Rig()
    end = await outcome(READY, *[Output("x" * 100)] * 11, rig=rig)
    assert end is not None
    assert "more than 1,000 characters of output" in reason(end)
    assert len(rig.text) == 1000


async def test_a_flood_of_frames_is_a_breach_at_its_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "MAX_FRAMES", 1000)
    end = await outcome(READY, encoded(message_json(Output(""))) * 1000)
    assert end is not None
    assert "more than 1,000 messages" in reason(end)


async def test_images_without_end_are_a_breach(monkeypatch: pytest.MonkeyPatch) -> None:
    image = Image("x" * 100, "image/png")
    monkeypatch.setattr(limits, "MAX_IMAGES", 3)
    many = await outcome(READY, *[image] * 4)
    monkeypatch.setattr(limits, "MAX_IMAGE_CHARS", 250)
    large = await outcome(READY, *[image] * 3)
    for end in (many, large):
        assert end is not None
        assert "more images than a script may show" in reason(end)


async def test_a_flood_leaves_the_event_loop_to_others() -> None:
    async with talking(Rig(), timeout_s=20) as (worker, talk):
        await worker.say(READY)
        flood = asyncio.create_task(worker.say(*[encoded(message_json(Output("x"))) * 1000] * 50))
        longest = 0.0
        while not flood.done():
            before = time.monotonic()
            await asyncio.sleep(0)
            longest = max(longest, time.monotonic() - before)
        await worker.say(DONE)
        assert await talk == DONE
    assert longest < 1.0


async def test_a_request_too_large_to_send_is_refused() -> None:
    end = await outcome(store={"k": "x" * 17_000_000})
    assert end is not None
    assert reason(end).startswith("Refused: the script with what it stored is 17,")


async def test_text_that_is_no_unicode_reaches_the_host_as_it_is() -> None:
    rig = Rig()
    body = json.dumps({"kind": "output", "text": "\ud800"}).encode()
    await outcome(READY, struct.pack(">I", len(body)) + body, DONE, rig=rig)
    assert rig.text == "\ud800"
