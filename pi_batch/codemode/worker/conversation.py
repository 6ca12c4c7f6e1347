"""The host's side of one script: takes the worker's messages, holds every limit, answers calls.

Nothing that the worker says is taken on trust: it may be in the hands of the script.
"""

from __future__ import annotations

import asyncio
import socket
from collections import deque
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from pi_batch.codemode.values import MAX_OUTPUT_CHARS, CallReply, ScriptEnd, ScriptError, ScriptRequest
from pi_batch.codemode.worker.frames import FrameError, FrameReader, encoded
from pi_batch.codemode.worker.wire import (
    Call,
    Drop,
    Image,
    Message,
    Output,
    Ready,
    message_from,
    reply_json,
    request_json,
)
from pi_batch.errors import SandboxError

MAX_IMAGES = 100
MAX_IMAGE_CHARS = 32 * 1024 * 1024
"""Of all images of a script together."""
MAX_FRAMES = 100_000
"""Of a script together; workers gather what is printed in many small pieces."""
_READ_BYTES = 64 * 1024
"""At a time: no worker keeps the event loop from its other work."""

OnCall = Callable[[int, str, Mapping[str, Any]], Awaitable[CallReply]]
OnOutput = Callable[[str], None]
OnImage = Callable[[str, str], None]


class Conversation:
    """One script's; `talk` once, then `settle`."""

    def __init__(
        self,
        sock: socket.socket,
        request: ScriptRequest,
        *,
        on_call: OnCall,
        on_output: OnOutput,
        on_image: OnImage,
    ) -> None:
        self._socket = sock
        self._request = request
        self._on_call = on_call
        self._on_output = on_output
        self._on_image = on_image
        self._loop = asyncio.get_running_loop()
        self._names = {tool.name for tool in request.tools}
        self.ready: Ready | None = None
        """What holds the worker; None for one that never said so, which has seen nothing of the script."""
        self._tasks: set[asyncio.Task[Any]] = set()
        self._calls: dict[int, asyncio.Task[CallReply]] = {}
        """Those that run, by their ids."""
        self._dropped: set[asyncio.Task[Any]] = set()
        """Calls that were cancelled because the script gave them up."""
        self._failure: asyncio.Future[None] = self._loop.create_future()
        self._queue: deque[tuple[memoryview, bool]] = deque()
        """What is to be sent, and whether it answers a call."""
        self._is_closed = False
        self._open_calls = 0
        """Started, and their replies not wholly taken by the socket."""
        self._last_id = 0
        self._frames = self._output_chars = self._image_chars = self._images = 0

    async def talk(self) -> ScriptEnd | None:
        """Until the script's end, its deadline, or a breach; None when the worker is gone without an end.

        Raises: SandboxError when the worker refuses to run scripts; what `on_call` or `on_output` raise.
        """
        try:
            self._send(encoded(request_json(self._request)), is_reply=False)
        except FrameError as error:
            return _failed("Refused", f"the script with what it stored is {error}")
        listening: asyncio.Task[ScriptEnd | None] = self._task(self._listen())
        first: set[asyncio.Future[Any]] = {listening, self._failure}
        await asyncio.wait(first, timeout=self._request.timeout_s, return_when=asyncio.FIRST_COMPLETED)
        if self._failure.done():
            self._failure.result()
        if listening.done():
            return listening.result()
        return _failed(
            "TimeoutError",
            f"the script took longer than {self._request.timeout_s:g} s, its tool calls included: "
            "do less in one script, or set timeout_s",
        )

    async def settle(self, *others: asyncio.Future[Any]) -> None:
        """Cancel calls that still run, and wait for them and the others, whatever cancellations come."""
        self._is_closed = True
        self._loop.remove_writer(self._socket)
        self._failure.cancel()
        for task in self._tasks - self._dropped:  # a second cancellation would cut the first one's work short
            task.cancel()
        waiting = {*self._tasks, *others}
        is_cancelled = False
        while not all(each.done() for each in waiting):
            try:
                await asyncio.wait(waiting)
            except asyncio.CancelledError:
                is_cancelled = True
        for each in waiting:
            if not each.cancelled():
                each.exception()  # was raised already, by the first of them
        if is_cancelled:
            raise asyncio.CancelledError

    # --- receiving ----------------------------------------------------------------------------------

    async def _listen(self) -> ScriptEnd | None:
        reader = FrameReader()
        while True:
            try:
                piece = await self._loop.sock_recv(self._socket, _READ_BYTES)
            except OSError:
                return None
            if not piece:
                return None
            try:
                for body in reader.feed(piece):
                    message = message_from(body)
                    self._take(message)
                    if isinstance(message, ScriptEnd):
                        return message
            except FrameError as error:
                return _failed("ProtocolError", f"the script's process was ended: it sent {error}")
            await asyncio.sleep(0)  # sock_recv does not wait while there is something to read

    def _take(self, message: Message) -> None:
        """Raises: FrameError for what this message may not be at this place."""
        self._frames += 1
        if self._frames > MAX_FRAMES:
            raise FrameError(f"more than {MAX_FRAMES:,} messages")
        if (self.ready is None) != isinstance(message, Ready):
            raise FrameError("a message out of order")
        match message:
            case Ready():
                self.ready = message
                if message.refusal is not None:
                    raise SandboxError(f"codemode is not available: {message.refusal}")
            case Call():
                self._take_call(message)
            case Drop():
                if (task := self._calls.get(message.call_id)) is not None and task not in self._dropped:
                    self._dropped.add(task)
                    task.cancel()
            case Output():
                self._output_chars += len(message.text)
                if self._output_chars > MAX_OUTPUT_CHARS:
                    raise FrameError(f"more than {MAX_OUTPUT_CHARS:,} characters of output")
                self._on_output(message.text)
            case Image():
                self._images += 1
                self._image_chars += len(message.data)
                if self._images > MAX_IMAGES or self._image_chars > MAX_IMAGE_CHARS:
                    raise FrameError("more images than a script may show")
                self._on_image(message.data, message.mime_type)
            case ScriptEnd():
                pass

    def _take_call(self, call: Call) -> None:
        if call.call_id <= self._last_id:  # one that was never sent leaves a gap
            raise FrameError(f"call {call.call_id} after call {self._last_id}")
        if call.call_id > self._request.max_calls:
            raise FrameError(f"more than {self._request.max_calls:,} calls")
        if call.name not in self._names:
            raise FrameError(f"a call of {call.name!r}, which is no tool of it")
        if self._open_calls >= self._request.max_calls_at_once:
            raise FrameError(f"more than {self._request.max_calls_at_once} calls at once")
        self._last_id = call.call_id
        self._open_calls += 1
        running: asyncio.Task[CallReply] = self._task(self._on_call(call.call_id, call.name, call.arguments))
        self._calls[call.call_id] = running
        self._task(self._answer(call, running)).add_done_callback(self._on_answered)

    # --- answering ----------------------------------------------------------------------------------

    async def _answer(self, call: Call, running: asyncio.Task[CallReply]) -> None:
        try:
            reply = await asyncio.shield(running)  # ending it takes its time, whoever is cancelled beside it
        except asyncio.CancelledError:
            if self._is_closed:
                raise
            reply = CallReply(call.call_id, error=f"{call.name}: the script gave it up", error_kind="failed")
        finally:
            self._calls.pop(call.call_id, None)
        try:
            frame = encoded(reply_json(reply))
        except FrameError as error:
            text = f"{call.name}: the result cannot be handed to the script: it is {error}"
            frame = encoded(reply_json(CallReply(call.call_id, error=text, error_kind="failed")))
        self._send(frame, is_reply=True)

    def _on_answered(self, task: asyncio.Task[Any]) -> None:
        """What a call raises ends the script; nobody but `settle` cancels one."""
        error = None if task.cancelled() else task.exception()
        if error is not None and not self._failure.done():
            self._failure.set_exception(error)

    def _task(self, work: Any) -> asyncio.Task[Any]:
        task = self._loop.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return task

    def _send(self, frame: bytes, *, is_reply: bool) -> None:
        self._queue.append((memoryview(frame), is_reply))
        if len(self._queue) == 1:
            self._pump()

    def _pump(self) -> None:
        """Send what the socket takes now, and come back when it takes more.

        A call counts as open until its reply is with the worker, so that no more than the allowed number of
        replies ever wait for a worker that does not read.
        """
        while self._queue and not self._is_closed:
            frame, is_reply = self._queue[0]
            try:
                sent = self._socket.send(frame)
            except BlockingIOError:
                self._loop.add_writer(self._socket, self._pump)
                return
            except OSError:  # it is gone; the reading end finds out what that means
                self._is_closed = True
                break
            if sent < len(frame):
                self._queue[0] = (frame[sent:], is_reply)
                continue
            self._queue.popleft()
            self._open_calls -= is_reply
        self._loop.remove_writer(self._socket)


def _failed(kind: str, text: str) -> ScriptEnd:
    return ScriptEnd("failed", error=ScriptError(kind, text))
