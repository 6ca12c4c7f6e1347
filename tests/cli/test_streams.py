"""The program in places that are not made for it: closed, full, read-only, without a locale or a tool."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest

from tests.cases.project import Project
from tests.cases.turns import bash, say, turn, write_session

pytestmark = pytest.mark.slow

RUN = "-m pi_batch run task.yaml -m replay/model.jsonl"


@pytest.fixture
def ready(project: Project) -> Project:
    """With a spec and a recording."""
    project.write_spec(title="Ünï ☃")
    write_session(project.base / "model.jsonl", [turn(bash("echo ☃")), say("naïve ☃ done")])
    return project


def shell(
    project: Project, command: str, env: Mapping[str, str] | None = None
) -> subprocess.CompletedProcess[str]:
    """Run a line of bash beside the project; `py` is this Python."""
    done = subprocess.run(
        ["bash", "-o", "pipefail", "-c", f'py() {{ "{sys.executable}" "$@"; }}; {command}'],
        cwd=project.base,
        env=project.environ(env),
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    assert "Traceback" not in done.stderr
    assert "Exception" not in done.stderr
    assert "internal error" not in done.stderr
    return done


@pytest.mark.parametrize(
    "line",
    [
        pytest.param(f"py {RUN} | true", id="the reader never reads"),
        pytest.param(f"py {RUN} --events | head -1", id="the reader takes one event"),
        pytest.param(f"py {RUN} >&-", id="stdout is closed"),
        pytest.param(f"py {RUN} 2>&-", id="stderr is closed"),
        pytest.param(f"py {RUN} 2>/dev/full", id="stderr is full"),
        pytest.param(f"py {RUN} >&- 2>&- <&-", id="everything is closed"),
    ],
)
def test_whoever_does_not_listen_changes_no_verdict(ready: Project, line: str) -> None:
    assert shell(ready, line).returncode == 0


def test_a_list_that_is_cut_ends_as_other_programs_do(ready: Project) -> None:
    assert shell(ready, "py -m pi_batch tools | head -1").returncode in (0, 141)


@pytest.mark.parametrize(
    "words", [RUN, f"{RUN} --events", "-m pi_batch --help", "-m pi_batch schema task", "-m pi_batch doctor"]
)
def test_a_full_stdout_is_said_once_and_is_an_error(ready: Project, words: str) -> None:
    done = shell(ready, f"py {words} > /dev/full")
    assert done.returncode == 3
    assert done.stderr.count("pi-batch: standard output: cannot be written: No space left on device\n") == 1


def test_errors_keep_their_code_where_nobody_reads_them(ready: Project) -> None:
    for redirection in ("2>/dev/full", "2>&-", "2>&1 | true"):
        assert shell(ready, f"py -m pi_batch run absent.yaml {redirection}").returncode == 2


def test_events_without_a_stdout_are_refused(ready: Project) -> None:
    done = shell(ready, f"py {RUN} --events >&-")
    assert done.returncode == 2
    assert done.stderr == "pi-batch: standard output is closed: events have nowhere to go\n"


@pytest.mark.parametrize(
    "locale", [{"LC_ALL": "C"}, {"LC_ALL": "POSIX", "PYTHONCOERCECLOCALE": "0"}, {"LANG": ""}]
)
def test_any_locale_will_do(ready: Project, locale: dict[str, str]) -> None:
    done = shell(ready, "py -m pi_batch exec 'Was ist ☃?' -m replay/model.jsonl --output out", locale)
    assert done.returncode == 0
    assert done.stdout == "naïve ☃ done\n"
    assert '"Was ist ☃?"' in (ready.base / "out/tasks/exec/session.jsonl").read_text(encoding="utf-8")


def test_output_that_is_no_terminal_has_no_colour(ready: Project) -> None:
    for env in ({}, {"TERM": "xterm-256color"}, {"NO_COLOR": "1", "FORCE_COLOR": "1"}):
        done = shell(ready, f"py {RUN}", env)
        assert "\x1b" not in done.stdout + done.stderr


def test_output_that_is_no_terminal_has_colour_where_it_is_forced(ready: Project) -> None:
    assert "\x1b[32mpassed" in shell(ready, f"py {RUN}", {"FORCE_COLOR": "1"}).stdout


@pytest.mark.parametrize("env", [{}, {"NO_COLOR": "1"}, {"TERM": "dumb"}])
def test_a_terminal_has_colour_unless_it_wants_none(ready: Project, env: dict[str, str]) -> None:
    if shutil.which("script") is None:
        pytest.skip("no script(1) to make a terminal")
    line = f"{sys.executable} {RUN}"
    done = shell(ready, f"script -qec '{line}' /dev/null </dev/null", {"TERM": "xterm", **env})
    assert done.returncode == 0
    assert bool(re.search(r"\x1b\[[\d;]*[1-9]\d*m", done.stdout)) == (not env)


def only(project: Project, *programs: str) -> dict[str, str]:
    """A PATH with these programs."""
    place = project.base / "bin"
    place.mkdir()
    for name in programs:
        found = shutil.which(name)
        assert found
        (place / name).symlink_to(found)
    return {"PATH": str(place)}


def test_without_git_the_error_names_it(ready: Project) -> None:
    done = shell(ready, f"py {RUN}", only(ready, "bash"))
    assert done.returncode == 3
    assert "git: not found on PATH" in done.stdout


def test_without_bash_the_error_names_it(ready: Project) -> None:
    env = only(ready, "git")
    line = ["-m", "pi_batch", "run", "task.yaml", "-m", "replay/model.jsonl"]
    done = subprocess.run(
        [sys.executable, *line],
        cwd=ready.base,
        env=ready.environ(env),
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 3
    assert "bash" in done.stdout
    assert "Traceback" not in done.stderr


def without_rights() -> list[str]:
    """Words that take root's power over file modes away; none for others. Skips where that cannot be."""
    if os.geteuid() != 0:
        return []
    drop = [
        "--bounding-set",
        "-dac_override,-dac_read_search",
        "--inh-caps",
        "-dac_override,-dac_read_search",
    ]
    words = ["setpriv", *drop]
    if shutil.which("setpriv") is None or subprocess.run([*words, "true"], check=False).returncode != 0:
        pytest.skip("root, and no setpriv")
    return words


