"""What scripts know as asyncio: gather, sleep, wait_for, locks and the like, over our own scheduler."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from types import CoroutineType
from typing import Any, Self

from pi_batch.codemode.script.host import readable
from pi_batch.codemode.script.scheduler import CancelledError, Loop, Task, Waitable


class Asyncio:
    """The functions of one script's asyncio."""

    def __init__(self, loop: Loop) -> None:
        self._loop = loop

    def exports(self) -> dict[str, Any]:
        """Name -> what scripts get."""
        loop = self._loop
        return {
            "gather": self.gather,
            "sleep": self.sleep,
            "wait_for": self.wait_for,
            "wait": self.wait,
            "as_completed": self.as_completed,
            "create_task": self.create_task,
            "ensure_future": self.create_task,
            "timeout": lambda seconds: Timeout(loop, seconds),
            "Semaphore": lambda value=1: Semaphore(loop, value),
            "BoundedSemaphore": lambda value=1: Semaphore(loop, value),
            "Lock": lambda: Semaphore(loop, 1),
            "Event": lambda: Event(loop),
            "Queue": lambda maxsize=0: Queue(loop, maxsize),
            "TaskGroup": lambda: TaskGroup(loop),
            "iscoroutine": lambda value: type(value) is CoroutineType,
            "run": self.run,
            "to_thread": self.to_thread,
            "shield": lambda awaited: Shielded(loop, loop.task(awaited)),
            "get_event_loop": self.loop,
            "get_running_loop": self.loop,
            "new_event_loop": self.loop,
        }

    def create_task(self, awaited: Any, *, name: Any = None, **_words: Any) -> Waitable:
        """Start a coroutine."""
        task = self._loop.task(awaited)
        if isinstance(task, Task) and isinstance(name, str):
            task.name = str.__str__(name)
        return task

    def gather(self, *awaited: Any, return_exceptions: bool = False) -> Waitable:
        """All at once; their values in order. A single list of awaitables is taken as the awaitables."""
        if len(awaited) == 1 and isinstance(awaited[0], list | tuple | Iterator):
            awaited = tuple(awaited[0])
        tasks = [self._loop.task(one) for one in awaited]
        return Gather(self._loop, tasks, return_exceptions=return_exceptions)

    def sleep(self, seconds: float = 0, result: Any = None) -> Waitable:
        """Wait; other tasks go on."""
        if not isinstance(seconds, int | float):
            raise TypeError("sleep() needs a number of seconds")
        return Mapped(self._loop, self._loop.after(seconds), result)

    async def wait_for(self, awaited: Any, timeout: float | None = None) -> Any:  # noqa: ASYNC109
        """Wait so long at most. Raises: TimeoutError."""
        task = self._loop.task(awaited)
        if timeout is None:
            return await task
        timer = self._loop.after(timeout)
        await First(self._loop, [task, timer])
        if task.done():
            timer.cancel()
            return task.result()
        task.cancel()
        raise TimeoutError

    async def wait(
        self,
        awaited: Iterable[Any],
        *,
        timeout: float | None = None,  # noqa: ASYNC109 -- as asyncio has it
        return_when: str = "ALL_COMPLETED",
    ) -> tuple[set[Waitable], set[Waitable]]:
        """(done, pending)."""
        tasks = [self._loop.task(one) for one in awaited]
        timer = None if timeout is None else self._loop.after(timeout)

        def is_enough() -> bool:
            done = [task for task in tasks if task.done()]
            if return_when == "FIRST_COMPLETED" and done:
                return True
            if return_when == "FIRST_EXCEPTION" and any(task.exception() for task in done):
                return True
            return len(done) == len(tasks) or (timer is not None and timer.done())

        while not is_enough():
            await First(self._loop, [task for task in tasks if not task.done()] + ([timer] if timer else []))
        if timer is not None:
            timer.cancel()
        return {task for task in tasks if task.done()}, {task for task in tasks if not task.done()}

    def as_completed(self, awaited: Iterable[Any], *, timeout: float | None = None) -> Iterator[Any]:
        """Awaitables that give the results in the order in which they come."""
        tasks = [self._loop.task(one) for one in awaited]
        left = list(tasks)

        async def following() -> Any:
            while not any(task.done() for task in left):
                await First(self._loop, list(left))
            task = next(task for task in left if task.done())
            left.remove(task)
            return task.result()

        for _ in tasks:
            yield following() if timeout is None else self.wait_for(following(), timeout)

    async def to_thread(self, function: Callable[..., Any], /, *args: Any, **words: Any) -> Any:
        """Calls it: there is one thread."""
        return function(*args, **words)

    def loop(self, *_args: Any) -> Any:
        """There is none to be had. Raises: RuntimeError."""
        raise RuntimeError("a script runs in a loop already: write `await main()`")

    def run(self, _awaited: Any = None, **_words: Any) -> Any:
        """Never reached where it makes sense: the policy turns it into an `await`."""
        raise RuntimeError("asyncio.run: write `await ...` instead")


