"""A scheduler for scripts, in place of asyncio: nothing that a script reaches leads to an event loop.

Tasks are coroutines that are driven here; they wait for tool calls, timers and each other. When nothing that
is waited for can settle any more, the script ends at once. A cancelled task is cancelled again at every
further `await`, so that none can refuse to end.
"""

from __future__ import annotations

import heapq
import time
from collections import deque
from collections.abc import Callable, Coroutine, Generator
from itertools import count
from types import CoroutineType
from typing import Any, Final

from pi_batch.codemode.script.errors import FILE
from pi_batch.codemode.script.host import readable

MAX_CANCELS: Final = 100
"""How often a task is cancelled again before it is dropped."""
POLL_EVERY_STEPS: Final = 64


class CancelledError(BaseException):
    """A task was cancelled."""

    __module__ = "builtins"  # so that its attributes are as open as those of any exception


class Deadlock(Exception):
    """The script waits, at this line, for something that cannot happen any more."""

    def __init__(self, line: int | None) -> None:
        super().__init__(f"line {line}")
        self.line = line


def _waits_at(coroutine: Any) -> int | None:
    """The line of the innermost frame that is the script's own."""
    line = None
    while isinstance(coroutine, CoroutineType):
        frame = coroutine.cr_frame
        if frame is not None and frame.f_code.co_filename == FILE:
            line = frame.f_lineno
        coroutine = coroutine.cr_await
    return line


@readable("done", "result", "cancel", "cancelled", "exception")
class Waitable:
    """Something that settles once, with a value or an exception; `await` waits for it."""

    __slots__ = ("__weakref__", "_error", "_is_done", "_loop", "_value", "_waiters", "is_seen")

    def __init__(self, loop: Loop) -> None:
        self._loop = loop
        self._is_done = False
        self._value: Any = None
        self._error: BaseException | None = None
        self._waiters: list[Callable[[], None]] = []
        self.is_seen = False
        """Whether anybody has asked for what came of it."""

    def done(self) -> bool:
        """Whether it has settled."""
        return self._is_done

    def cancelled(self) -> bool:
        """Whether it was cancelled."""
        return isinstance(self._error, CancelledError)

    def exception(self) -> BaseException | None:
        """The exception that it settled with."""
        self.is_seen = True
        return None if isinstance(self._error, CancelledError) else self._error

    def result(self) -> Any:
        """The value. Raises: what it settled with; RuntimeError before it has settled."""
        if not self._is_done:
            raise RuntimeError("not done yet: await it")
        self.is_seen = True
        if self._error is not None:
            raise self._error
        return self._value

    def cancel(self) -> bool:
        """Settle it as cancelled, unless it has settled."""
        if self._is_done:
            return False
        self.settle(error=CancelledError())
        return True

    def settle(self, value: Any = None, error: BaseException | None = None) -> None:
        """Give it its value or exception, once, and wake who waits."""
        if self._is_done:
            return
        self._is_done, self._value, self._error = True, value, error
        waiters, self._waiters = self._waiters, []
        for wake in waiters:
            self._loop.soon(wake)

    def on_settled(self, wake: Callable[[], None]) -> None:
        """Call this in the loop's next round once it has settled."""
        if self._is_done:
            self._loop.soon(wake)
        else:
            self._waiters.append(wake)

    def forget(self, wake: Callable[[], None]) -> None:
        """Call it no more."""
        if wake in self._waiters:
            self._waiters.remove(wake)

    @property
    def is_wanted(self) -> bool:
        """Whether anybody waits for it."""
        return bool(self._waiters)

    def give_up(self) -> None:
        """A task that waited for it was cancelled; what goes on elsewhere ends then, as with asyncio."""

    def __reduce_ex__(self, protocol: object) -> Any:
        raise TypeError("what can be awaited cannot be copied")

    def __await__(self) -> Generator[Waitable, None, Any]:
        self.is_seen = True
        if not self._is_done:
            yield self
        return self.result()

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {'done' if self._is_done else 'pending'}>"


