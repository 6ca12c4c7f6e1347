"""`pi-batch init`: what it writes works, and nothing is lost by it."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from pi_batch.cli.init import KINDS
from pi_batch.wiring.starting import STARTERS
from tests.cases.turns import say, turn, write
from tests.cli.calling import Desk
from tests.cli.conftest import desk as desk  # noqa: PLC0414 -- the fixture
from tests.workspaces.mirroring import Forge
from tests.workspaces.repositories import git

ACTION = f"own/fork@{'a' * 40}"


def test_the_commands_kinds_are_those_that_there_are() -> None:
    assert tuple(STARTERS) == KINDS


@pytest.mark.parametrize("kind", KINDS)
def test_a_kind_is_written_once_and_says_what_to_do_next(desk: Desk, kind: str) -> None:
    done = desk.call("init", kind)
    assert done.code == 0
    assert re.findall(r"^wrote (.*)$", done.out, re.MULTILINE) == list(STARTERS[kind].files)
    assert re.search(r"^1\. [A-Z`].*[.]$", done.out, re.MULTILINE)
    for name in STARTERS[kind].files:
        assert (desk.path / name).read_bytes().endswith(b"\n")
        (desk.path / name).write_text("mine\n")
    again = desk.call("init", kind)
    assert again.code == 2
    assert "is there already; --force replaces it. Nothing was written" in again.err
    assert {(desk.path / name).read_text() for name in STARTERS[kind].files} == {"mine\n"}
    assert desk.call("init", kind, "--force").code == 0


def test_a_suite_can_be_planned_as_it_is(desk: Desk) -> None:
    desk.call("init", "suite")
    assert desk.call("validate", "pi-batch/suite.yaml").out == "1 task, no problems\n"


def test_workflows_take_the_action_that_was_named(desk: Desk) -> None:
    done = desk.call("init", "github", "--action", ACTION)
    assert "zeros" not in done.out
    text = (desk.path / ".github/workflows/pi-batch-fix-tests.yml").read_text(encoding="utf-8")
    assert f"uses: own/fork/github-action@{'a' * 40}\n" in text
    assert f"uses: own/fork/github-action/apply@{'a' * 40}\n" in text
    assert "0" * 40 not in text
    assert set(yaml.safe_load(text)["jobs"]) == {"fix", "publish"}


@pytest.mark.parametrize("action", ["own/fork", "own/fork@main", "own@" + "a" * 40, "a/b@" + "a" * 39 + "\n"])
def test_an_action_is_named_by_commit(desk: Desk, action: str) -> None:
    done = desk.call("init", "github", "--action", action)
    assert done.code == 2
    assert "a commit of 40 hex digits" in done.err
    assert not (desk.path / ".github").exists()


def test_another_directory_can_be_named(desk: Desk) -> None:
    assert desk.call("init", "pre-commit", "--directory", "sub").code == 0
    config = yaml.safe_load((desk.path / "sub/.pre-commit-config.yaml").read_text(encoding="utf-8"))
    assert config["repos"][0]["hooks"][0]["entry"].startswith("pi-batch hook ")


def test_a_directory_that_cannot_be_made_is_one_line(desk: Desk) -> None:
    desk.write("file", "x")
    done = desk.call("init", "github", "--directory", "file/sub")
    assert done.code == 3
    assert "cannot be made" in done.err
    assert len(done.lines) == 1


NIGHTS = [kind for kind in KINDS if kind.startswith("nightly")]


@pytest.mark.parametrize("kind", NIGHTS)
def test_a_night_can_be_planned_as_it_is(desk: Desk, kind: str) -> None:
    desk.call("init", kind)
    assert desk.call("validate", "pi-batch/nightly.yaml").out == "1 task, no problems\n"
    desk.call(
        "init", kind, "--force", "--repo", "https://h/me/a", "--repo", "git@h:me/b.git", "--repo", "../c"
    )
    plan = desk.call("plan", "pi-batch/nightly.yaml", "-m", "ollama/m").out
    assert [line.split()[0] for line in plan.rstrip("\n").split("\n")] == [
        "fix-tests--a",
        "fix-tests--b",
        "fix-tests--c",
    ]
    assert str(desk.path.parent / "c") in (desk.path / "pi-batch/nightly.yaml").read_text()


def test_a_night_is_about_the_repository_that_it_is_written_in(desk: Desk) -> None:
    git(desk.path, "init", "-q")
    git(desk.path, "remote", "add", "origin", "https://me:hunter2@github.com/me/here.git")
    done = desk.call("init", "nightly")
    assert "Name your repositories in pi-batch/nightly.yaml" in done.out
    text = (desk.path / "pi-batch/nightly.yaml").read_text()
    assert '    - "https://github.com/me/here.git"\n' in text
    assert "hunter2" not in text


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("nightly", "--repo", "ext::sh -c x"), "--repo 'ext::sh -c x': need an https, ssh or file URL"),
        (("nightly", "--repo", "ssh://u:hunter2@h/a"), "--repo 'ssh://***@h/a': need ssh://user@host/path"),
        (("suite", "--repo", "a"), "--repo: is for nightly kinds, not for suite"),
    ],
)
def test_a_repository_that_is_none_is_one_line(desk: Desk, words: tuple[str, ...], said: str) -> None:
    done = desk.call("init", *words)
    assert done.code == 2
    assert said in done.err
    assert len(done.lines) == 1
    assert not (desk.path / "pi-batch").exists()


def test_units_name_the_directory_that_they_are_in(desk: Desk) -> None:
    directory = desk.path / "my 100% nights"
    desk.call("init", "nightly-systemd", "--directory", str(directory))
    service = (directory / "pi-batch-nightly.service").read_text()
    assert f"\nWorkingDirectory={desk.path}/my 100%% nights\n" in service
    assert "OnCalendar=*-*-* 02:17" in (directory / "pi-batch-nightly.timer").read_text()


@pytest.mark.slow
def test_the_nights_script_runs_a_night(desk: Desk, tmp_path: Path) -> None:
    forge = Forge(tmp_path)
    forge.push({"check.sh": "test -e made\n"})
    desk.call("init", "nightly-cron", "--repo", str(forge.bare))
    task = desk.path / "pi-batch/nightly/fix-tests.yaml"
    task.write_text(task.read_text().replace("python -m pytest -q", "sh check.sh"))
    desk.record(turn(write("made", "")), say("done"))
    place = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    environ = {"PATH": place, "HOME": str(tmp_path), "PI_BATCH_MODEL": "replay/session.jsonl"}

    def night() -> subprocess.CompletedProcess[str]:
        script = desk.path / "pi-batch-nightly.sh"
        assert script.stat().st_mode & 0o111
        return subprocess.run(
            [str(script)], env=environ, capture_output=True, text=True, check=False, timeout=100
        )

    first = night()
    assert first.returncode == 0, first.stderr
    assert "## Changed (1)" in first.stdout
    assert git(forge.bare, "branch", "--list", "pi-batch/*").strip() == "pi-batch/fix-tests--r"
    again = night()
    assert again.returncode == 0, again.stderr
    assert "only_if: nothing in ** changed" in again.stdout


def test_flags_in_what_is_written_are_flags_that_there_are(desk: Desk) -> None:
    for kind in KINDS:
        desk.call("init", kind, "--force")
    texts = [path.read_text(encoding="utf-8") for path in desk.path.rglob("*") if path.is_file()]
    for command in ("run", "apply", "hook"):
        known = set(re.findall(r"(?<![\w-])--[a-z-]+", desk.call(command, "--help").out))
        for text in texts:
            joined = re.sub(r"\\?\n +(?=--)", " ", text)
            for call in re.findall(rf"pi-batch {command} .*", joined):
                assert set(re.findall(r"(?<![\w-])--[a-z-]+", call)) <= known, call


SBATCH = """#!/bin/sh
# Stands for Slurm: runs what it is given at once, each element of an array after the other.
for word in "$@"; do case "$word" in --array=1-*) count=${word#--array=1-} ;; *.sh) script=$word ;; esac; done
[ -n "${count:-}" ] || { sh "$script" > merged.log; echo 2; exit 0; }
for element in $(seq "$count"); do SLURM_ARRAY_TASK_ID=$element sh "$script" > /dev/null; done
echo "1;cluster"
"""


@pytest.mark.slow
def test_the_script_for_slurm_makes_one_run_of_its_elements(desk: Desk) -> None:
    desk.call("init", "shards-slurm")
    sbatch = desk.write("bin/sbatch", SBATCH)
    sbatch.chmod(0o755)
    place = f"{sbatch.parent}:{Path(sys.executable).parent}:{os.defpath}"
    words = ("sh", "pi-batch-shards.sh", "task.yaml", "replay/session.jsonl", "runs", "2")
    for _ in range(2):  # a second call goes on with what is there
        done = subprocess.run(
            words, cwd=desk.path, env={"PATH": place}, capture_output=True, text=True, check=False, timeout=60
        )
        assert done.returncode == 0, done.stderr
    assert "1 passed" in (desk.path / "merged.log").read_text(encoding="utf-8")
    assert sorted(path.name for path in (desk.path / "runs").iterdir() if path.is_dir()) == [
        *("merged", "shard-1", "shard-2", "tmp"),
    ]


def test_scripts_within_the_kubernetes_job_are_scripts(desk: Desk) -> None:
    desk.call("init", "shards-kubernetes")
    jobs = list(yaml.safe_load_all((desk.path / "pi-batch-shards.yaml").read_text(encoding="utf-8")))
    assert [job["spec"].get("completionMode") for job in jobs] == ["Indexed", None]
    shard, merge = (job["spec"]["template"]["spec"]["containers"][0] for job in jobs)
    assert jobs[0]["spec"]["completions"] == jobs[0]["spec"]["parallelism"] == int(shard["env"][0]["value"])
    for script in (shard["args"][0], merge["command"][2]):
        assert subprocess.run(["/bin/sh", "-n", "-c", script], check=False).returncode == 0