class Mapped(Waitable):
    """Settles with a value when something else does."""

    __slots__ = ()

    def __init__(self, loop: Loop, source: Waitable, value: Any) -> None:
        super().__init__(loop)
        source.on_settled(lambda: self.settle(value))


class Shielded(Waitable):
    """Settles as something else does, which goes on when nobody waits for this one any more."""

    __slots__ = ()

    def __init__(self, loop: Loop, source: Waitable) -> None:
        super().__init__(loop)
        source.is_seen = True
        source.on_settled(lambda: self._as(source))

    def _as(self, source: Waitable) -> None:
        try:
            self.settle(source.result())
        except BaseException as error:  # noqa: BLE001 -- handed on
            self.settle(error=error)


class First(Waitable):
    """Settles when the first of several does."""

    __slots__ = ()

    def __init__(self, loop: Loop, sources: list[Waitable]) -> None:
        super().__init__(loop)
        for source in sources:
            source.on_settled(self.settle)


@readable("done", "result", "cancel", "cancelled", "exception")
class Gather(Waitable):
    """The values of several, in order; the first exception, unless exceptions are values."""

    __slots__ = ("_is_lenient", "_left", "_tasks")

    def __init__(self, loop: Loop, tasks: list[Waitable], *, return_exceptions: bool) -> None:
        super().__init__(loop)
        self._tasks = tasks
        self._left = len(tasks)
        self._is_lenient = return_exceptions
        if not tasks:
            self.settle([])
        for task in tasks:
            task.is_seen = True
            task.on_settled(self._one(task))

    def _one(self, task: Waitable) -> Callable[[], None]:
        def settled() -> None:
            self._left -= 1
            if not self._is_lenient and not self.done():
                try:
                    task.result()
                except BaseException as error:  # noqa: BLE001 -- handed on
                    self.settle(error=error)
            if self._left == 0:
                self.settle([self._value_of(one) for one in self._tasks] if not self.done() else None)

        return settled

    @staticmethod
    def _value_of(task: Waitable) -> Any:
        try:
            return task.result()
        except BaseException as error:  # noqa: BLE001 -- a value here
            return error

    def cancel(self) -> bool:
        """Cancel all of them."""
        return [task.cancel() for task in self._tasks].count(True) > 0

    def give_up(self) -> None:
        """Nobody waits for it any more: cancel all of them."""
        if not self.is_wanted:
            self.cancel()


@readable("acquire", "release", "locked")
class Semaphore:
    """So many at once; with one, a lock."""

    __slots__ = ("_free", "_loop", "_queue")

    def __init__(self, loop: Loop, value: int) -> None:
        if not isinstance(value, int) or value < 0:
            raise ValueError("Semaphore initial value must be >= 0")
        self._loop = loop
        self._free = value
        self._queue: deque[Waitable] = deque()

    def locked(self) -> bool:
        """Whether one would have to wait."""
        return self._free == 0

    async def acquire(self) -> bool:
        """Take one, or wait for one."""
        if self._free > 0:
            self._free -= 1
            return True
        turn = Waitable(self._loop)
        self._queue.append(turn)
        try:
            await turn
        except CancelledError:
            if turn in self._queue:
                self._queue.remove(turn)
            else:
                self.release()
            raise
        return True

    def release(self) -> None:
        """Give one back."""
        if self._queue:
            self._queue.popleft().settle()
        else:
            self._free += 1

    async def __aenter__(self) -> None:
        await self.acquire()

    async def __aexit__(self, *_error: object) -> None:
        self.release()


@readable("set", "clear", "is_set", "wait")
class Event:
    """A flag that tasks wait for."""

    __slots__ = ("_is_set", "_loop", "_waiting")

    def __init__(self, loop: Loop) -> None:
        self._loop = loop
        self._is_set = False
        self._waiting: list[Waitable] = []

    def is_set(self) -> bool:
        """Whether it is set."""
        return self._is_set

    def set(self) -> None:
        """Let everybody go on."""
        self._is_set = True
        waiting, self._waiting = self._waiting, []
        for one in waiting:
            one.settle()

    def clear(self) -> None:
        """Take it back."""
        self._is_set = False

    async def wait(self) -> bool:
        """Wait until it is set."""
        if not self._is_set:
            turn = Waitable(self._loop)
            self._waiting.append(turn)
            await turn
        return True


