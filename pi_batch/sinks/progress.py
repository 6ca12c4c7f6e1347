"""Progress for people on standard error: a live line per running task, or plain lines in a log.

On a terminal rich redraws the running tasks a few times a second, whatever the events' rate, and finished
tasks and warnings scroll by above them; the last line is the run as a whole. Elsewhere each task ends in one
line, and says once a minute how far it is; a CI log gets nothing more but warnings. Nothing is ever written
to standard output.
"""

from __future__ import annotations

import io
from collections.abc import Mapping
from typing import IO, TYPE_CHECKING, Any, TextIO, cast

from msgspec.structs import replace

from pi_batch.encoders import plain_line, workflow_safe
from pi_batch.events import BatchEnd, BatchStart, ModelSelected, Record, TaskEnd, TaskStart, Warned
from pi_batch.fold import Fold
from pi_batch.protocols import Clock
from pi_batch.redact import Masker
from pi_batch.result_words import STYLES, outcome_word, painted, spent
from pi_batch.results import BudgetAmounts
from pi_batch.sinks.running import Running, changed
from pi_batch.sinks.whole import Whole

if TYPE_CHECKING:  # 60 ms, and only on a terminal
    from rich.live import Live
    from rich.text import Text

REFRESHES_PER_S = 8
PLAIN_EVERY_S = 60.0
"""Between two lines of a running task where no live line is."""


class Outlet(io.TextIOBase):
    """A stream that is given up once it cannot be written to: progress is no reason to end a run.

    It stands between rich and the stream too: rich would end the process over a closed pipe.
    """

    encoding = "utf-8"

    def __init__(self, stream: TextIO) -> None:
        super().__init__()
        self._stream: TextIO | None = stream

    def writable(self) -> bool:
        """Always; what cannot be written is dropped."""
        return True

    def write(self, text: str) -> int:
        """Pass text on, while somebody reads."""
        if self._stream is not None:
            try:
                self._stream.write(text)
            except (OSError, ValueError):  # a closed pipe, a closed file
                self._stream = None
        return len(text)

    def flush(self) -> None:
        """Pass it on at once."""
        if self._stream is not None:
            try:
                self._stream.flush()
            except (OSError, ValueError):
                self._stream = None


class Progress:
    """The sink that a person watches."""

    takes_live_only = False

    def __init__(
        self,
        stream: TextIO,
        clock: Clock,
        *,
        is_terminal: bool = False,
        is_quiet: bool = False,
        is_ci: bool = False,
        has_color: bool = False,
        width: int | None = None,
        mask: Masker | None = None,
    ) -> None:
        self._stream = Outlet(stream)
        self._clock = clock
        self._is_live = is_terminal and not is_quiet
        self._is_quiet = is_quiet
        self._is_ci = is_ci
        self._has_color = has_color
        self._width = width
        self._mask = mask
        self._fold = Fold()
        self._whole = Whole(0, clock.monotonic(), BudgetAmounts())
        self._said_s: dict[str, float] = {}
        """When a running task was last said of in a plain line."""
        self._models: Mapping[str, str] = {}
        self._running: dict[str, Running] = {}
        self._shown: tuple[Running, ...] = ()
        """Swapped whole: rich's refreshing thread reads it."""
        self._live: Live | None = None

    def handle(self, record: Record) -> None:
        """Take one record; a stream that cannot be written to is given up, the run goes on."""
        self._fold.feed(record)
        key, event = record.key or "", record.event
        match event:
            case BatchStart():
                self._models = {planned.key: planned.model for planned in event.planned}
                self._whole = replace(self._whole, planned=len(event.planned), limit=event.budget)
            case TaskStart():
                self._begin(key, event)
            case TaskEnd():
                self._finish(key)
            case Warned():
                where = f"{self._plain(key, 100)}: " if key else ""
                self._say("warning", f"{where}{self._plain(event.message, 300)}")
            case BatchEnd():
                self.close()
            case _ if key in self._running:
                if isinstance(event, ModelSelected) and event.error_kind is not None:
                    text = f"{event.model} goes on for {event.previous} ({event.error_kind}): {event.error}"
                    self._say("warning", f"{self._plain(key, 100)}: {self._plain(text, 300)}")
                now_s = self._clock.monotonic()
                self._running[key] = changed(self._running[key], event, now_s)
                self._say_now_and_then(key, now_s)
            case _:
                return
        self._shown = tuple(self._running.values())

    def close(self) -> None:
        """Take the live lines away; a second call does nothing."""
        live, self._live = self._live, None
        if live is not None:
            live.stop()

    def _begin(self, key: str, event: TaskStart) -> None:
        model = self._models.get(key, "")
        now_s = self._said_s[key] = self._clock.monotonic()
        self._running[key] = Running(key, model, event.budget, now_s)
        self._shown = tuple(self._running.values())
        if self._is_live:
            self._start_live()
        elif not self._is_ci:
            self._say("started", self._plain(key, 100))

    def _finish(self, key: str) -> None:
        """One line per finished task: outcome, key, reason, what it took."""
        self._running.pop(key, None)
        result = self._fold.task_result(key)
        if result is None:
            return
        self._whole = self._whole.ended(result)
        text = f"{self._plain(key, 100)}: {self._plain(result.reason, 200)} ({spent(result)})"
        is_one_of_many = self._whole.planned > 1 and not self._is_live and not self._is_quiet
        self._say(outcome_word(result), f"{text} [{self._whole.so_far()}]" if is_one_of_many else text)

    def _say_now_and_then(self, key: str, now_s: float) -> None:
        """How far a task is, where nobody sees it live."""
        if self._is_live or now_s - self._said_s[key] < PLAIN_EVERY_S:
            return
        self._said_s[key] = now_s
        self._say("running", self._running[key].line(now_s, self._plain))

    def _plain(self, text: str, max_chars: int) -> str:
        """One readable line; secrets go before anything is cut."""
        return plain_line(text if self._mask is None else self._mask.mask(text), max_chars)

    def _say(self, word: str, text: str) -> None:
        """One line that stays; when quiet, only an error is worth one."""
        if self._is_quiet and word != "error":
            return
        if self._live is not None:
            self._live.console.print(_styled(word, text))
            return
        # A CI runner obeys `::error::` and the like on standard error too.
        shown = painted(f"{word:<10}", word) if self._has_color else f"{word:<10}"
        self._stream.write(f"{workflow_safe(f'{shown} {text}')}\n")
        self._stream.flush()

    def _start_live(self) -> None:
        if self._live is not None:
            return
        from rich.console import Console
        from rich.live import Live

        console = Console(
            file=cast(IO[str], self._stream),
            force_terminal=True,
            no_color=not self._has_color,
            width=self._width,
            highlight=False,
        )
        self._live = Live(
            console=console,
            get_renderable=self._lines,
            refresh_per_second=REFRESHES_PER_S,
            transient=True,
            redirect_stdout=False,  # results go to standard output, never through here
            redirect_stderr=False,
        )
        self._live.start()

    def _lines(self) -> Text:
        """The running tasks, one line each."""
        from rich.text import Text

        now_s = self._clock.monotonic()
        lines = [running.line(now_s, self._plain) for running in self._shown]
        if self._whole.planned > 1:
            lines.append(self._whole.line(now_s, self._shown))
        return Text("\n".join(lines), no_wrap=True, overflow="ellipsis")


def _styled(word: str, text: str) -> Any:
    from rich.text import Text

    return Text.assemble((f"{word:<10}", STYLES.get(word, "dim")), " ", text)
