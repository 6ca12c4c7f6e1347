"""The judge of the built-in suite: judged code gains nothing by what it does to its own process."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.benches import put
from tests.builtins import ROOT

CHECK = (
    "from lab import probe, same\n\n\ndef check_value():\n"
    "    same(probe('import app; give(app.value())'), 42, 'value')\n"
)


def judged(top: Path, app: str, check: str = CHECK) -> tuple[int, str]:
    """Exit code and output of the judge on a program of one function."""
    put(top, {"app.py": app, "checks/check.py": check})
    shutil.copytree(ROOT / "tasks/bench/judge", top / "judge", ignore=shutil.ignore_patterns("__pycache__"))
    words = [sys.executable, "-I", "-S", "-B", "judge"]
    done = subprocess.run(words, cwd=top, capture_output=True, text=True, timeout=60, check=False)
    assert done.stderr == ""
    return done.returncode, done.stdout


def test_what_is_right_holds_and_the_checks_are_gone(tmp_path: Path) -> None:
    assert judged(tmp_path, "def value():\n    return 42\n") == (0, "ok value\n1 of 1 hold\n")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["app.py"]


@pytest.mark.parametrize(
    "app",
    [
        "import os\nos._exit(0)\n",
        "def value():\n    raise SystemExit(0)\n",
        "print('ok value')\nprint('1 of 1 hold')\ndef value():\n    return 41\n",
        "def value():\n    return open('checks/check.py').read()\n",
        "import os\nfor number in range(3, 20):\n    try:\n        os.write(number, b'{\"value\": true}')\n"
        "    except OSError:\n        pass\nos._exit(0)\n",
    ],
    ids=[
        "leaves at once",
        "leaves later",
        "prints what is wanted",
        "looks for the checks",
        "writes everywhere",
    ],
)
def test_what_judged_code_does_to_its_process_gains_nothing(tmp_path: Path, app: str) -> None:
    code, out = judged(tmp_path, app)
    assert code == 1
    assert out.startswith("FAILED value: ") or "\nFAILED value: " in out


def test_modules_that_stand_in_for_others_change_nothing(tmp_path: Path) -> None:
    put(tmp_path, dict.fromkeys(("json.py", "lab.py", "subprocess.py", "os.py"), "import os\nos._exit(0)\n"))
    assert judged(tmp_path, "def value():\n    return 42\n")[0] == 0


def test_the_first_check_that_does_not_hold_decides(tmp_path: Path) -> None:
    check = "def check_one():\n    pass\n\n\ndef check_two():\n    1 / 0\n\n\ndef check_three():\n    pass\n"
    code, out = judged(tmp_path, "", check)
    assert code == 1
    assert out.startswith("ok one\nFAILED two: Traceback")
    assert "three" not in out
    assert out.endswith("1 of 3 hold\n")


def test_without_a_check_nothing_passes(tmp_path: Path) -> None:
    assert judged(tmp_path, "", "x = 1\n") == (1, "0 of 0 hold\n")


@pytest.mark.slow
def test_large_results_arrive_and_work_is_bounded_by_the_processors_time(tmp_path: Path) -> None:
    check = (
        "from lab import probe, same\n\n\ndef check_large():\n"
        "    same(len(probe(\"give('x' * 300_000)\")), 300_000, 'length')\n\n\n"
        "def check_endless():\n    probe('while True: pass', cpu_s=1)\n"
    )
    code, out = judged(tmp_path, "", check)
    assert code == 1
    assert out.startswith("ok large\nFAILED endless: the code ended with -")
