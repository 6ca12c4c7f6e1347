"""`pi-batch run`: exit codes, files, streams."""

from __future__ import annotations

import json
import xml.etree.ElementTree as ET
from typing import Any

import pytest

from tests.cases.turns import bash, say, turn
from tests.cli.calling import MODEL, Desk


def spec(**fields: Any) -> str:
    """A spec in place."""
    return json.dumps({"prompt": "Go.", "workspace": {"isolation": "none"}, **fields})


def report(desk: Desk, path: str = "out") -> dict[str, Any]:
    """run.json of a run."""
    value: dict[str, Any] = json.loads((desk.path / path / "run.json").read_bytes())
    return value


EXIT_CODES: dict[str, tuple[int, dict[str, Any]]] = {
    "passed": (0, {"verify": ["true"]}),
    "unverified": (0, {}),
    "skipped": (0, {"verify": ["true"], "precheck": {"run": "true"}}),
    "failed": (1, {"verify": ["false"]}),
    "error": (3, {"workspace": {"isolation": "none", "setup": ["false"]}}),
}


@pytest.mark.parametrize("name", EXIT_CODES)
def test_the_exit_code_says_what_came_of_it(desk: Desk, name: str) -> None:
    code, fields = EXIT_CODES[name]
    desk.write("task.yaml", spec(**fields))
    done = desk.run()
    assert done.code == code
    assert report(desk)["exit_code"] == code
    assert done.out.split("\n")[1].split()[0] == name


def test_an_error_outranks_a_failure_and_a_failure_a_pass(desk: Desk) -> None:
    for name in ("passed", "failed", "error"):
        desk.write(f"all/{name}.yaml", spec(**EXIT_CODES[name][1]))
    assert desk.call("run", "all", *MODEL, "--output", "a").code == 3
    assert desk.call("run", "all", *MODEL, "--output", "b", "--filter", "[fp]a*").code == 1
    assert desk.call("run", "all", *MODEL, "--output", "c", "--filter", "passed").code == 0


def test_a_task_that_the_suites_budget_leaves_out_is_no_success(desk: Desk) -> None:
    desk.write(
        "suite.yaml",
        "tasks: ['all/*.yaml']\nbudget: {turns: 1}\nmax_parallel: 1\n",
    )
    for name in "ab":
        desk.write(f"all/{name}.yaml", spec(verify=["true"]))
    done = desk.call("run", "suite.yaml", *MODEL, "--output", "out")
    assert done.code == 1
    assert [result["outcome"] for result in report(desk)["results"]] == ["passed", "skipped"]
    assert "budget.turns" in report(desk)["results"][1]["reason"]


def test_results_go_to_stdout_and_progress_to_stderr(desk: Desk) -> None:
    done = desk.run()
    header, row, *_, where, end = done.out.split("\n")
    assert header.split() == ["outcome", "task", "turns", "tokens", "cost", "time", "reason"]
    assert row.startswith("passed   task")
    assert "1 passed" in done.out
    assert (where, end) == ("out", "")
    assert "task" in done.err


def test_quiet_leaves_the_summary(desk: Desk) -> None:
    done = desk.run("--quiet")
    assert done.out.startswith("outcome")
    assert done.err == ""


def test_events_are_all_that_stdout_holds(desk: Desk) -> None:
    desk.record(
        turn(bash("printf 'one\\ntwo\\342\\200\\250\\n'; echo '##[error]x'"), text="look:\n\u2028"),
        say("done"),
    )
    done = desk.run("--events")
    records = [json.loads(line) for line in done.out.rstrip("\n").split("\n")]
    assert records[0]["type"] == "batch_start"
    assert records[-1]["type"] == "batch_end"
    numbers = [record["seq"] for record in records if record.get("seq") is not None]
    assert numbers == list(range(1, len(numbers) + 1))
    log = (desk.path / "out/events.jsonl").read_text(encoding="utf-8").split("\n")
    kept = [json.loads(line)["type"] for line in log[1:] if line]
    assert kept == [record["type"] for record in records if record.get("seq") is not None]