@readable("put", "get", "put_nowait", "get_nowait", "empty", "full", "qsize", "task_done", "join")
class Queue:
    """Values on their way between tasks."""

    __slots__ = ("_changed", "_items", "_loop", "_maxsize", "_unfinished")

    def __init__(self, loop: Loop, maxsize: int) -> None:
        self._loop = loop
        self._maxsize = maxsize
        self._items: deque[Any] = deque()
        self._unfinished = 0
        self._changed: list[Waitable] = []

    def qsize(self) -> int:
        """How many there are."""
        return len(self._items)

    def empty(self) -> bool:
        """Whether there is none."""
        return not self._items

    def full(self) -> bool:
        """Whether there is room for none."""
        return 0 < self._maxsize <= len(self._items)

    def put_nowait(self, item: Any) -> None:
        """Put one in. Raises: RuntimeError when it is full."""
        if self.full():
            raise RuntimeError("the queue is full")
        self._items.append(item)
        self._unfinished += 1
        self._wake()

    def get_nowait(self) -> Any:
        """Take one out. Raises: RuntimeError when there is none."""
        if not self._items:
            raise RuntimeError("the queue is empty")
        item = self._items.popleft()
        self._wake()
        return item

    async def put(self, item: Any) -> None:
        """Put one in, when there is room."""
        while self.full():
            await self._change()
        self.put_nowait(item)

    async def get(self) -> Any:
        """Take one out, when there is one."""
        while not self._items:
            await self._change()
        return self.get_nowait()

    def task_done(self) -> None:
        """One that was taken out is done."""
        self._unfinished -= 1
        self._wake()

    async def join(self) -> None:
        """Wait until all are done."""
        while self._unfinished > 0:
            await self._change()

    def _change(self) -> Waitable:
        turn = Waitable(self._loop)
        self._changed.append(turn)
        return turn

    def _wake(self) -> None:
        changed, self._changed = self._changed, []
        for one in changed:
            one.settle()


@readable("create_task")
class TaskGroup:
    """Tasks that end together: leaving waits for all, a failure cancels the rest."""

    __slots__ = ("_loop", "_tasks")

    def __init__(self, loop: Loop) -> None:
        self._loop = loop
        self._tasks: list[Waitable] = []

    def create_task(self, awaited: Any, **_words: Any) -> Waitable:
        """Start a coroutine in the group."""
        task = self._loop.task(awaited)
        task.is_seen = True
        self._tasks.append(task)
        return task

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, kind: object, error: BaseException | None, _trace: object) -> bool:
        if error is not None:
            self._cancel()
        failed: list[BaseException] = []
        while pending := [task for task in self._tasks if not task.done()]:
            await First(self._loop, pending)
            if any(_failed(task) for task in self._tasks if task.done()):
                self._cancel()
        failed = [found for task in self._tasks if (found := _failed(task)) is not None]
        if failed and (error is None or isinstance(error, Exception)):
            errors = [*([error] if isinstance(error, Exception) else []), *failed]
            raise BaseExceptionGroup("unhandled errors in a TaskGroup", errors)
        return False

    def _cancel(self) -> None:
        for task in self._tasks:
            task.cancel()


def _failed(task: Waitable) -> BaseException | None:
    return task.exception()


class Timeout:
    """`async with asyncio.timeout(seconds)`: a block of so many seconds at most."""

    __slots__ = ("_loop", "_seconds", "_timer")

    def __init__(self, loop: Loop, seconds: float | None) -> None:
        self._loop = loop
        self._seconds = seconds
        self._timer: Waitable | None = None

    async def __aenter__(self) -> Self:
        if self._seconds is not None:
            self._timer = self._loop.after(self._seconds)
            self._timer.on_settled(self._over(self._loop.current))
        return self

    def _over(self, task: Task | None) -> Callable[[], None]:
        def interrupt() -> None:
            if task is not None and self._timer is not None and not self._timer.cancelled():
                task.interrupt(self)

        return interrupt

    async def __aexit__(self, kind: object, error: BaseException | None, _trace: object) -> bool:
        if self._timer is not None:
            is_over = self._timer.done() and isinstance(error, CancelledError)
            self._timer.cancel()
            if is_over and self._loop.current is not None and self._loop.current.forgive(self):
                raise TimeoutError from None
        return False
