"""Batches that the report tests render: one of everything, and one of hostile text."""

from __future__ import annotations

from pi_batch.events import Warned
from pi_batch.fold import fold
from pi_batch.results import (
    BatchResult,
    BudgetAmounts,
    ChangedFile,
    PermissionDenial,
    RunError,
)
from tests.streams import Stream, planned

HOSTILE = (
    "bad \x1b[31m red \x01 \x0b \x00 \ud800 \ufffe ]]> & < > </system-out> <!-- \u202egpj.exe\u202c\n"
    "```\n# H1-INJECTED\n| cell | @everyone <img src=x onerror=alert(1)>\n"
    "::error file=x::EVIL\n  ::add-mask::EVIL\r::warning::EVIL\nabc ##[error]EVIL\n\u2028## two\ntail-x"
)

LOGS = {
    "tasks/red/verify-1-tests.log": "collected 3 items\nfirst-line\nsecond-line\n1 failed, 2 passed",
    "tasks/red/verify-1-lint.log": "a.py:1: E501 line too long",
}


def read_log(name: str) -> str:
    """The logs of `one_of_everything`."""
    return LOGS.get(name, "")


def one_of_everything() -> BatchResult:
    """Every outcome, with and without checks, retried, resumed by feedback, denied, starved, missing."""
    stream = Stream(
        planned("green", title="Grün & gut", suite="nightly", tags=("fast",)),
        planned("green-model", task_id="green", suite="nightly", model="openai/gpt-6", shows_model=True),
        planned("red", suite="nightly", spec="tasks/red.yaml", inputs={"n": 3, "s": "x"}),
        planned("second", task_id="twice", suite="twice", repeat=2, shows_repeat=True),
        *("prose", "limit", "cut", "setup", "skipped", "starved", "never"),
    )
    stream.add(None, Warned("sandbox: none: nothing is isolated"))
    stream.start("green", has_checks=True).agent("green").check("green").end("green")
    stream.start("green-model", has_checks=True).agent("green-model", "max_turns").check("green-model")
    stream.end("green-model", used=BudgetAmounts(turns=50, tokens=120, cost_usd=0.25))
    red(stream)
    stream.start("second", has_checks=True).agent("second").check("second", passed=False)
    stream.agent("second", attempt=2, answer="now it works").check("second", attempt=2).end("second")
    stream.start("prose").agent("prose", answer="A summary.\nOf two lines.").end("prose")
    stream.start("limit", limit=BudgetAmounts(turns=5)).agent("limit", "max_turns", answer=None).end("limit")
    length = RunError("length", "the final reply was cut at 4096 tokens")
    stream.start("cut").agent("cut", "model_error", answer="half a", error=length).end("cut")
    stream.start("setup").end("setup", error=RunError("setup", "pip install -e .: exit code 1"))
    stream.start("skipped").end("skipped", skip_reason="precheck passes: there is nothing to do")
    stream.end("starved", skip_reason="not started: the suite's budget.cost_usd is used up", is_starved=True)
    return fold(stream.finish(143).records)


def red(stream: Stream) -> None:
    """Two failing checks of three, a denied call, changes of each kind."""
    denial = PermissionDenial("write", "call_9", {"path": "tests/test_a.py"}, "write.deny: tests/**")
    stream.start("red", has_checks=True).call("red", "bash").call(
        "red", "write", error_kind="denied", denial=denial
    )
    stream.agent("red", answer="Fixed.").add("red", Warned("the recording's result of call_2 differs"))
    stream.check("red", "tests", passed=False, log="tasks/red/verify-1-tests.log")
    stream.check("red", "build").check("red", "lint", passed=False, log="tasks/red/verify-1-lint.log")
    stream.end(
        "red",
        changed_files=(
            ChangedFile("src/a.py", "modified", 3, 1),
            ChangedFile("new.py", "renamed", 0, 0, "old.py"),
            ChangedFile("logo.png", "added", None, None),
        ),
        protected_touched=("tests/test_a.py",),
        patch="tasks/red/changes.patch",
    )


def hostile(text: str = HOSTILE) -> BatchResult:
    """A failed, an erroneous, a skipped and a passed task, foreign text wherever it can stand."""
    identity = {
        "title": text,
        "suite": text,
        "model": text,
        "spec": f"tasks/{text}.yaml",
        "shows_model": True,
    }
    stream = Stream(
        *(planned(f"{text}-{key}", **identity) for key in ("failed", "error", "skipped", "passed"))
    )
    stream.add(None, Warned(text))
    failed, error, skipped, passed = (f"{text}-{key}" for key in ("failed", "error", "skipped", "passed"))
    stream.start(failed, has_checks=True).agent(failed, answer=text).add(failed, Warned(text))
    denial = PermissionDenial(text, text, {text: text}, text)
    stream.call(failed, text, error_kind="denied", denial=denial)
    stream.check(failed, text, passed=False, log=text, message=text)
    stream.end(
        failed,
        changed_files=(ChangedFile(text, "renamed", 1, 1, text),),
        protected_touched=(text,),
        patch=text,
        structured_output={text: [text]},
    )
    stream.start(error).agent(error, answer=text).end(error, error=RunError("internal", text))
    stream.start(skipped).end(skipped, skip_reason=text)
    stream.start(passed).agent(passed, answer=text).end(passed)
    return fold(stream.finish().records)


def many(count: int, answer: str = "é" * 40_000) -> BatchResult:
    """`count` failing tasks with a long answer each."""
    keys = [f"task-{number}" for number in range(count)]
    stream = Stream(*keys)
    for key in keys:
        stream.start(key, has_checks=True).agent(key, answer=answer)
        stream.check(key, passed=False, log=f"tasks/{key}/verify.log").end(key)
    return fold(stream.finish().records)
