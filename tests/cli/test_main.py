"""Wrong command lines: one line each, where help is, exit code 2, nothing done."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from pi_batch.cli.main import RESERVED, show_defect
from tests.cli.calling import Desk

WRONG = {
    "a command that is not there": ("runn task.yaml", "no such command: 'runn'. Did you mean run?"),
    "no spec": ("run", "Missing argument 'SPEC...'"),
    "no prompt": ("exec", "Missing argument 'PROMPT'"),
    "no run": ("report", "Missing argument 'RUN_DIR...'"),
    "an option that is not there": ("run task.yaml --modell x", "No such option '--modell'"),
    "an option without its value": ("run task.yaml -m", "'-m' requires an argument"),
    "turns below one": ("run task.yaml --max-turns 0", "0 is not in the range x>=1"),
    "turns in words": ("run task.yaml --max-turns many", "'many' is not a valid integer"),
    "money below zero": ("run task.yaml --max-cost-usd=-1", "-1.0 is not in the range x>=0"),
    "no time at all": ("run task.yaml --max-wall-s 0", "0.0 is not in the range x>0"),
    "no jobs": ("run task.yaml --jobs 0", "0 is not in the range x>=1"),
    "a format that is not there": ("schema xml", "'xml' is not one of"),
    "an answer in no format": ("exec hi --output-format yaml", "'yaml' is not one of"),
    "two owners of stdout": ("exec hi --events --output-format json", "both need stdout"),
    "several runs": ("report a b", "got 2 runs, need one: only --leaderboard takes several"),
}


@pytest.mark.parametrize("name", WRONG)
def test_a_wrong_command_line_is_one_line(desk: Desk, name: str) -> None:
    words, complaint = WRONG[name]
    done = desk.call(*words.split())
    assert done.code == 2
    assert done.out == ""
    assert len(done.lines) == 1
    assert done.err.startswith("pi-batch: ")
    assert complaint in done.err
    assert " See: pi-batch" in done.err
    assert sorted(path.name for path in desk.path.iterdir()) == ["session.jsonl", "task.yaml"]


@pytest.mark.parametrize("command", RESERVED)
def test_a_command_of_later_is_known_and_refused(desk: Desk, command: str) -> None:
    done = desk.call(command, "x")
    assert done.code == 2
    assert f"{command}: not available in this version" in done.err


UNUSABLE = {
    "a spec that is not there": ("run absent.yaml", 2, "absent.yaml: no such file or directory"),
    "a built-in that is not there": ("run fix-everything", 2, "no built-in task"),
    "a directory without specs": ("run empty", 4, "no task in empty"),
    "no name at all": ("run ''", 2, "SPEC: got ''"),
    "a device": ("run /dev/null", 2, "/dev/null: not a regular file"),
    "an input without a value": ("run task.yaml -i x", 2, "-i 'x': need KEY=VALUE"),
    "an input without a name": ("run task.yaml -i =x", 2, "-i '=x': need KEY=VALUE"),
    "an input of nobody": ("run task.yaml -i x=1", 2, "x: no selected task has an input of that name"),
    "a model without provider": ("run task.yaml -m gpt", 2, "got 'gpt', need provider/model"),
    "a provider of nobody": ("run task.yaml -m nobody/x", 2, "provider 'nobody': unknown (known: "),
    "no model": ("run task.yaml", 2, "no model: name one with -m"),
    "a sandbox of nobody": ("run task.yaml --sandbox jail", 2, "--sandbox: got 'jail'"),
    "an image of nobody": ("run task.yaml --sandbox-image=--privileged", 2, "need an image such as"),
    "money that is no number": ("run task.yaml --max-cost-usd nan", 2, "--max-cost-usd: got nan"),
    "no end": ("run task.yaml --max-wall-s inf", 2, "--max-wall-s: got inf"),
    "a filter that takes all away": ("run task.yaml --filter x*", 4, "no task matches --filter x*"),
    "a secret that is not set": ("run task.yaml -m replay/session.jsonl --secret NOPE", 2, "--secret NOPE"),
    "a run that is not there": ("report absent", 2, "absent: no events.jsonl there"),
    "a session that is not there": ("export absent.jsonl", 2, "absent.jsonl: cannot be read"),
    "a session that is none": ("export task.yaml", 2, "task.yaml: holds no session"),
    "a recording that is not there": (
        "run task.yaml -m replay/absent.jsonl",
        2,
        "absent.jsonl: cannot be read",
    ),
    "a recording that is none": ("exec Hi -m replay/task.yaml", 2, "task.yaml: holds no session"),
    "a blank prompt": ("exec ' '", 2, "PROMPT: got ' ', need UTF-8 text that is not blank"),
    "a file in the place of the run": (
        "run task.yaml -m replay/session.jsonl --output task.yaml",
        3,
        "task.yaml: the run directory cannot be made",
    ),
}


@pytest.mark.parametrize("name", UNUSABLE)
def test_what_cannot_be_used_is_one_line_before_anything_runs(desk: Desk, name: str) -> None:
    import shlex

    (desk.path / "empty").mkdir()
    words, code, complaint = UNUSABLE[name]
    done = desk.call(*shlex.split(words))
    assert done.code == code
    assert done.out == ""
    assert len(done.lines) == 1
    assert complaint in done.err
    assert not (desk.path / ".pi-batch").exists()


def test_a_current_directory_that_is_gone_is_one_line(desk: Desk, tmp_path: Path) -> None:
    gone = tmp_path / "gone"
    gone.mkdir()
    os.chdir(gone)
    gone.rmdir()
    for words in ("run x.yaml", "validate x.yaml", "report x", "doctor"):
        done = desk.call(*words.split())
        assert done.code == 2
        assert done.err == "pi-batch: the current directory is gone: change to one that exists\n"
    assert desk.call("--help").code == 0


def test_a_defect_of_ours_says_so(capsys: pytest.CaptureFixture[str]) -> None:
    assert show_defect(ValueError("what\nnobody expected")) == 3
    assert capsys.readouterr().err == "pi-batch: internal error: ValueError: what nobody expected\n"
