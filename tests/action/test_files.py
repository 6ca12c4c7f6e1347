"""What a reviewer of the action and of the workflows would look for."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from pi_batch.reports.actions import step_outputs
from tests.action.files import ACTION, ACTIONS, ROOT, WORKFLOWS, program, read, steps
from tests.reports.batches import one_of_everything

EXPRESSION = re.compile(r"\$\{\{.*?\}\}", re.DOTALL)
every_file = pytest.mark.parametrize(
    "path", [*ACTIONS, *WORKFLOWS], ids=lambda path: path.parent.name + path.stem
)


@every_file
def test_no_expression_stands_in_a_script(path: Path) -> None:
    """FlorianBruniaux/claude-code-ultimate-guide#50: a title with a quote mark becomes code."""
    for step in steps(read(path)):
        assert not EXPRESSION.search(step.get("run", "")), step


@every_file
def test_foreign_actions_are_pinned_by_hash_with_their_version(path: Path) -> None:
    for line in path.read_text(encoding="utf-8").split("\n"):
        if "uses:" in line:
            assert re.search(r"uses: [\w./-]+@[0-9a-f]{40} # \S", line), line


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.stem)
def test_the_agents_job_can_write_nothing(path: Path) -> None:
    content = read(path)
    assert content["permissions"] == {}
    for job in content["jobs"].values():
        has_agent = any("ANTHROPIC_API_KEY" in str(step.get("env")) for step in job["steps"])
        assert has_agent == (job["permissions"] == {"contents": "read"})
        for step in job["steps"]:
            if "checkout" in step.get("uses", ""):
                assert step["with"]["persist-credentials"] is False
    assert "pull_request_target" not in path.read_text(encoding="utf-8")


def test_the_actions_outputs_are_those_that_a_run_sets() -> None:
    declared = read(ACTIONS[0])["outputs"]
    assert set(declared) == {*step_outputs(one_of_everything(), {}), "run-directory", "artifact"}
    for name, output in declared.items():
        assert output["value"] == f"${{{{ steps.run.outputs.{name} }}}}"


def test_every_input_reaches_the_program_that_reads_it() -> None:
    for path, name in zip(ACTIONS, ("run.py", "apply/apply.py"), strict=True):
        content = read(path)
        used = str(steps(content))
        for key in content["inputs"]:
            assert f"inputs.{key} }}" in used or f"inputs.{key} " in used, key
        source = (ACTION / name).read_text(encoding="utf-8")
        for step in steps(content):
            for variable in step.get("env", {}):
                if program(name).PREFIX in variable and Path(name).name in step["run"]:
                    assert variable.removeprefix(program(name).PREFIX) in source, variable


def test_the_examples_give_inputs_that_the_action_has() -> None:
    known = {"github-action": set(read(ACTIONS[0])["inputs"]), "apply": set(read(ACTIONS[1])["inputs"])}
    for path in WORKFLOWS:
        for step in steps(read(path)):
            action = step.get("uses", "").split("@")[0].rsplit("/", 1)[-1]
            if action in known:
                assert set(step["with"]) <= known[action]


def test_every_package_of_the_lock_has_hashes_and_the_projects_own_needs_are_in_it() -> None:
    import tomllib

    blocks = re.split(r"\n(?=\S)", (ACTION / "requirements.txt").read_text(encoding="utf-8").strip())
    locked = {re.split(r"[=\[]", block)[0].lower() for block in blocks if not block.startswith("#")}
    assert all("--hash=sha256:" in block for block in blocks if not block.startswith("#"))
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    wanted = [*project["project"]["dependencies"], *project["build-system"]["requires"]]
    assert {re.split(r"[>=\[]", need)[0].lower() for need in wanted} <= locked
