"""Streams of records for tests: written by hand one event at a time, or drawn by hypothesis."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from hypothesis import strategies as st

from pi_batch.errors import ToolErrorKind
from pi_batch.events import (
    AgentEnd,
    AgentSettled,
    AgentStart,
    BatchEnd,
    BatchStart,
    CompactionEnd,
    CompactionStart,
    Event,
    MessageEnd,
    MessageStart,
    MessageUpdate,
    Record,
    TaskEnd,
    TaskStart,
    ToolExecutionEnd,
    ToolExecutionStart,
    ToolExecutionUpdate,
    TurnEnd,
    TurnStart,
    VerificationEnd,
    VerificationStart,
    Warned,
    WorkspaceReady,
)
from pi_batch.messages import Usage
from pi_batch.results import (
    AgentStop,
    BudgetAmounts,
    ChangedFile,
    PermissionDenial,
    PlannedResult,
    RunError,
    SandboxReport,
    TestCounts,
)

STARTED_AT = "2026-01-01T00:00:00.000Z"
LIVE_ONLY = (MessageUpdate, ToolExecutionUpdate)


def planned(key: str, **fields: object) -> PlannedResult:
    """A planned result with a plain identity."""
    values: dict[str, object] = {
        "task_id": key,
        "title": f"Task {key}",
        "spec": f"tasks/{key}.yaml",
        "spec_sha256": "0" * 64,
        "model": "anthropic/claude-sonnet-5",
        "suite": key,
    }
    return PlannedResult(key=key, **(values | fields))  # type: ignore[arg-type]


class Stream:
    """Records in order, numbered and timed one second apart."""

    def __init__(self, *plan: PlannedResult | str) -> None:
        self.records: list[Record] = []
        self._seq = 0
        tasks = tuple(planned(item) if isinstance(item, str) else item for item in plan)
        self.add(None, BatchStart("run-1", STARTED_AT, "0.1.0", tasks))

    def add(self, key: str | None, *events: Event) -> Stream:
        """Append events of one key."""
        for event in events:
            is_live_only = isinstance(event, LIVE_ONLY)
            self._seq += 0 if is_live_only else 1
            at = f"2026-01-01T{self._seq // 3600:02}:{self._seq // 60 % 60:02}:{self._seq % 60:02}.000Z"
            self.records.append(Record(None if is_live_only else self._seq, at, key, event))
        return self

    def start(self, key: str, *, has_checks: bool = False, limit: BudgetAmounts | None = None) -> Stream:
        """A task leaves the queue and its workspace stands."""
        ready = WorkspaceReady(
            "/ws", "/src", "b" * 40, "c" * 40, SandboxReport("none"), f"tasks/{key}/session.jsonl"
        )
        limits = limit or BudgetAmounts(turns=50, wall_s=1800.0)
        return self.add(key, TaskStart(STARTED_AT, limits, {}, has_checks), ready)

    def reply(
        self, key: str, *, cost_usd: float | None = 0.25, usage: Usage | None = None, turn: int = 1
    ) -> Stream:
        """One whole turn without calls."""
        spent = usage or Usage(input_tokens=100, output_tokens=20)
        model = "anthropic/claude-sonnet-5"
        end = MessageEnd(f"{turn:08}", "assistant", model, "stop", spent, cost_usd)
        used = BudgetAmounts(turns=turn, tokens=spent.total_tokens, cost_usd=cost_usd)
        return self.add(key, TurnStart(turn), MessageStart("assistant"), end, TurnEnd(turn, used))

    def agent(
        self,
        key: str,
        stop: AgentStop = "completed",
        *,
        attempt: int = 1,
        answer: str | None = "done",
        error: RunError | None = None,
    ) -> Stream:
        """One attempt of the agent, of one turn."""
        self.add(key, AgentStart(attempt)).reply(key, turn=attempt)
        return self.add(key, AgentEnd(attempt, stop, answer, error), AgentSettled(attempt))

    def check(
        self,
        key: str,
        name: str = "tests",
        *,
        passed: bool = True,
        attempt: int = 1,
        error: RunError | None = None,
        log: str | None = None,
        message: str | None = None,
        exit_code: int | None = None,
    ) -> Stream:
        """One check, from its start to its end."""
        code = exit_code if exit_code is not None else int(not passed)
        said = message if message is not None else ("" if passed else f"exit code {code}")
        start = VerificationStart("verify", name, "pytest -q", attempt)
        end = VerificationEnd("verify", name, "pytest -q", code, passed, 1.5, attempt, None, log, said, error)
        return self.add(key, start, end)

    def call(
        self,
        key: str,
        tool: str,
        *,
        error_kind: ToolErrorKind | None = None,
        parent: str | None = None,
        denial: PermissionDenial | None = None,
    ) -> Stream:
        """One call and its result."""
        call_id = f"call_{len(self.records)}"
        start = ToolExecutionStart(call_id, tool, None, parent)
        end = ToolExecutionEnd(call_id, tool, error_kind is not None, error_kind, 0.1, denial, parent)
        return self.add(key, start, end)

    def end(self, key: str, **fields: object) -> Stream:
        """The task's end."""
        used = BudgetAmounts(turns=1, tokens=120, cost_usd=0.25, wall_s=8.0, tool_calls=0)
        values: dict[str, object] = {"duration_s": 10.0, "working_s": 9.0, "used": used}
        return self.add(key, TaskEnd(**(values | fields)))  # type: ignore[arg-type]

    def finish(self, signal_exit_code: int | None = None) -> Stream:
        """The run's end."""
        status = "interrupted" if signal_exit_code else "complete"
        return self.add(None, BatchEnd(status, 60.0, signal_exit_code))  # type: ignore[arg-type]


