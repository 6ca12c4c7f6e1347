"""Tables of what calls must come to: many rows in one run, every row that does not hold named."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from tests.cases.project import Project, Ran, Result
from tests.cases.turns import Call, Turn


@dataclass(frozen=True)
class Want:
    """What one call's result must be; what is left out is not looked at."""

    has: tuple[str, ...] = ()
    hasnt: tuple[str, ...] = ()
    like: str = ""
    """A pattern that is found, whatever the case."""
    unlike: str = ""
    is_error: bool | None = None
    max_s: float = 30.0
    max_bytes: int = 100_000
    min_bytes: int = 1

    def problems(self, result: Result) -> Iterator[str]:
        """What does not hold."""
        size = len(result.text.encode("utf-8"))
        yield from (f"lacks {text!r}" for text in self.has if text not in result.text)
        yield from (f"holds {text!r}" for text in self.hasnt if text in result.text)
        if self.like and not re.search(self.like, result.text, re.IGNORECASE):
            yield f"is not like {self.like!r}"
        if self.unlike and re.search(self.unlike, result.text, re.IGNORECASE):
            yield f"is like {self.unlike!r}"
        if self.is_error not in (None, result.is_error):
            yield "is an error" if result.is_error else "is no error"
        if result.duration_s > self.max_s:
            yield f"took {result.duration_s} s"
        if not self.min_bytes <= size <= self.max_bytes:
            yield f"has {size} bytes"


def ok(*has: str, hasnt: Sequence[str] = (), like: str = "", max_s: float = 30.0) -> Want:
    """A result that is no error."""
    return Want(has, tuple(hasnt), like, is_error=False, max_s=max_s)


def bad(*has: str, like: str = "", max_s: float = 30.0) -> Want:
    """A result that is an error."""
    return Want(has, (), like, is_error=True, max_s=max_s)


@dataclass(frozen=True)
class Row:
    """A sentence, calls one after the other, and what each must come to."""

    what: str
    calls: tuple[Call, ...]
    wants: tuple[Want, ...]
    files: Mapping[str, bytes] = field(default_factory=dict)
    """Before."""
    setup: str = ""
    """A command before, in the project."""
    after: Mapping[str, bytes | None] = field(default_factory=dict)
    """What files hold afterwards; None: there is no such file."""
    check: str = ""
    """A command that must succeed afterwards, in the project."""


def row(what: str, first: Call, want: Want, *, after: Mapping[str, bytes | None] | None = None) -> Row:
    """A row of one call."""
    return Row(what, (first,), (want,), after=after or {})


def run_rows(
    project: Project,
    rows: Sequence[Row],
    *,
    at_once: bool = False,
    env: Mapping[str, str] | None = None,
    sandbox: str = "auto",
) -> Ran:
    """Run all rows in one task: a turn for each call, or with `at_once` a turn for all first calls."""
    for each in rows:
        project.put(each.files)
        if each.setup:
            project.shell(each.setup)
    turns = [Turn(tuple(one for _row, one in calls)) for calls in _schedule(rows, at_once=at_once)]
    return project.run(*turns, env=env, budget={"turns": len(turns) + 1}, sandbox=sandbox)


def problems(project: Project, rows: Sequence[Row], ran: Ran, *, at_once: bool = False) -> list[str]:
    """Everything that does not hold, one line each; empty when all does."""
    found = [] if ran.exit_code == 0 else [f"exit code {ran.exit_code}: {ran.reason}\n{ran.stderr}"]
    wants = {id(each): iter(each.wants) for each in rows}
    for number, calls in enumerate(_schedule(rows, at_once=at_once)):
        for index, (each, _call) in enumerate(calls):
            result = ran.call(number, index)
            complaints = next(wants[id(each)]).problems(result)
            found += [f"{each.what}: the result {why}: {result.text[:400]!r}" for why in complaints]
    for each in rows:
        found += [f"{each.what}: {why}" for why in _files(project, each)]
    return found


def _schedule(rows: Sequence[Row], *, at_once: bool) -> list[list[tuple[Row, Call]]]:
    if not at_once:
        return [[(each, one)] for each in rows for one in each.calls]
    rounds = range(max(len(each.calls) for each in rows))
    return [[(each, each.calls[n]) for each in rows if n < len(each.calls)] for n in rounds]


def _files(project: Project, each: Row) -> Iterator[str]:
    for name, content in each.after.items():
        path = project.root / name
        found = path.read_bytes() if path.is_file() else None
        if found != content:
            yield f"{name} holds {found!r}, not {content!r}"
    if each.check:
        done = project.shell(each.check, check=False)
        if done.returncode != 0:
            yield f"{each.check!r} exits with {done.returncode}: {done.stdout}{done.stderr}"


def check_rows(
    project: Project,
    rows: Sequence[Row],
    *,
    at_once: bool = False,
    env: Mapping[str, str] | None = None,
    sandbox: str = "auto",
) -> Ran:
    """Run all rows; every one holds."""
    ran = run_rows(project, rows, at_once=at_once, env=env, sandbox=sandbox)
    found = problems(project, rows, ran, at_once=at_once)
    assert not found, "\n".join(found)
    return ran
