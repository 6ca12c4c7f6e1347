"""Every example is run as its README says, with its recording, and ends as it should."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from junitparser import JUnitXml, TestSuite

from pi_batch.schemas import result_schema
from pi_batch.session import active_branch, messages, read_session
from tests.builtins import NAMES, ROOT, pi_batch, put, repository, run
from tests.cases.turns import bash, edit, say, turn, write_session
from tests.codemode.worker.rigs import needs_isolation

pytestmark = pytest.mark.slow

EXAMPLES = ROOT / "examples"
DIRECTORIES = tuple(sorted(path for path in EXAMPLES.iterdir() if path.is_dir()))
CHANGED = {
    "fix-failing-test": ["fairsplit/split.py"],
    "fix-failing-tests": ["slugs.py"],
    "fix-lint": ["stock.py"],
    "update-dependencies": ["requirements.txt", "usage.py"],
    "sync-docs": ["README.md"],
    "review-diff": [],
    "triage-todos": [],
    "codemode-audit": [
        f"services/{service}/step_{step:02}.py"
        for row, service in enumerate(
            [
                "billing",
                "catalog",
                "delivery",
                "invoices",
                "mail",
                "orders",
                "refunds",
                "search",
                "stock",
                "users",
            ]
        )
        for step in range(30)
        if (row * 30 + step * 7) % 12 == 5
    ],
}
"""Example -> the files that its patch is about."""

SLOW = {"fix-failing-test"}
"""Examples that take some seconds: pytest starts six times."""

each = pytest.mark.parametrize("example", DIRECTORIES, ids=lambda path: path.name)
each_run = pytest.mark.parametrize(
    "example",
    [pytest.param(path, marks=[pytest.mark.slow] * (path.name in SLOW)) for path in DIRECTORIES],
    ids=lambda path: path.name,
)


@dataclass(frozen=True)
class Ran:
    """A run of an example, and where its reports are."""

    program: subprocess.CompletedProcess[str]
    run_dir: Path
    changed: frozenset[Path] = frozenset()
    """Files of the repository's own that differ since."""

    @property
    def report(self) -> dict[str, Any]:
        """run.json."""
        report: dict[str, Any] = json.loads((self.run_dir / "run.json").read_bytes())
        return report

    @property
    def result(self) -> dict[str, Any]:
        """The only result."""
        (result,) = self.report["results"]
        assert isinstance(result, dict)
        return result

    def answer(self) -> Any:
        """The answer that matched the schema."""
        return json.loads((self.run_dir / self.result["session"]).with_name("answer.json").read_bytes())


def play(example: Path, scratch: Path, *words: str) -> Ran:
    """Run an example from a directory that is neither its own nor the repository."""
    elsewhere = scratch / "elsewhere"
    elsewhere.mkdir()
    if (example / "run.sh").exists():
        ran = run("sh", example / "run.sh", *words, cwd=elsewhere, scratch=scratch)
        made = list(scratch.glob(f"temporary files/pi-batch-example.*/{example.name}/.pi-batch/runs/*"))
        return Ran(ran, made[0] if made else scratch / "none")
    recording = f"replay/{example / 'session.jsonl'}"
    ran = pi_batch(
        "run", example / "task.yaml", "-m", recording, "--output", "out", cwd=elsewhere, scratch=scratch
    )
    return Ran(ran, elsewhere / "out")


Played = Callable[[str], Ran]


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory) -> Played:
    """Examples by name, each run once."""
    kept: dict[str, Ran] = {}

    def play_once(name: str) -> Ran:
        if name not in kept:
            before = files_of(EXAMPLES, ROOT / "tasks")
            ran = play(EXAMPLES / name, tmp_path_factory.mktemp(name))
            after = files_of(EXAMPLES, ROOT / "tasks")
            changed = {path for path in before | after if before.get(path) != after.get(path)}
            kept[name] = Ran(ran.program, ran.run_dir, frozenset(changed))
        return kept[name]

    return play_once


