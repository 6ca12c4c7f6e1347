"""Tasks and batches for tests: a scripted model, a copied directory, real commands, real checks."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from msgspec import convert
from msgspec.structs import replace

from pi_batch import tools, verifiers
from pi_batch.engine.batch import Batch, BatchParts
from pi_batch.engine.legs import Work
from pi_batch.engine.model_port import ModelPort
from pi_batch.engine.retry import RetryPolicy
from pi_batch.engine.task_parts import TaskParts
from pi_batch.engine.verification import Judge
from pi_batch.environment import child_environment
from pi_batch.events import Record
from pi_batch.protocols import Executor
from pi_batch.providers.fake import Scripted, Step
from pi_batch.redact import Masker
from pi_batch.results import BatchResult, PlannedResult, RunResult
from pi_batch.sandboxes.none import NoneSandbox
from pi_batch.session_log import SessionLog
from pi_batch.sinks.fake import Collected
from pi_batch.sinks.session_log import SessionWriter
from pi_batch.spec import PathRules, Plan, PlannedTask, SuiteBudgetSpec, TaskSpec
from pi_batch.tools.declare import declaration, parse_arguments
from pi_batch.wiring.surroundings import SystemClock
from pi_batch.workspaces.fake import FakeWorkspace
from tests.engine.fakes import AllowAll

PATH = "/usr/local/bin:/usr/bin:/bin"
CLOCK = SystemClock()


def planned(key: str = "t", source: Path | None = None, **fields: Any) -> PlannedTask:
    """A task of one line, with what the test says."""
    spec = convert({"id": key, "prompt": "go", **fields}, TaskSpec)
    return PlannedTask(
        planned=PlannedResult(key, key, "", "t.yaml", "0" * 64, "fake/m", suite="t"),
        spec=spec,
        spec_dir=str(source or "."),
        model="fake/m",
    )


@dataclass
class Lab:
    """Everything that a batch in a temporary directory needs."""

    tmp_path: Path
    scripts: Mapping[str, Sequence[Step]] = field(default_factory=dict)
    """Key -> the model's replies."""
    files: Mapping[str, str] = field(default_factory=dict)
    secrets: Sequence[str] = ()
    max_parallel: int = 1
    budget: SuiteBudgetSpec = field(default_factory=SuiteBudgetSpec)
    group_budgets: Mapping[str, SuiteBudgetSpec] = field(default_factory=dict)
    change: Callable[[TaskParts], TaskParts] = lambda parts: parts
    """Last word on a task's parts."""
    sinks: tuple[Any, ...] = ()
    write_reports: Callable[[BatchResult], None] = lambda _result: None
    report_pause_s: Callable[[], float] = lambda: 0.0
    executor: Executor | None = None

    def __post_init__(self) -> None:
        self.providers: dict[str, Scripted] = {}
        self.collected = Collected()
        self.source = self.tmp_path / "source"
        self.source.mkdir(exist_ok=True)
        for name, text in self.files.items():
            (self.source / name).parent.mkdir(parents=True, exist_ok=True)
            (self.source / name).write_text(text)

    @property
    def run_dir(self) -> Path:
        return self.tmp_path / "run"

    def open_task(self, task: PlannedTask) -> TaskParts:
        key = task.planned.key
        task_dir, state_dir = self.run_dir / "tasks" / key, self.tmp_path / "state" / key
        task_dir.mkdir(parents=True, exist_ok=True)
        state_dir.mkdir(parents=True, exist_ok=True)
        self.providers[key] = provider = Scripted(self.scripts.get(key, ()))
        made = tools.make(("read", "write", "edit", "bash"), PathRules())
        mask = Masker(self.secrets)

        def open_session(path: Path, cwd: str) -> SessionLog:
            return SessionWriter(path, cwd=cwd, clock=CLOCK, mask=mask, is_synced=False)

        parts = TaskParts(
            planned=task,
            workspace=FakeWorkspace(self.source, state_dir),
            make_sandbox=lambda *_: NoneSandbox(grace_s=0.2),
            port=ModelPort(provider, "fake", "m", max_output_tokens=2_000),
            bind_workspace=lambda _path: None,
            tools=made,
            declarations=tuple(map(declaration, made.values())),
            script_only=frozenset(),
            parse=parse_arguments,
            make_rules=lambda _workspace: AllowAll(),
            mask=mask,
            make_env=lambda scratch: child_environment({"PATH": PATH}, ("PATH",), scratch),
            make_judge=lambda judge_parts: Judge(judge_parts, verifiers.make_all()),
            open_session=open_session,
            system_prompt=lambda _workspace: "Be brief.",
            task_dir=task_dir,
            task_dir_name=f"tasks/{key}",
            state_dir=state_dir,
            retry=RetryPolicy(base_s=0.001),
            read_patch=lambda name: (self.run_dir / name).read_bytes(),
        )
        return self.change(parts)

    def batch(self, *tasks: PlannedTask, work: Work | None = None) -> Batch:
        return Batch(
            BatchParts(
                run_id="r1",
                plan=Plan(tasks, self.budget, self.max_parallel, self.group_budgets),
                open_task=self.open_task,
                sinks=(self.collected, *self.sinks),
                write_reports=self.write_reports,
                clock=CLOCK,
                work=work,
                report_pause_s=self.report_pause_s,
                executor=self.executor,
            )
        )

    async def run(self, *tasks: PlannedTask) -> BatchResult:
        batch = self.batch(*tasks)
        if self.executor is not None:
            batch.at_once = await self.executor.start()
        return await asyncio.wait_for(batch.run(), 60)

    async def run_one(self, **fields: Any) -> RunResult:
        (result,) = (await self.run(planned("t", self.source, **fields))).results
        return result

    def records(self) -> list[Record]:
        return list(self.collected.records)

    def events(self, kind: type[Any]) -> list[Any]:
        return [record.event for record in self.records() if isinstance(record.event, kind)]


def replaced(**fields: Any) -> Callable[[TaskParts], TaskParts]:
    """A change of some of a task's parts."""
    return lambda parts: replace(parts, **fields)
