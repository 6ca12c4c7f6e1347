"""The figures: what is measured, against what, and how much it may be."""

from __future__ import annotations

import json
import urllib.request
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from statistics import median

from scripts.bench.measuring import Program, least_costs
from scripts.bench.programs import JOBS, TASKS, Programs
from scripts.bench.server import READS, SLEEPS

ROUNDS = 7
TURNS = 41
DELTAS = 20_000
EARLY = range(5, 16)
LATE = range(190, 201)
"""Turns that stand for the 10th and the 200th: one alone says little."""


@dataclass(frozen=True, slots=True)
class Figure:
    """One line of the table."""

    name: str
    ours: float
    unit: str
    bare: float | None = None
    """What it is compared with, in the same unit."""
    bar: float | None = None
    """The most that it may be; None: only told."""
    is_ratio: bool = False
    """True where the bar is for ours / bare."""

    @property
    def is_reached(self) -> bool | None:
        """Whether the bar is kept; None without a bar."""
        if self.bar is None:
            return None
        return (self.ours / self.bare if self.is_ratio and self.bare else self.ours) <= self.bar


def start_figures(programs: Programs) -> Iterator[Figure]:
    """What it takes to say the version."""
    version, help_, click = least_costs(
        ROUNDS, programs.ours("--version"), programs.ours("--help"), programs.python("import click")
    )
    for name, cost in (("--version", version), ("--help", help_)):
        yield Figure(
            f"pi-batch {name} (bare: import click)", cost.cpu_ms, "ms", click.cpu_ms, 2, is_ratio=True
        )


def request_figures(programs: Programs) -> Iterator[Figure]:
    """One answered request, start to end."""
    once, run, bare, lean = least_costs(
        ROUNDS,
        programs.exec("text-1"),
        programs.run("text-1"),
        programs.bare("text-1"),
        programs.lean("text-1"),
    )
    yield Figure("one answered request (exec)", once.cpu_ms, "ms CPU", bare.cpu_ms, 1.5, is_ratio=True)
    yield Figure("  the same, peak memory", once.peak_mb, "MB", bare.peak_mb, 60)
    yield Figure("  the same by run", run.cpu_ms, "ms CPU", bare.cpu_ms, 1.5, is_ratio=True)
    yield Figure("  exec beside httpx without its click and rich", once.cpu_ms, "ms CPU", lean.cpu_ms)


def turn_figures(programs: Programs) -> Iterator[Figure]:
    """What one more turn takes."""
    for kind, bar, is_ratio in (("bash", 1.7, True), ("read", 2.0, False)):
        names = (f"{kind}-{TURNS}", f"{kind}-1")
        costs = least_costs(ROUNDS, *map(programs.run, names), *map(programs.bare, names))
        ours, bare = ((costs[at].cpu_ms - costs[at + 1].cpu_ms) / (TURNS - 1) for at in (0, 2))
        yield Figure(f"a {kind} turn", ours, "ms CPU", bare, bar, is_ratio=is_ratio)
    samples = [watched(programs, programs.run(f"read-{LATE.stop + 2}")) for _ in range(3)]
    early, late = (min(median(cpu_ms(turns, span)) for turns in samples) for span in (EARLY, LATE))
    yield Figure("the 200th turn (bare: the 10th)", late, "ms CPU", early, 1.3, is_ratio=True)
    names = (f"deltas-{DELTAS}", "deltas-1")
    costs = least_costs(3, *map(programs.run, names), *map(programs.bare, names))
    ours, bare = (1000 * (costs[at].cpu_ms - costs[at + 1].cpu_ms) / DELTAS for at in (0, 2))
    yield Figure("a streamed delta", ours, "µs CPU", bare, 15)


def wire_figures(programs: Programs) -> Iterator[Figure]:
    """What a turn and a delta take on each wire; the column `bare` is Chat Completions."""
    services = ("openai-chat", "openai", "anthropic", "google")
    for name, long, short, per, unit in (
        ("a read turn", f"read-{TURNS}", "read-1", 1 / (TURNS - 1), "ms CPU"),
        ("a streamed delta", f"deltas-{DELTAS}", "deltas-1", 1000 / DELTAS, "µs CPU"),
    ):
        models = [programs.wire(service, model) for service in services for model in (long, short)]
        costs = least_costs(ROUNDS, *models)
        taken = [(costs[2 * at].cpu_ms - costs[2 * at + 1].cpu_ms) * per for at in range(len(services))]
        for service, figure in zip(services[1:], taken[1:], strict=True):
            yield Figure(f"{name}, {service} (bare: chat)", figure, unit, taken[0], 1.2, is_ratio=True)