@readable("done", "result", "cancel", "cancelled", "exception", "get_name")
class Task(Waitable):
    """A coroutine that the loop drives."""

    __slots__ = ("_cancels", "_coroutine", "_interrupt", "_waits_for", "name")

    def __init__(self, loop: Loop, coroutine: Coroutine[Any, Any, Any]) -> None:
        super().__init__(loop)
        self._coroutine = coroutine
        self._waits_for: Waitable | None = None
        self._cancels = 0
        self._interrupt: object = None
        self.name = getattr(coroutine, "__name__", "task")
        loop.soon(self._step)

    def cancel(self) -> bool:
        """Throw CancelledError into it at its next step, and at every one after that."""
        if self._is_done:
            return False
        self._cancels = max(self._cancels, 1)
        waited, self._waits_for = self._waits_for, None
        if waited is not None:
            waited.forget(self._step)
            self._loop.soon(self._step)
            waited.give_up()
        return True

    def get_name(self) -> str:
        """The name that it was given, or its coroutine's."""
        return self.name

    def interrupt(self, reason: object) -> None:
        """Cancel it for a reason that its own code may forgive: a time limit on a block."""
        if not self._is_done and not self._cancels:
            self._interrupt = reason
            self.cancel()

    def forgive(self, reason: object) -> bool:
        """Go on, if this was the reason."""
        if self._interrupt is not reason:
            return False
        self._interrupt, self._cancels = None, 0
        return True

    def _step(self) -> None:
        if self._is_done:
            return
        self._waits_for = None
        self._loop.current = self
        try:
            if self._cancels > MAX_CANCELS:
                self.settle(error=CancelledError())
                return
            if self._cancels:
                self._cancels += 1
                waited = self._coroutine.throw(CancelledError())
            else:
                waited = self._coroutine.send(None)
        except StopIteration as end:
            self.settle(end.value)
        except CancelledError as error:
            self.settle(error=error)
        except (MemoryError, Deadlock):
            raise
        except BaseException as error:  # noqa: BLE001 -- it belongs to whoever awaits the task
            self.settle(error=error)
        else:
            self._wait(waited)

    def _wait(self, waited: Any) -> None:
        if not isinstance(waited, Waitable):
            self.settle(error=TypeError(f"a script cannot wait for {type(waited).__name__}"))
        elif self._cancels:
            self._loop.soon(self._step)
        else:
            self._waits_for = waited
            waited.on_settled(self._step)


class Loop:
    """Runs one script's tasks."""

    def __init__(self) -> None:
        self.receive: Callable[[float | None], bool] = lambda _timeout_s: False
        """Waits for a tool call's reply, at most so many seconds; False when none came."""
        self._ready: deque[Callable[[], None]] = deque()
        self._timers: list[tuple[float, int, Waitable]] = []
        self._numbers = count()
        self.tasks: list[Task] = []
        self.calls_out = 0
        """Tool calls that the host has not answered yet."""
        self.current: Task | None = None
        """The task that runs."""

    def soon(self, call: Callable[[], None]) -> None:
        """Call this in the next round."""
        self._ready.append(call)

    def after(self, seconds: float) -> Waitable:
        """Settles after a time."""
        timer = Waitable(self)
        due = time.monotonic() + max(0.0, seconds)
        heapq.heappush(self._timers, (due, next(self._numbers), timer))
        return timer

    def task(self, awaited: Any) -> Waitable:
        """A coroutine as a task; what can be awaited already, as it is. Raises: TypeError."""
        if isinstance(awaited, Waitable):
            return awaited
        if type(awaited) is not CoroutineType:
            raise TypeError(f"an awaitable is needed, got {type(awaited).__name__}")
        task = Task(self, awaited)
        self.tasks.append(task)
        return task

    def run(self, coroutine: Coroutine[Any, Any, Any]) -> Any:
        """Drive a coroutine to its end; its value. Raises: what it raises, Deadlock."""
        main = Task(self, coroutine)
        steps = 0
        while not main.done():
            while self._ready and not main.done():
                self._ready.popleft()()
                steps += 1
                if self.calls_out and steps % POLL_EVERY_STEPS == 0:
                    self.receive(0)
                self._wake_timers()
            if not main.done():
                self._wait(coroutine)
        return main.result()

    def _wait(self, main: Coroutine[Any, Any, Any]) -> None:
        """Wait for a reply or a timer. Raises: Deadlock when neither can come."""
        while self._timers and self._timers[0][2].done():
            heapq.heappop(self._timers)
        if self._timers:
            left = max(0.0, self._timers[0][0] - time.monotonic())
            if self.calls_out:
                self.receive(left)
            elif left:
                time.sleep(left)
            self._wake_timers()
        elif self.calls_out:
            self.receive(None)
        elif not self._ready:
            raise Deadlock(_waits_at(main))

    def _wake_timers(self) -> None:
        now = time.monotonic() if self._timers else 0.0
        while self._timers and self._timers[0][0] <= now:
            heapq.heappop(self._timers)[2].settle()