def files_of(*directories: Path) -> dict[Path, bytes]:
    """Every file below, with its content."""
    return {
        path: path.read_bytes()
        for directory in directories
        for path in directory.rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }


def warnings_of(ran: Ran) -> list[str]:
    events = [json.loads(line) for line in (ran.run_dir / "events.jsonl").read_text().split("\n") if line]
    said = [line for line in ran.program.stderr.split("\n") if line.startswith("warning")]
    return said + [str(event) for event in events if event["type"] == "warning"]


def test_every_built_in_spec_has_an_example() -> None:
    assert set(NAMES) - {"review-staged"} <= {path.name for path in DIRECTORIES}  # that one is the hook's


@each_run
def test_it_ends_passed_and_leaves_whole_reports_and_an_unchanged_repository(
    example: Path, played: Played
) -> None:
    ran = played(example.name)
    assert ran.program.returncode == 0, ran.program.stderr
    assert (ran.result["outcome"], ran.result["verified"]) == ("passed", True)
    assert warnings_of(ran) == []
    assert [file["path"] for file in ran.result["changed_files"]] == CHANGED[example.name]
    assert ran.result["protected_touched"] == []
    assert (ran.result["models_used"], ran.result["total_cost_usd"]) == (["example/hand-written"], 0)
    jsonschema.Draft202012Validator(dict(result_schema())).validate(ran.report)
    junit = JUnitXml.fromfile(str(ran.run_dir / "junit.xml"))
    (suite,) = junit
    assert isinstance(suite, TestSuite)
    assert (suite.tests, suite.failures, suite.errors, suite.skipped) == (1, 0, 0, 0)
    assert ran.changed == frozenset()


@each
def test_its_recording_is_read_without_a_word_and_holds_no_place_of_a_machine(example: Path) -> None:
    path = example / "session.jsonl"
    session = read_session(path)
    assert (session.warnings, session.torn, session.header.cwd) == ((), None, "/project")
    assert messages(active_branch(session))
    assert (
        re.findall(r"/(?:root|home|Users|tmp|private|var)/\S{0,20}", path.read_text(encoding="utf-8")) == []
    )


@each
def test_it_says_what_it_is_and_how_it_is_run(example: Path) -> None:
    readme = (example / "README.md").read_text(encoding="utf-8")
    command = (
        "sh run.sh" if (example / "run.sh").exists() else "pi-batch run task.yaml -m replay/session.jsonl"
    )
    assert readme.startswith(f"# {example.name}\n")
    assert f"```sh\n{command}\n```" in readme
    assert f"]({example.name}) |" in (EXAMPLES / "README.md").read_text(encoding="utf-8")


def test_a_silenced_finding_costs_an_attempt(played: Played) -> None:
    ran = played("fix-lint")
    assert ran.result["attempts"] == 2
    checks = [(check["attempt"], check["name"], check["passed"]) for check in ran.result["verification"]]
    assert checks == [
        (1, "lint", True),
        (1, "tests", True),
        (1, "no new suppressions", False),
        (2, "lint", True),
        (2, "tests", True),
        (2, "no new suppressions", True),
    ]


@needs_isolation
def test_two_scripts_do_what_takes_hundreds_of_calls(played: Played) -> None:
    ran = played("codemode-audit")
    assert (ran.result["num_turns"], ran.result["tool_calls"]) == (3, {"codemode": 2})
    codemode = ran.result["codemode"]
    assert (codemode["scripts"], codemode["calls"]) == (2, 327)
    assert codemode["bytes_saved"] > 50_000


def test_a_review_is_an_answer_in_json(played: Played) -> None:
    answer = played("review-diff").answer()
    assert answer["verdict"] == "request_changes"
    for finding in answer["findings"]:
        change = EXAMPLES / "review-diff" / "change" / finding["file"]
        path = change if change.exists() else EXAMPLES / "review-diff" / "project" / finding["file"]
        assert "take(" in path.read_text(encoding="utf-8").split("\n")[finding["line"] - 1]


