"""Commands that only look: validate, plan, tools, schema, export, models, doctor."""

from __future__ import annotations

import json

import jsonschema
import pytest

from tests.cases.turns import bash, say, turn
from tests.cli.calling import MODEL, SPEC, Desk
from tests.reports.html.pages import assert_safe


def test_validate_lists_every_mistake_with_its_place(desk: Desk) -> None:
    desk.write("all/a.yaml", "prompt: p\nbudget: {turns: 0}\nverfiy: [x]\n")
    desk.write("all/b.yaml", "prompt: '{{ inputs.x }}'\n")
    desk.write("all/c.yaml", SPEC)
    done = desk.call("validate", "all")
    assert done.code == 2
    assert done.lines == [
        "all/a.yaml:2: budget.turns: got 0, need >= 1",
        "all/a.yaml:3: verfiy: unknown key, did you mean 'verify'?",
        done.lines[2],
    ]
    assert done.lines[2].startswith("all/b.yaml:1: prompt: 'inputs.x' is not defined")
    assert not (desk.path / ".pi-batch").exists()


def test_validate_needs_neither_model_nor_inputs(desk: Desk) -> None:
    desk.write("task.yaml", "inputs: {x: {}}\nprompt: '{{ inputs.x }}'\n")
    done = desk.call("validate", "task.yaml")
    assert (done.code, done.out) == (0, "1 task, no problems\n")


def test_plan_shows_what_run_would_do(desk: Desk) -> None:
    words = ("task.yaml", *MODEL, "-m", "replay/b.jsonl", "--repeat", "2", "--max-turns", "7")
    done = desk.call("plan", *words)
    keys = [line.split()[0] for line in done.out.rstrip("\n").split("\n")]
    assert len(keys) == 4
    assert "turns 7" in done.out
    rows = json.loads(desk.call("plan", *words, "--json").out)
    assert [row["key"] for row in rows] == keys
    assert rows[0]["settings"]["budget.turns"] == {"value": 7, "source": "cli"}
    assert not (desk.path / ".pi-batch").exists()
    desk.record(say("done"), name="b.jsonl")
    desk.call("run", *words, "--output", "out")
    planned = json.loads((desk.path / "out/run.json").read_bytes())["planned"]
    assert [one["key"] for one in planned] == keys


def test_tools_are_those_that_a_model_gets(desk: Desk) -> None:
    names = ["read", "write", "edit", "bash", "grep", "find", "ls", "think", "codemode"]
    listed, scripts = desk.call("tools").out.rstrip("\n").split("\n\n")
    assert [line.split()[0] for line in listed.split("\n")] == names
    assert "  await tools.ls(path: str = '.', limit: int | None = None) -> list[str]" in scripts
    assert "codemode(" not in scripts
    rows = json.loads(desk.call("tools", "--json").out)
    assert [row["name"] for row in rows] == names
    for row in rows:
        jsonschema.Draft202012Validator.check_schema(row["parameters"])


@pytest.mark.parametrize("name", ["task", "suite", "result"])
def test_schemas_are_schemas(desk: Desk, name: str) -> None:
    jsonschema.Draft202012Validator.check_schema(json.loads(desk.call("schema", name).out))


def test_the_result_schema_fits_a_run(desk: Desk) -> None:
    desk.record(turn(bash("echo x > made.txt")), say("done"))
    desk.run()
    schema = json.loads(desk.call("schema", "result").out)
    jsonschema.validate(json.loads((desk.path / "out/run.json").read_bytes()), schema)


def test_the_task_schema_takes_a_spec_and_refuses_a_misspelt_one(desk: Desk) -> None:
    schema = json.loads(desk.call("schema", "task").out)
    jsonschema.validate({"prompt": "p", "verify": ["true"], "budget": {"turns": 3}}, schema)
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate({"prompt": "p", "verfiy": ["true"]}, schema)


