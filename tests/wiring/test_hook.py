"""`pi-batch hook`: what is staged, judged once."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.cases.turns import Turn, call, say, turn
from tests.cli.calling import Called, Desk
from tests.cli.conftest import desk as desk  # noqa: PLC0414 -- the fixture
from tests.workspaces.repositories import git, make_repository, write

READ = call("read", path=".pi-batch-staged.diff")


def answer(*findings: dict[str, Any]) -> str:
    is_bad = any(finding["severity"] == "error" for finding in findings)
    verdict = "request_changes" if is_bad else "approve"
    return json.dumps({"verdict": verdict, "summary": "A summary.", "findings": list(findings)})


def finding(severity: str = "error", **fields: Any) -> dict[str, Any]:
    return {"file": "a b.py", "line": 2, "severity": severity, "message": "divides by zero", **fields}


class Hooked:
    """A repository with something staged, and the hook."""

    def __init__(self, desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
        self.desk = desk
        self.top = make_repository(desk.path / "r", {"a b.py": "x = 1\n"})
        monkeypatch.chdir(self.top)
        monkeypatch.setenv("HOME", str(desk.path / "home"))
        monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
        self.stage({"a b.py": "x = 1\nx = 1 / 0\n"})

    def stage(self, files: dict[str, str | bytes]) -> None:
        write(self.top, files)
        git(self.top, "add", "-A")

    def says(self, *turns: Turn) -> None:
        self.desk.record(*turns)

    def hook(self, *words: str) -> Called:
        return self.desk.call("hook", "-m", "replay/../session.jsonl", *words)

    @property
    def runs(self) -> list[Path]:
        return sorted((self.top / ".git" / "pi-batch" / "runs").glob("*"))


@pytest.fixture
def hooked(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> Hooked:
    return Hooked(desk, monkeypatch)


def test_findings_are_lines_that_editors_parse_and_an_error_stops_the_commit(hooked: Hooked) -> None:
    hooked.says(turn(READ), say(answer(finding(), finding("note", line=1, message="two\nlines"))))
    done = hooked.hook()
    assert done.code == 1
    assert done.out.split("\n")[:2] == ["a b.py:2: error: divides by zero", "a b.py:1: note: two lines"]
    assert done.err == ""
    (run,) = hooked.runs
    session = next(run.glob("tasks/*/session.jsonl")).read_text(encoding="utf-8")
    assert "+x = 1 / 0" in session


def test_what_is_fine_says_nothing(hooked: Hooked) -> None:
    hooked.says(say(answer()))
    done = hooked.hook()
    assert (done.code, done.out, done.err) == (0, "", "")


@pytest.mark.parametrize(("fail_on", "code"), [("error", 0), ("warning", 1), ("never", 0)])
def test_what_stops_a_commit_can_be_chosen(hooked: Hooked, fail_on: str, code: int) -> None:
    hooked.says(say(answer(finding("warning"))))
    assert hooked.hook("--fail-on", fail_on).code == code


def test_never_means_never(hooked: Hooked) -> None:
    hooked.says(say(answer(finding())))
    assert hooked.hook("--fail-on", "never").code == 0


def test_the_same_content_is_judged_once(hooked: Hooked) -> None:
    hooked.says(say(answer(finding())))
    first, second = hooked.hook(), hooked.hook()
    assert (second.code, second.out) == (first.code, first.out)
    assert len(hooked.runs) == 1
    hooked.hook("--no-cache")
    assert len(hooked.runs) == 2
    write(hooked.top, {"a b.py": "not staged\n"})
    hooked.hook()
    assert len(hooked.runs) == 2


@pytest.mark.slow
def test_whatever_a_result_is_made_from_makes_it_anew(
    hooked: Hooked, monkeypatch: pytest.MonkeyPatch
) -> None:
    hooked.says(say(answer()))
    hooked.hook()
    hooked.hook("-i", "rules=No print.")
    hooked.stage({"c.py": "y\n"})
    hooked.hook()
    write(hooked.top, {".pi-batch.toml": "max_retries = 1\n"})
    hooked.hook()
    monkeypatch.setenv("PI_BATCH_MAX_RETRIES", "2")
    hooked.hook()
    assert len(hooked.runs) == 5


@pytest.mark.slow
def test_a_damaged_cache_is_no_result(hooked: Hooked) -> None:
    hooked.says(say(answer(finding())))
    hooked.hook()
    (kept,) = (hooked.desk.path / "home/.cache/pi-batch/hook").glob("*.json")
    for content in ("", "{}", '{"is_ok": true, "summary": "", "findings": [{"file": 1}]}', "[]"):
        kept.write_text(content)
        assert hooked.hook().code == 1


def test_nothing_staged_needs_no_model(hooked: Hooked) -> None:
    git(hooked.top, "reset", "-q", "--hard")
    done = hooked.desk.call("hook")
    assert (done.code, done.out, done.err) == (0, "", "")


def test_without_a_model_the_commit_is_let_through_only_on_request(hooked: Hooked) -> None:
    failed = hooked.desk.call("hook")
    assert failed.code == 2
    assert "no model" in failed.err
    passed = hooked.desk.call("hook", "--on-error", "pass")
    assert passed.code == 0
    assert passed.err.startswith("pi-batch: not checked: no model")
    assert len(passed.lines) == 1


def test_a_model_that_cannot_be_had_is_an_error_and_not_kept(hooked: Hooked) -> None:
    hooked.says()
    failed = hooked.hook()
    assert failed.code == 2
    assert "replay" in failed.err
    assert hooked.hook("--on-error", "pass").code == 0
    hooked.says(say(answer(finding())))
    assert hooked.hook().code == 1


def test_a_wrong_spec_is_never_let_through(hooked: Hooked) -> None:
    write(hooked.top, {"bad.yaml": "promt: x\n"})
    for spec in ("bad.yaml", "nowhere.yaml"):
        assert hooked.hook("--spec", spec, "--on-error", "pass").code == 2


@pytest.mark.slow
def test_a_spec_of_ones_own_is_judged_by_its_checks(hooked: Hooked) -> None:
    spec = {"prompt": "Look.", "tools": ["read"], "verify": ["! grep -rn '1 / 0' --include=*.py ."]}
    write(hooked.top, {"check.yaml": json.dumps(spec)})
    hooked.says(say("looked"), say("looked"))
    done = hooked.hook("--spec", "check.yaml")
    assert done.code == 1
    assert done.out == "looked\n"
    write(hooked.top, {"a b.py": "x = 1\nx = 1 / 0  # only in the working files\n"})
    hooked.stage({"a b.py": "x = 2\n"})
    assert hooked.hook("--spec", "check.yaml").code == 0


def test_more_than_one_task_is_no_hook(hooked: Hooked) -> None:
    write(hooked.top, {"suite.yaml": "tasks:\n- {id: a, prompt: x}\n- {id: b, prompt: x}\n"})
    done = hooked.hook("--spec", "suite.yaml")
    assert done.code == 2
    assert "a hook runs one task" in done.err


def test_an_answer_that_is_no_json_is_a_failure_with_the_answer(hooked: Hooked) -> None:
    hooked.says(say("Looks fine to me."), say("Really."))
    done = hooked.hook()
    assert done.code == 1
    assert "Really." in done.out


@pytest.mark.slow
def test_git_variables_of_a_hook_reach_no_command(hooked: Hooked, monkeypatch: pytest.MonkeyPatch) -> None:
    spec = {"prompt": "Look.", "permissions": {"env": ["PATH", "GIT_DIR"]}, "verify": ['test -z "$GIT_DIR"']}
    write(hooked.top, {"check.yaml": json.dumps(spec)})
    monkeypatch.setenv("GIT_DIR", str(hooked.top / ".git"))
    hooked.says(say("looked"))
    assert hooked.hook("--spec", "check.yaml").code == 0


def test_more_than_fits_is_judged_with_a_word_and_never_let_through_unseen(hooked: Hooked) -> None:
    hooked.stage({"a b.py": "x = 1\n" * 900 + "x = 1 / 0\n"})
    hooked.says(turn(READ), say(answer(finding(line=901))))
    done = hooked.hook("--max-diff-bytes", "1000")
    assert done.code == 1
    assert "a b.py:901: error: divides by zero" in done.out
    assert "1 of 1 changed files do not fit (--max-diff-bytes)" in done.err
    assert len(done.lines) == 1
    hooked.says(turn(READ), say(answer()))
    assert hooked.hook("--max-diff-bytes", "100000").code == 0