def plain_user(project: Project, *words: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    """The program without power over file modes."""
    return subprocess.run(
        [*without_rights(), sys.executable, "-m", "pi_batch", *words],
        cwd=cwd,
        env=project.environ(),
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )


def test_a_read_only_directory_is_one_line_and_another_can_be_named(ready: Project) -> None:
    ready.base.chmod(0o555)
    try:
        run = ("run", "task.yaml", "-m", "replay/model.jsonl")
        done = plain_user(ready, *run, cwd=ready.base)
        assert done.returncode == 3
        assert done.stderr.startswith(
            "pi-batch: .pi-batch: the run directory cannot be made: Permission denied"
        )
        assert "--output" in done.stderr
        named = plain_user(ready, *run, "--output", str(ready.root / "out"), cwd=ready.base)
        assert named.returncode == 0
        report = plain_user(
            ready, *run, "--output", str(ready.root / "o2"), "--junit", "j.xml", cwd=ready.base
        )
        assert report.returncode == 3
        assert "j.xml: cannot be written: Permission denied" in report.stderr
    finally:
        ready.base.chmod(0o755)


def test_files_that_may_not_be_read_are_one_line(ready: Project) -> None:
    (ready.base / "task.yaml").chmod(0)
    done = plain_user(ready, "validate", "task.yaml", cwd=ready.base)
    assert (done.returncode, done.stderr) == (2, "task.yaml: cannot be read: Permission denied\n")
    (ready.base / "task.yaml").chmod(0o644)
    (ready.base / "model.jsonl").chmod(0)
    done = plain_user(ready, "run", "task.yaml", "-m", "replay/model.jsonl", cwd=ready.base)
    assert done.returncode in (2, 3)
    assert "model.jsonl: cannot be read: Permission denied" in done.stdout + done.stderr


def test_what_a_task_made_unreadable_is_removed_all_the_same(ready: Project) -> None:
    deeds = "mkdir -p $TMPDIR/a/b; touch $TMPDIR/a/b/c; chmod 0 $TMPDIR/a/b; chmod 0555 $TMPDIR/a; chmod 0 ."
    write_session(ready.base / "model.jsonl", [turn(bash(deeds)), say("done")])
    ready.write_spec(isolation="copy")
    temp = ready.base / "temp"
    temp.mkdir()
    words = ("run", "task.yaml", "-m", "replay/model.jsonl", "--output", "out")
    env = {**ready.environ(), "TMPDIR": str(temp)}
    done = subprocess.run(
        [*without_rights(), sys.executable, "-m", "pi_batch", *words],
        cwd=ready.base,
        env=env,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode in (0, 1, 3)
    assert "internal" not in done.stdout + done.stderr
    assert list(temp.iterdir()) == []


def test_runs_that_begin_at_once_do_not_meet(ready: Project) -> None:
    words = [sys.executable, *RUN.split(), "--quiet"]
    started = [
        subprocess.Popen(words, cwd=ready.base, env=ready.environ(), stdout=subprocess.DEVNULL)
        for _ in range(4)
    ]
    assert [process.wait(60) for process in started] == [0, 0, 0, 0]
    runs = list((ready.base / ".pi-batch/runs").iterdir())
    assert len(runs) == 4
    assert all((run / "run.json").exists() and (run / "junit.xml").exists() for run in runs)
