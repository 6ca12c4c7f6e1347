"""The judge of Harbor and terminal-bench tasks, run as a check runs it."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from pi_batch.peers.harbor import JUDGE_DIR, read_task
from pi_batch.peers.judges.harbor import moved, read_reward
from pi_batch.peers.task_files import Imported, write_files
from tests.peers.foreign import UV_TEST, harbor, put, terminal_bench


def judged(directory: Path, clean: Path, **work: str) -> subprocess.CompletedProcess[str]:
    """Lay the hidden files into a clean copy with some work in it, and judge that."""
    task = read_task(directory)
    assert isinstance(task, Imported)
    write_files(task.hidden, put(clean, **work) / JUDGE_DIR)
    words = [sys.executable, *task.judge.split()[1:]]
    return subprocess.run(words, cwd=clean, capture_output=True, text=True, check=False, timeout=60)


def test_the_reward_decides_and_a_part_of_it_is_no_pass(tmp_path: Path) -> None:
    task = harbor(tmp_path / "t")
    good = judged(task, tmp_path / "good", outDOTtxt="hi\n")
    assert (good.returncode, good.stdout) == (0, "reward 1\n")
    bad = judged(task, tmp_path / "bad", outDOTtxt="ho\n")
    assert (bad.returncode, bad.stdout) == (1, "reward 0.5\n")
    assert not (tmp_path / "good" / JUDGE_DIR).exists()


@pytest.mark.slow
@pytest.mark.parametrize("script", ["exit 0", "echo x > /logs/verifier/reward.txt", "exit 3"])
def test_tests_that_leave_no_number_are_no_pass(tmp_path: Path, script: str) -> None:
    done = judged(harbor(tmp_path / "t", tests__testDOTsh=script), tmp_path / "clean")
    assert done.returncode == 1
    assert done.stdout.startswith("FAILED: the tests left no reward")


@pytest.mark.slow
def test_a_terminal_bench_script_decides_by_its_exit_code(tmp_path: Path) -> None:
    task = terminal_bench(tmp_path / "t")
    assert judged(task, tmp_path / "good", outDOTtxt="hi\n").returncode == 0
    assert judged(task, tmp_path / "bad", outDOTtxt="ho\n").returncode == 1


@pytest.mark.slow
def test_the_usual_template_runs_pytest_and_what_is_planted_beside_is_not_obeyed(tmp_path: Path) -> None:
    outputs = "def test_out():\n    assert open('/app/out.txt').read() == 'hi\\n'\n"
    task = harbor(tmp_path / "t", tests__testDOTsh=UV_TEST, tests__test_outputsDOTpy=outputs)
    good = judged(task, tmp_path / "good", outDOTtxt="hi\n")
    assert good.returncode == 0, good.stdout + good.stderr
    planted = {
        "conftestDOTpy": "def pytest_sessionfinish(session):\n    session.exitstatus = 0\n",
        "pytestDOTini": "[pytest]\naddopts = --collect-only\n",
        "pytestDOTpy": "import os; os._exit(0)\n",
        "sitecustomizeDOTpy": "import os; os._exit(0)\n",
    }
    assert judged(task, tmp_path / "bad", outDOTtxt="ho\n", **planted).returncode == 1


@pytest.mark.slow
def test_what_uv_would_do_is_done_by_what_is_there(tmp_path: Path) -> None:
    setup = (
        "source $HOME/.local/bin/env\nuv venv .tbench\nsource .tbench/bin/activate\n"
        "uv pip install pytest==8.4.1\nuv run pytest $TEST_DIR/test_outputs.py -rA\n"
    )
    outputs = "import os\n\ndef test_out():\n    assert open('/app/out.txt').read() == 'hi\\n'\n"
    task = terminal_bench(tmp_path / "t", **{"run-testsDOTsh": setup}, tests__test_outputsDOTpy=outputs)
    assert judged(task, tmp_path / "good", outDOTtxt="hi\n").returncode == 0
    assert judged(task, tmp_path / "bad", outDOTtxt="ho\n").returncode == 1


def test_places_are_moved_and_longer_names_are_not() -> None:
    places = {"/app": "/here", "/tests": "/box/tests"}
    text = "/app/x '/app' /apple a/app ../app /tests/t.py https://x/app /app-2 ./tests"
    assert (
        moved(text, places)
        == "/here/x '/here' /apple a/app ../app /box/tests/t.py https://x/app /app-2 ./tests"
    )


def test_a_reward_is_read_from_text_first_and_of_several_numbers_by_its_name(tmp_path: Path) -> None:
    put(tmp_path, rewardDOTjson='{"accuracy": 0.5, "reward": 1}')
    assert read_reward(tmp_path) == 1.0
    put(tmp_path, rewardDOTjson='{"accuracy": 0.5}')
    assert read_reward(tmp_path) == 0.5
    put(tmp_path, rewardDOTjson='{"a": 1, "b": 1}')
    with pytest.raises(ValueError, match="2 numbers and none is called reward"):
        read_reward(tmp_path)
    put(tmp_path, rewardDOTtxt=" 0\n")
    assert read_reward(tmp_path) == 0.0
