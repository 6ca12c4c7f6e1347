"""Many tasks at once: each is as if it were alone."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest

from tests.cases.project import BASE, Project
from tests.cases.turns import bash, call, turn, write
from tests.living import NAP, living

pytestmark = pytest.mark.slow

STRAYS = f"setsid -f sleep {NAP}.1; (sleep {NAP}.2 &); seq 1 20000"


def test_tasks_at_once_do_not_meet(project: Project) -> None:
    """Each starts daemons, runs into a time limit and is judged beside the others."""
    project.shell(BASE)
    said = turn(
        bash(STRAYS),
        bash(f"sleep {NAP}.3", timeout=0.4),
        call("grep", pattern="base"),
        bash("echo $$ > own.txt; sleep 0.1; cat own.txt"),
        write("made.txt", "x"),
    )
    spec: dict[str, Any] = {"verify": [f"grep -qx x made.txt; sleep {NAP}.4 & true"]}
    specs = {f"t{number:02d}": {**spec, "isolation": ("clone", "copy")[number % 2]} for number in range(40)}
    ran = project.run_all(specs, said, jobs=8)
    reasons = Counter((result["outcome"], result["reason"]) for result in ran.results.values())
    assert reasons == {("passed", "1 of 1 check passed"): 40}
    assert {tuple(file["path"] for file in result["changed_files"]) for result in ran.results.values()} == {
        ("made.txt", "own.txt")
    }
    assert not living(f"sleep {NAP}.")
    assert ran.max_rss_mib < 400


def test_hundreds_of_tasks_end_alike(project: Project) -> None:
    path = project.write_spec()
    project.run(turn(bash("echo hi")))
    ran = project.start("run", path.name, "-m", "replay/model.jsonl", "--repeat", "200", "--jobs", "6")
    assert ran.exit_code == 0
    assert ran.report["totals"]["passed"] == 200
    assert ran.junit_count("testcase") == 200