# --- drawn streams --------------------------------------------------------------------------------

# The log holds no NUL: what reaches an event was made readable before.
any_text = st.text(st.characters(exclude_characters="\0", codec="utf-8"), max_size=40)
error_kinds = st.sampled_from(("auth", "network", "length", "refusal", "internal", "cancelled"))
errors = st.builds(RunError, error_kinds, any_text)
amounts = st.builds(BudgetAmounts, turns=st.none() | st.integers(0, 9), cost_usd=st.none() | st.floats(0, 9))
usages = st.builds(Usage, st.integers(0, 9999), st.integers(0, 9999), st.integers(0, 9), st.integers(0, 9))
stops: st.SearchStrategy[AgentStop] = st.sampled_from(
    ("completed", "max_turns", "max_cost", "repeated_calls", "model_error", "cancelled")
)
changed = st.builds(
    ChangedFile, any_text, st.just("modified"), st.none() | st.integers(0, 9), st.integers(0, 9), st.none()
)
denials = st.builds(PermissionDenial, any_text, any_text, st.dictionaries(any_text, any_text), any_text)
tool_error_kinds = st.sampled_from((None, "denied", "unknown_tool", "not_run", "failed", "timeout"))
calls = st.builds(
    ToolExecutionEnd,
    tool_call_id=any_text,
    tool=st.sampled_from(("read", "bash", "codemode")),
    is_error=st.booleans(),
    error_kind=tool_error_kinds,
    denial=st.none() | denials,
    parent_tool_call_id=st.none() | st.just("outer"),
)
message_ends = st.builds(
    MessageEnd,
    entry_id=st.just("00000001"),
    role=st.sampled_from(("assistant", "user", "tool_result")),
    model=st.sampled_from(("openai/a", "openai/b")),
    stop_reason=st.sampled_from(("stop", "tool_use", "error")),
    usage=st.none() | usages,
    cost_usd=st.none() | st.floats(0, 2),
)
turn_events = st.one_of(
    message_ends,
    calls,
    st.builds(MessageUpdate, st.just("text"), any_text),
    st.builds(ToolExecutionUpdate, any_text, any_text),
    st.builds(CompactionStart, any_text, st.integers(0, 9)),
    st.builds(CompactionEnd, st.just(9), st.just(3), st.none() | usages, st.none() | st.floats(0, 1)),
    st.builds(Warned, any_text),
    st.builds(TurnEnd, st.integers(1, 9), amounts),
)
check_outcomes = st.lists(
    st.tuples(st.sampled_from(("tests", "lint")), st.booleans(), st.none() | errors), max_size=3
)


def _check_events(attempt: int, outcomes: Iterable[tuple[str, bool, RunError | None]]) -> list[Event]:
    events: list[Event] = []
    for name, passed, error in outcomes:
        events.append(VerificationStart("verify", name, "run", attempt))
        ended = VerificationEnd(
            "verify",
            name,
            "run",
            int(not passed),
            passed,
            1.0,
            attempt,
            TestCounts(3, 0),
            "tasks/x/verify.log",
            "",
            error,
        )
        events.append(ended)
    return events


@st.composite
def task_events(draw: st.DrawFn) -> list[Event]:
    """Everything of one task, in an order that the engine could emit."""
    if draw(st.booleans()):
        return [_drawn_end(draw)]
    events: list[Event] = [TaskStart(STARTED_AT, draw(amounts), {}, draw(st.booleans()))]
    for attempt in range(1, draw(st.integers(0, 2)) + 1):
        events.append(AgentStart(attempt))
        events.extend(draw(st.lists(turn_events, max_size=5)))
        answer = draw(st.none() | any_text)
        events.append(AgentEnd(attempt, draw(stops), answer, draw(st.none() | errors)))
        events.extend(_check_events(attempt, draw(check_outcomes)))
    return [*events, _drawn_end(draw)]


def _drawn_end(draw: st.DrawFn) -> TaskEnd:
    skip_reason = draw(st.none() | any_text)
    return TaskEnd(
        duration_s=draw(st.floats(0, 1e6)),
        working_s=1.0,
        used=draw(amounts),
        skip_reason=skip_reason,
        is_starved=skip_reason is not None and draw(st.booleans()),
        error=draw(st.none() | errors),
        changed_files=tuple(draw(st.lists(changed, max_size=2))),
        structured_output=draw(st.none() | st.dictionaries(any_text, st.integers(), max_size=2)),
    )


@st.composite
def streams(draw: st.DrawFn) -> list[Record]:
    """A whole run of up to four tasks, their events interleaved as parallel tasks' are."""
    keys = [f"task-{number}" for number in range(draw(st.integers(1, 4)))]
    queues: dict[str, Sequence[Event]] = {key: draw(task_events()) for key in keys}
    stream = Stream(*keys)
    while queues:
        key = draw(st.sampled_from(sorted(queues)))
        stream.add(key, queues[key][0])
        queues[key] = queues[key][1:]
        if not queues[key]:
            del queues[key]
    return stream.finish(draw(st.sampled_from((None, 130, 143)))).records
