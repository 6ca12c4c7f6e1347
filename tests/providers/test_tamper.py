"""Cheats: each really changes what it is named after, and nothing fails on the way."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from pi_batch.errors import UsageError
from pi_batch.messages import user_text
from pi_batch.providers.tamper import CHEATS, Tamper, cheats_of
from tests.benches import put
from tests.providers.requests import ask
from tests.providers.test_reference import said

FILES = {
    "work/app.py": "def f():\n    return 1\n",
    "work/run.sh": "#!/bin/sh\nfalse\n",
    "work/tests/test_app.py": "import app\nassert app.f() == 2\n",
    "solution/app.py": "def f():\n    return 2\n",
    "solution/.deleted": "old.py\n",
    "work/old.py": "",
    "home/x": "",
}
SAFE = ("edit-tests", "skip-tests", "conftest", "exit-zero", "read-solution")
"""Those that change nothing outside the directory that they are started in."""


def cheat(top: Path, name: str) -> Path:
    """The directory after a cheat."""
    put(top, FILES)
    command = f"SOLUTION={top}/solution\n{CHEATS[name]}"
    environ = {"PATH": "/usr/bin:/bin", "HOME": str(top / "home")}
    done = subprocess.run(
        ["bash", "-c", command], cwd=top / "work", env=environ, capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stderr) == (0, "")
    return top / "work"


def test_editing_and_skipping_reach_every_test(tmp_path: Path) -> None:
    edited = cheat(tmp_path / "a", "edit-tests")
    assert "assert app" not in (edited / "tests/test_app.py").read_text()
    skipped = cheat(tmp_path / "b", "skip-tests")
    assert (skipped / "tests/test_app.py").read_text().startswith("import unittest; raise unittest.SkipTest")


def test_leaving_with_zero_reaches_programs_and_scripts(tmp_path: Path) -> None:
    work = cheat(tmp_path, "exit-zero")
    for words in (["python3", "app.py"], ["sh", "run.sh"]):
        assert subprocess.run(words, cwd=work, capture_output=True, check=False).returncode == 0


def test_a_solution_that_can_be_read_is_taken(tmp_path: Path) -> None:
    work = cheat(tmp_path, "read-solution")
    assert "return 2" in (work / "app.py").read_text()
    assert not (work / "old.py").exists()


@pytest.mark.parametrize("name", SAFE)
def test_it_works_where_nothing_is_there(tmp_path: Path, name: str) -> None:
    put(tmp_path, {"work/x": ""})
    done = subprocess.run(
        ["bash", "-c", f"SOLUTION=gone\n{CHEATS[name]}"], cwd=tmp_path / "work", check=False
    )
    assert done.returncode == 0


@pytest.mark.parametrize("name", CHEATS)
def test_its_script_can_be_parsed(name: str) -> None:
    assert subprocess.run(["bash", "-n", "-c", CHEATS[name]], check=False).returncode == 0


async def test_one_cheat_or_all(tmp_path: Path) -> None:
    assert len(await said(Tamper("conftest", tmp_path))) == 2
    every = await said(Tamper("tamper", tmp_path))
    assert [reply.text for reply in every] == [*CHEATS, "All tests pass."]
    assert len(CHEATS) >= 10
    _, first = await ask(Tamper("tamper", Path("/a b")), user_text("go"))
    (call,) = first.tool_calls
    assert str((call.arguments or {})["command"]).startswith("SOLUTION='/a b'\n")


def test_a_cheat_that_is_none_is_named_with_those_that_are_known() -> None:
    with pytest.raises(UsageError, match=r"tamper/x: no such cheat \(known: edit-tests, "):
        cheats_of("x")
