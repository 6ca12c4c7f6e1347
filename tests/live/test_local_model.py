"""A small real model on loopback: whatever it does, the verdict is true and the budget holds.

Needs a server that speaks Chat Completions, named by PI_BATCH_LIVE_BASE_URL (…/v1) and PI_BATCH_LIVE_MODEL:
`pytest -m live`.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from pi_batch.providers import apis

pytestmark = [pytest.mark.live, pytest.mark.timeout(1_800)]

ROOT = Path(__file__).parents[2]
BASE_URL = os.environ.get("PI_BATCH_LIVE_BASE_URL", "")
MODEL = os.environ.get("PI_BATCH_LIVE_MODEL", "")
TURNS, WALL_S = 8, 600.0


@pytest.fixture(autouse=True)
def _needs_a_server() -> None:
    if not BASE_URL or not MODEL:
        pytest.skip("PI_BATCH_LIVE_BASE_URL and PI_BATCH_LIVE_MODEL name no server")


def run(cwd: Path, spec: str, *options: str) -> Any:
    """The one result of a run by the real program."""
    environ = {**os.environ, "LLAMACPP_BASE_URL": BASE_URL}
    limits = ("--max-turns", str(TURNS), "--max-wall-s", str(WALL_S))
    command = [sys.executable, "-m", "pi_batch", "run", spec, "-m", f"llamacpp/{MODEL}", *limits, *options]
    done = subprocess.run(
        [*command, "--output", "out"], cwd=cwd, env=environ, capture_output=True, text=True, check=False
    )
    assert "Traceback" not in done.stderr
    report = json.loads((cwd / "out" / "run.json").read_text())
    assert done.returncode == report["exit_code"]
    (result,) = report["results"]
    assert result["num_turns"] <= TURNS
    assert result["budget"]["used"]["wall_s"] <= WALL_S + 5
    assert result["outcome"] != "error", result["reason"]
    return result


def project(tmp_path: Path) -> Path:
    target = tmp_path / "project"
    shutil.copytree(ROOT / "examples/fix-failing-test/project", target)
    for command in ("init -q", "add -A", "-c user.name=t -c user.email=t@example.invalid commit -qm start"):
        subprocess.run(["git", *command.split()], cwd=target, check=True)
    return target


def suite_passes(cwd: Path) -> bool:
    return subprocess.run([sys.executable, "-m", "pytest", "-q"], cwd=cwd, check=False).returncode == 0


def test_the_demo_ends_with_the_true_verdict(tmp_path: Path) -> None:
    shutil.copytree(ROOT / "examples/fix-failing-test", tmp_path / "demo")
    result = run(tmp_path / "demo", "task.yaml")
    patched = tmp_path / "patched"
    shutil.copytree(ROOT / "examples/fix-failing-test/project", patched)
    if result["patch"]:
        patch = tmp_path / "demo" / "out" / result["patch"]
        subprocess.run(["git", "apply", "--exclude=tests/*", str(patch)], cwd=patch, check=True)
    assert (result["outcome"] == "passed") == suite_passes(patched)


def test_a_built_in_that_repairs_ends_with_the_true_verdict(tmp_path: Path) -> None:
    cwd = project(tmp_path)
    result = run(cwd, "fix-failing-tests")
    if result["patch"]:
        patch = cwd / "out" / result["patch"]
        subprocess.run(["git", "apply", "--exclude=tests/*", str(patch)], cwd=cwd, check=True)
    assert (result["outcome"] == "passed") == suite_passes(cwd)


def test_a_built_in_that_answers_is_judged_by_its_schema(tmp_path: Path) -> None:
    cwd = project(tmp_path)
    (cwd / "fairsplit" / "notes.py").write_text(
        '"""Notes."""\n\n# TODO: say which currencies have no cents\n'
    )
    result = run(cwd, "triage-todos")
    assert (result["structured_output"] is not None) == (result["outcome"] == "passed")
    assert result["changed_files"] == [] or result["outcome"] == "failed"


@pytest.mark.parametrize(
    ("api", "name"),
    [("openai-chat", apis.CHAT), ("openai", apis.RESPONSES), ("anthropic", apis.MESSAGES)],
)
def test_a_small_task_ends_with_the_true_verdict_on_each_wire(tmp_path: Path, api: str, name: str) -> None:
    """The server speaks three of the four wires at one address."""
    root = BASE_URL.removesuffix("/v1")
    config = f'[providers.local]\napi = "{api}"\nbase_url = "{root}"\nkey_variable = ""\n'
    (tmp_path / ".pi-batch.toml").write_text(config)
    spec = {
        "prompt": "Use the write tool to write the word hello into the file hello.txt. Then say done.",
        "workspace": {"isolation": "none"},
        "tools": ["write"],
        "verify": ["grep -qi hello hello.txt"],
    }
    (tmp_path / "task.yaml").write_text(json.dumps(spec))
    words = ["run", "task.yaml", "-m", f"local/{MODEL}", "--max-turns", "4", "--output", "out"]
    command = [sys.executable, "-m", "pi_batch", *words]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert "Traceback" not in done.stderr
    (result,) = json.loads((tmp_path / "out" / "run.json").read_text())["results"]
    assert result["outcome"] != "error", result["reason"]
    made = tmp_path / "hello.txt"
    assert (result["outcome"] == "passed") == (made.exists() and "hello" in made.read_text().lower())
    assert result["usage"]["output_tokens"] > 0
    lines = (tmp_path / "out" / result["session"]).read_text(encoding="utf-8").rstrip("\n").split("\n")
    messages = [json.loads(line).get("message", {}) for line in lines]
    assert {message["api"] for message in messages if message.get("role") == "assistant"} == {name}
