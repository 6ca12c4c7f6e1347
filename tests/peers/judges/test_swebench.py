"""The judge of SWE-bench instances."""

from __future__ import annotations

import json
import subprocess
import sys
from importlib import resources
from pathlib import Path

import pytest

from pi_batch.peers.judges.swebench import put_tests, verdict
from tests.peers.foreign import put

CONFIG = {"fail_to_pass": ["t.py::a", "t.py::b[x"], "pass_to_pass": ["t.py::c"], "deleted": []}


def outcomes(**changes: str) -> dict[str, str]:
    whole = {"t.py::a": "passed", "t.py::b[x y]": "passed", "t.py::b[x z]": "passed", "t.py::c": "passed"}
    return whole | {f"t.py::{name.replace('_', ' ')}": came for name, came in changes.items()}


def test_all_tests_must_pass_or_fail_as_expected(capsys: pytest.CaptureFixture[str]) -> None:
    assert verdict(CONFIG, outcomes()) == 0
    assert verdict(CONFIG, outcomes(c="xfailed")) == 0
    assert capsys.readouterr().out == "3 of 3 tests pass\n3 of 3 tests pass\n"
    assert verdict(CONFIG, outcomes(c="skipped")) == 1
    assert "FAILED pass_to_pass t.py::c: skipped" in capsys.readouterr().out


def test_an_id_cut_at_a_space_stands_for_all_that_begin_so(capsys: pytest.CaptureFixture[str]) -> None:
    assert verdict(CONFIG, {**outcomes(), "t.py::b[x z]": "failed"}) == 1
    assert "FAILED fail_to_pass t.py::b[x: passed, failed" in capsys.readouterr().out


def test_a_test_that_did_not_run_and_no_test_at_all_are_no_pass(capsys: pytest.CaptureFixture[str]) -> None:
    assert verdict(CONFIG, {}) == 1
    assert "t.py::a: not run" in capsys.readouterr().out
    assert verdict({"fail_to_pass": [], "pass_to_pass": []}, {}) == 1


def test_the_test_patch_wins_over_what_the_agent_left(tmp_path: Path) -> None:
    put(tmp_path / "files", tests__tDOTpy="theirs", new__dDOTpy="new")
    root = put(tmp_path / "root", tests__tDOTpy="the agent's", goneDOTpy="x")
    put_tests(tmp_path / "files", ["gone.py", "never.py"], root)
    assert (root / "tests/t.py").read_text() == "theirs"
    assert (root / "new/d.py").read_text() == "new"
    assert not (root / "gone.py").exists()


@pytest.mark.slow
@pytest.mark.parametrize(("body", "code"), [("return a + b", 0), ("return a - b", 1)])
def test_an_instance_is_judged_by_its_own_tests(tmp_path: Path, body: str, code: int) -> None:
    judge = resources.files("pi_batch.peers.judges").joinpath("swebench.py").read_text(encoding="utf-8")
    tests = "from calc import add\n\ndef test_add():\n    assert add(1, 2) == 3\n"
    config = {"fail_to_pass": ["tests/test_calc.py::test_add"], "pass_to_pass": [], "deleted": []}
    root = put(tmp_path, calcDOTpy=f"def add(a, b):\n    {body}\n", pytestDOTpy="import os; os._exit(0)\n")
    put(root / "j", judgeDOTpy=judge, configDOTjson=json.dumps(config), files__tests__test_calcDOTpy=tests)
    words = [sys.executable, "-I", "-S", "-B", "j/judge.py"]
    done = subprocess.run(words, cwd=root, capture_output=True, text=True, check=False, timeout=60)
    assert done.returncode == code, done.stdout + done.stderr
    assert not (root / "j").exists()