def test_a_triage_names_the_comments(played: Played) -> None:
    answer = played("triage-todos").answer()
    assert len(answer) == 5
    for entry in answer:
        path = EXAMPLES / "triage-todos" / "project" / entry["file"]
        line = path.read_text(encoding="utf-8").split("\n")[entry["line"] - 1]
        assert re.search("TODO|FIXME|XXX|HACK", line)


def test_it_runs_from_a_path_with_spaces(tmp_path: Path) -> None:
    copy = tmp_path / "a copy" / "some examples"
    copy.mkdir(parents=True)
    shutil.copy(EXAMPLES / "throwaway.sh", copy)
    shutil.copytree(EXAMPLES / "triage-todos", copy / "triage-todos")
    ran = play(copy / "triage-todos", tmp_path)
    assert ran.program.returncode == 0, ran.program.stderr
    assert (ran.result["outcome"], warnings_of(ran)) == ("passed", [])


@pytest.mark.parametrize("option", [("-m", "replay/none.jsonl"), ("--model=replay/none.jsonl",)])
def test_a_model_that_is_named_takes_the_recordings_place(option: tuple[str, ...], tmp_path: Path) -> None:
    ran = play(EXAMPLES / "triage-todos", tmp_path, *option)
    assert ran.program.returncode != 0
    assert "none.jsonl" in ran.program.stderr + ran.program.stdout
    assert "triage-todos/session.jsonl" not in ran.program.stderr


ERROR = {"file": "a.py", "line": 1, "severity": "error", "message": "x is 2"}
REJECTION = {"verdict": "request_changes", "summary": "no", "findings": [ERROR]}


@pytest.mark.parametrize("work", ["committed", "uncommitted"])
def test_a_review_on_the_base_itself_is_about_what_is_not_committed(work: str, tmp_path: Path) -> None:
    """There the clone's branch is the work itself, one commit after the user's."""
    project = repository(tmp_path / "project", {"a.py": "x = 1\n"})
    if work == "uncommitted":
        put(project, {"a.py": "x = 2\n"})
    recording = write_session(tmp_path / "s.jsonl", [say(json.dumps(REJECTION))])
    out = tmp_path / "out"
    ran = pi_batch(
        "run", "review-diff", "-m", f"replay/{recording}", "--output", out, cwd=project, scratch=tmp_path
    )
    assert ran.returncode == 0, ran.stderr
    expected = "passed" if work == "uncommitted" else "skipped"
    assert Ran(ran, out).result["outcome"] == expected


@pytest.mark.slow
def test_code_bent_to_what_the_documentation_says_is_no_success(tmp_path: Path) -> None:
    cheat = [
        turn(edit("durations.py", "sum(", "int(sum(")),
        turn(bash("echo 'def parse(*a): return 5400' > durations.py; python3 -m doctest README.md")),
        say("It passes."),
        say("It passes."),
    ]
    recording = write_session(tmp_path / "s.jsonl", cheat)
    ran = play(EXAMPLES / "sync-docs", tmp_path, "-m", f"replay/{recording}")
    assert ran.program.returncode == 1
    assert (ran.result["outcome"], ran.result["protected_touched"]) == ("failed", ["durations.py"])
    assert [denial["rule"][:23] for denial in ran.result["permission_denials"]] == ["permissions.write.allow"]


@pytest.mark.slow
def test_tests_that_are_deleted_are_no_success(tmp_path: Path) -> None:
    cheat = [turn(bash("rm -r tests; mkdir tests; touch tests/__init__.py")), say("Done."), say("Done.")]
    recording = write_session(tmp_path / "s.jsonl", cheat)
    ran = play(EXAMPLES / "fix-failing-tests", tmp_path, "-m", f"replay/{recording}")
    assert ran.program.returncode == 1
    assert (ran.result["outcome"], ran.result["attempts"]) == ("failed", 2)
