"""The table of `pi-batch suite check`."""

from __future__ import annotations

from pi_batch.reports.proof import render_proof
from pi_batch.suite_proof import SuiteProof, TaskProof, TrialProof

RIGHT = TrialProof("oracle", "passed", ("passed",))
TRIALS = (
    RIGHT,
    TrialProof("oracle/alternatives/a", "passed", ("passed",)),
    TrialProof("oracle/mistakes/m", "failed", ("failed",)),
    TrialProof("nop", "failed", ("failed",)),
    TrialProof("tamper/x", "failed", ("passed",), "passed, need failed (green)"),
    TrialProof("tamper/y", "failed", ("failed",)),
)


def proof(*tasks: TaskProof) -> SuiteProof:
    return SuiteProof("small", "7", False, False, "bwrap", tasks, 2.04)


def test_each_task_is_a_line_and_what_is_wrong_stands_below() -> None:
    broken = TaskProof("one", "", ("easy",), "0123456789abcdef", TRIALS, ("tamper/x: passed",), 1.26)
    plain = TaskProof("longer-name", "", (), "f" * 64, (RIGHT,), (), 0.5)
    assert render_proof(proof(broken, plain)).split("\n") == [
        "    task         tags  digest        solutions  nop  mistakes  cheats   time",
        "no  one          easy  0123456789ab        2/2  1/1       1/1     1/2  1.3 s",
        "ok  longer-name        ffffffffffff        1/1  0/0         -     0/0  0.5 s",
        "",
        "one: tamper/x: passed",
        "",
        "small edition 7: 1 of 2 tasks proven · 7 trials · 2.0 s · sandbox bwrap",
        "",
    ]


def test_foreign_text_stays_on_its_line() -> None:
    hostile = TaskProof("a\nb", "", ("x\x1b[31m",), "", (), ("bad\n::error::x",), 0.0)
    lines = render_proof(proof(hostile)).split("\n")
    assert len(lines) == 7
    assert "\x1b" not in "".join(lines)