def sandbox_figures(programs: Programs) -> Iterator[Figure]:
    """What the sandbox that `auto` finds here adds; its column `bare` is ours without one."""
    once = least_costs(ROUNDS, programs.run("text-1", "auto"), programs.run("text-1"))
    yield Figure(
        "a task of one turn in the sandbox (bare: without)", once[0].cpu_ms, "ms CPU", once[1].cpu_ms
    )
    many = least_costs(ROUNDS, programs.run(f"bash-{TURNS}", "auto"), programs.run(f"bash-{TURNS}"))
    ours, bare = ((many[at].cpu_ms - once[at].cpu_ms) / (TURNS - 1) for at in (0, 1))
    yield Figure("a bash turn in the sandbox (bare: without)", ours, "ms CPU", bare)


def batch_figures(programs: Programs) -> Iterator[Figure]:
    """Many tasks in one process."""
    ours, bare = least_costs(3, programs.batch("mixed-10"), programs.bare("mixed-10", tasks=TASKS))
    name = f"{TASKS} tasks of 10 turns, {JOBS} at once: a task"
    yield Figure(name, ours.cpu_ms / TASKS, "ms CPU", bare.cpu_ms / TASKS, 1.5, is_ratio=True)
    yield Figure("  the same, peak memory", ours.peak_mb, "MB", bare.peak_mb, 100)


def wall_figures(programs: Programs) -> Iterator[Figure]:
    """What a person waits for."""
    ours, bare = (
        min(wall_ms(watched(programs, program)) for _ in range(ROUNDS))
        for program in (programs.run("sleep-2"), programs.bare("sleep-2"))
    )
    yield Figure(f"{SLEEPS} × sleep 0.2 in one turn", ours, "ms wall", bare, 260)
    (replay,) = least_costs(ROUNDS, programs.replay())
    yield Figure("a replayed task of one turn", replay.wall_ms, "ms wall", bar=500)


def codemode_figures(programs: Programs) -> Iterator[Figure]:
    """What scripts cost, and what they save."""
    off, asked = least_costs(
        ROUNDS, programs.run("text-1", codemode="off"), programs.run("text-1", codemode="on")
    )
    yield Figure("codemode, asked for, over a run without", asked.cpu_ms - off.cpu_ms, "ms CPU", bar=80)
    for kind, name in (("print", "print(1)"), ("script", f"a script of {READS} reads")):
        between = [
            wall_ms(watched(programs, programs.run(f"{kind}-3", codemode="on"))[1:]) for _ in range(ROUNDS)
        ]
        yield Figure(f"{name}, from request to request", min(between), "ms wall", bar=30)
    script, turns = (
        sum(size for _, _, size in watched(programs, programs.run(model, codemode="on")))
        for model in ("script-2", f"read-{READS + 1}")
    )
    yield Figure(f"requests of {READS} reads by turns (bare: a script)", turns / 1e3, "kB", script / 1e3)


Moments = Sequence[tuple[int, int, int]]
"""See `server.watched`."""


def watched(programs: Programs, program: Program) -> Moments:
    """Run a program and say what the service saw of it."""

    def watch(pid: int) -> None:
        _ask(programs, f"/watch/{pid}", b"{}")

    program.run(watch)
    moments: Moments = _ask(programs, "/watched")
    return moments


def cpu_ms(moments: Moments, turns: range) -> list[float]:
    """The CPU time of each of these turns, from one request to the next."""
    return [(moments[turn][0] - moments[turn - 1][0]) / 1e6 for turn in turns]


def wall_ms(moments: Moments) -> float:
    """The time between the first two requests."""
    return (moments[1][1] - moments[0][1]) / 1e6


def _ask(programs: Programs, path: str, body: bytes | None = None) -> Moments:
    url = programs.base_url.removesuffix("/v1") + path
    with urllib.request.urlopen(url, body, timeout=10) as response:  # noqa: S310 - our own server
        return [(cpu, at, size) for cpu, at, size in json.load(response) or ()]


Measure = Callable[[Programs], Iterator[Figure]]
GROUPS: dict[str, Measure] = {
    "start": start_figures,
    "request": request_figures,
    "turns": turn_figures,
    "wires": wire_figures,
    "sandbox": sandbox_figures,
    "batch": batch_figures,
    "wall": wall_figures,
    "codemode": codemode_figures,
}