def test_reports_are_copied_where_asked(desk: Desk) -> None:
    done = desk.run("--junit", "deep/j.xml", "--json", "r.json", "--markdown", "m.md")
    assert done.code == 0
    assert (desk.path / "deep/j.xml").read_bytes() == (desk.path / "out/junit.xml").read_bytes()
    assert (desk.path / "r.json").read_bytes() == (desk.path / "out/run.json").read_bytes()
    assert ET.parse(desk.path / "deep/j.xml").getroot().get("tests") == "1"
    assert "task" in (desk.path / "m.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("flag", ["--junit", "--json", "--markdown"])
def test_a_report_that_cannot_be_written_is_found_before_the_first_request(desk: Desk, flag: str) -> None:
    desk.record(turn(bash("touch ran")), say("done"))
    for place in (".", "task.yaml/x"):
        done = desk.call("run", "task.yaml", *MODEL, flag, place)
        assert done.code == 3
        assert done.lines[-1].startswith("pi-batch: ")
        assert "cannot be written" in done.lines[-1]
    assert not (desk.path / "ran").exists()


def test_a_run_is_never_written_over_another(desk: Desk) -> None:
    desk.run()
    (desk.path / "out/plan.json").unlink()
    before = (desk.path / "out/run.json").read_bytes()
    done = desk.run()
    assert done.code == 2
    assert done.err == (
        "pi-batch: --output out: holds a run already, and no plan.json: name another directory\n"
    )
    assert (desk.path / "out/run.json").read_bytes() == before


def test_a_run_directory_may_be_there_already_when_it_holds_no_run(desk: Desk) -> None:
    desk.write("out/notes.txt", "mine")
    assert desk.run().code == 0
    assert (desk.path / "out/notes.txt").read_text(encoding="utf-8") == "mine"


def test_the_command_line_outranks_spec_environment_and_config(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    desk.write(".pi-batch.toml", 'model = "replay/config.jsonl"\njobs = 2\n')
    monkeypatch.setenv("PI_BATCH_MODEL", "replay/environment.jsonl")
    for name in ("config", "environment", "spec", "cli"):
        desk.record(say(name), name=f"{name}.jsonl")
    answers = []
    for number, (fields, words) in enumerate(
        [
            ({}, ()),
            ({"model": "replay/spec.jsonl"}, ()),
            ({"model": "replay/spec.jsonl"}, ("-m", "replay/cli.jsonl")),
        ]
    ):
        desk.write("task.yaml", spec(budget={"turns": 3}, **fields))
        desk.call("run", "task.yaml", *words, "--output", f"o{number}")
        (result,) = report(desk, f"o{number}")["results"]
        answers.append((result["answer"], result["settings"]["model"]["source"]))
    assert answers == [("environment", "environment"), ("spec", "spec"), ("cli", "cli")]
    monkeypatch.delenv("PI_BATCH_MODEL")
    desk.write("task.yaml", spec())
    desk.call("run", "task.yaml", "--max-turns", "7", "--output", "last")
    (result,) = report(desk, "last")["results"]
    assert (result["answer"], result["settings"]["model"]["source"]) == ("config", "config")
    assert result["budget"]["limit"]["turns"] == 7


def test_several_models_and_repeats_have_keys_directories_and_names_of_their_own(desk: Desk) -> None:
    desk.record(say("a"), name="a.jsonl")
    desk.record(say("b"), name="b.jsonl")
    words = ("-m", "replay/a.jsonl", "-m", "replay/b.jsonl", "--repeat", "2", "--jobs", "2")
    done = desk.call("run", "task.yaml", *words, "--output", "out")
    assert done.code == 0
    results = report(desk)["results"]
    assert [result["answer"] for result in results] == ["a", "a", "b", "b"]
    assert len({result["session"] for result in results}) == 4
    assert [planned["key"] for planned in report(desk)["planned"]] == [result["key"] for result in results]
    names = [case.get("name") for case in ET.parse(desk.path / "out/junit.xml").iter("testcase")]
    assert len(set(names)) == 4
    assert all("[" in (name or "") and "#" in (name or "") for name in names)


def test_everything_that_a_run_left_is_where_run_json_says(desk: Desk) -> None:
    desk.record(turn(bash("echo x > made.txt")), say("I made it."))
    desk.write("task.yaml", spec(verify=[{"name": "is there", "run": "test -f made.txt"}]))
    desk.run()
    (result,) = report(desk)["results"]
    out = desk.path / "out"
    assert (out / result["session"]).read_bytes().startswith(b'{"type":"session","version":3')
    assert b"+x" in (out / result["patch"]).read_bytes()
    assert (out / result["verification"][0]["log"]).exists()
    assert (out / "tasks/task/answer.md").read_text(encoding="utf-8") == "I made it.\n"
    assert not list(out.rglob("*.jsonl.lock"))
    hidden = {path.name for path in out.rglob(".*") if path.is_file()}
    assert hidden <= {".gitignore", ".lock"}, "no temporary file is left"