def test_a_session_can_be_read_as_text(desk: Desk) -> None:
    desk.record(turn(bash("echo look"), text="I will\x1b[31m look"), say("Ünd done"))
    desk.run()
    session = "out/tasks/task/session.jsonl"
    shown = desk.call("export", session)
    assert shown.code == 0
    for text in ("Go.", "echo look", "Ünd done"):
        assert text in shown.out
    assert "\x1b" not in shown.out
    assert desk.call("export", session, "deep.txt").out == ""
    assert (desk.path / "deep.txt").read_text(encoding="utf-8") == shown.out
    unwritable = desk.call("export", session, "task.yaml/x")
    assert unwritable.code == 3
    assert "cannot be written" in unwritable.err


def test_a_session_becomes_a_page_with_the_verdict_of_its_run(desk: Desk) -> None:
    desk.record(turn(bash("echo look"), text="I will look"), say("Done <b>"))
    desk.run()
    session = "out/tasks/task/session.jsonl"
    assert desk.call("export", session, "page.html").out == ""
    page = assert_safe((desk.path / "page.html").read_text(encoding="utf-8"))
    for text in ("Go.", "echo look", "Done <b>", "passed", "Sandbox"):
        assert text in page.text
    alone = desk.write("alone.jsonl", (desk.path / session).read_text(encoding="utf-8"))
    shown = desk.call("export", str(alone), "--format", "html").out
    assert "Sandbox" not in assert_safe(shown).text
    desk.write("events.jsonl", "no log")
    moved = desk.write("tasks/x/session.jsonl", alone.read_text(encoding="utf-8"))
    assert desk.call("export", str(moved), "-", "--format", "html").out == shown


def test_the_form_of_an_export_is_the_file_s_or_what_is_asked_for(desk: Desk) -> None:
    forms = {"a.HTML": "<!doctype", "a": "<!doctype", "a.txt": "session ", "a.log": "session "}
    for name, beginning in forms.items():
        assert desk.call("export", "session.jsonl", name).code == 0
        assert (desk.path / name).read_text(encoding="utf-8").startswith(beginning)
    desk.call("export", "session.jsonl", "b.html", "--format", "text")
    assert (desk.path / "b.html").read_text(encoding="utf-8").startswith("session ")
    before = (desk.path / "session.jsonl").read_bytes()
    refused = desk.call("export", "session.jsonl", "./session.jsonl")
    assert (refused.code, "is the session itself" in refused.err) == (2, True)
    assert (desk.path / "session.jsonl").read_bytes() == before


def test_doctor_says_what_is_there(desk: Desk) -> None:
    done = desk.call("doctor")
    assert done.code == 0
    states = {line.split()[1].rstrip(":"): line.split()[0] for line in done.out.rstrip("\n").split("\n")}
    assert states["git"] == states["bash"] == states["pi-batch"] == "ok"
    assert states["sandbox"] in ("ok", "note")


def test_doctor_says_what_is_missing(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(desk.path))
    done = desk.call("doctor")
    assert done.code == 3
    assert "missing  git: not on PATH" in done.out
    assert "missing  bash: not on PATH" in done.out


def test_doctor_names_a_broken_config(desk: Desk) -> None:
    desk.write(".pi-batch.toml", "modell = 'x'\n")
    done = desk.call("doctor")
    assert done.code == 2
    assert "modell" in done.err


def test_an_export_hides_the_secrets_of_this_environment_and_says_so(desk: Desk) -> None:
    desk.record(say("it is hunter2-hunter2, in hex 68756e746572322d68756e74657232"))
    desk.setenv("MY_API_KEY", "hunter2-hunter2")
    shown = desk.call("export", "session.jsonl")
    desk.call("export", "session.jsonl", "page.html")
    page = (desk.path / "page.html").read_text(encoding="utf-8")
    assert "it is ***, in hex ***" in shown.out
    assert "secrets of this environment" in shown.err
    assert "hunter2" not in page
    assert "68756e" not in page
