"""Completion: the scripts, and what they are answered."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from pi_batch.cli.completion import SHELLS, VARIABLE
from tests.cli.calling import Desk


def answers(desk: Desk, words: str) -> list[str]:
    """What a shell is answered for a line, its last word being typed."""
    desk.setenv(VARIABLE, "bash_complete")
    desk.setenv("COMP_WORDS", words)
    desk.setenv("COMP_CWORD", str(len(words.split(" ")) - 1))
    done = desk.call()
    assert done.err == ""
    return [line.partition(",")[2] for line in done.out.split("\n") if line.startswith("plain,")] or [
        line for line in done.out.split("\n") if line
    ]


@pytest.mark.parametrize("shell", SHELLS)
def test_a_script_asks_through_our_variable(desk: Desk, shell: str) -> None:
    done = desk.call("completion", shell)
    assert done.code == 0
    assert f"{VARIABLE}={shell}_complete" in done.out
    assert done.out.endswith("\n")
    assert not done.out.endswith("\n\n")


def test_another_shell_is_one_line(desk: Desk) -> None:
    done = desk.call("completion", "tcsh")
    assert done.code == 2
    assert "bash" in done.err
    assert len(done.lines) == 1


@pytest.mark.parametrize(
    ("words", "some"),
    [
        ("pi-batch res", ["resume"]),
        ("pi-batch run --max-w", ["--max-wall-s"]),
        ("pi-batch run --rerun fa", ["failed"]),
        ("pi-batch run fix-f", ["fix-failing-tests"]),
        ("pi-batch init pre", ["pre-commit"]),
        ("pi-batch completion z", ["zsh"]),
        ("pi-batch run tasks/x", ["file,tasks/x"]),
        ("pi-batch run ", ["file,"]),
        ("pi-batch apply ou", ["file,ou"]),
        ("pi-batch nobody --m", []),
    ],
)
def test_words_are_completed_and_nothing_is_said_of_mistakes(desk: Desk, words: str, some: list[str]) -> None:
    assert answers(desk, words) == some


LINES = {
    "bash": "source <(pi-batch completion bash); COMP_WORDS=(pi-batch resu); COMP_CWORD=1; "
    "_pi_batch_completion pi-batch; echo ${COMPREPLY[*]}",
    "zsh": "autoload -Uz compinit; compinit -u -D; . <(pi-batch completion zsh); echo ${_comps[pi-batch]}",
    "fish": "pi-batch completion fish | source; complete -C 'pi-batch resu'",
}


@pytest.mark.peer
@pytest.mark.parametrize("shell", SHELLS)
def test_the_shell_itself_takes_the_script(tmp_path: Path, shell: str) -> None:
    program = shutil.which(shell)
    if program is None:
        pytest.skip(f"{shell} is not installed")
    env = {"PATH": f"{Path(sys.executable).parent}:/usr/bin:/bin", "HOME": str(tmp_path), "TERM": "dumb"}
    done = subprocess.run([program, "-c", LINES[shell]], env=env, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout.split()[0] == ("_pi_batch_completion" if shell == "zsh" else "resume")
    assert done.stderr == ""
