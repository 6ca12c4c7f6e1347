"""The two jobs of the nightly workflow in a runner of our own: state from a cache, patches to their place."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from tests.action.files import ACTIONS, ROOT, read
from tests.action.test_runner import Runner
from tests.cases.turns import say, turn, write, write_session
from tests.workspaces.mirroring import Forge
from tests.workspaces.repositories import git

pytestmark = pytest.mark.slow
WORKFLOW = ROOT / "github-action" / "examples" / "nightly.yml"


def night(base: Path, forge: Forge, cache: Path) -> str:
    """One night on two fresh machines, with the workflow's own arguments; what it shows of itself."""
    work, publish = (read(WORKFLOW)["jobs"][name]["steps"] for name in ("work", "publish"))
    given = next(step["with"] for step in work if "task" in step.get("with", {}))
    base.mkdir()
    runner = Runner(base)
    suite = runner.workspace / given["task"]
    suite.parent.mkdir(parents=True)
    task = "{id: mend, prompt: Go., verify: ['test -e made'], only_if: {changed: ['**']}}"
    suite.write_text(f"tasks: [{task}]\nmatrix: {{repo: [{forge.bare}]}}\n")
    write_session(runner.workspace / "own.jsonl", [turn(write("made", "")), say("done")])
    state = runner.workspace / ".pi-batch" / "state"
    if cache.exists():
        shutil.copytree(cache, state)
    runner.env |= {"GITHUB_EVENT_NAME": "schedule", "HOME": str(base)}
    code, found = runner.uses(ACTIONS[0], task=given["task"], model="replay/own.jsonl", args=given["args"])
    assert code == 0, runner.log
    shutil.copytree(state, cache, dirs_exist_ok=True)
    if found["changed-files"]:
        shutil.copytree(found["run-directory"], runner.temp / "pi-batch" / "fetched")
        code, _ = runner.uses(ACTIONS[1], apply="branch", args=f"--repo {forge.base}/*", artifact="x")
        assert code == 0, runner.log
        show = next(step["run"] for step in publish if "run" in step)
        assert show.split()[:2] == ["cat", '"$RUNNER_TEMP/pi-batch/fetched/digest.md"']
        return (runner.temp / "pi-batch/fetched/digest.md").read_text()
    return Path(found["run-directory"], "digest.md").read_text()


def test_two_nights_by_the_workflow(tmp_path: Path) -> None:
    forge = Forge(tmp_path)
    first = night(tmp_path / "one", forge, tmp_path / "cache")
    assert "## Changed (1)" in first
    assert "· `pi-batch/mend--r`" in first
    assert git(forge.bare, "rev-parse", "pi-batch/mend--r^") == git(forge.bare, "rev-parse", "main")
    second = night(tmp_path / "two", forge, tmp_path / "cache")
    assert "only_if: nothing in ** changed" in second


def test_the_job_that_publishes_allows_its_owners_repositories_alone() -> None:
    publish = read(WORKFLOW)["jobs"]["publish"]["steps"]
    words = next(step["with"]["args"] for step in publish if "artifact" in step.get("with", {}))
    assert words == '--repo "${{ github.server_url }}/${{ github.repository_owner }}/*"'
    assert "contents" not in read(WORKFLOW)["permissions"]
    assert read(WORKFLOW)["jobs"]["work"]["permissions"] == {"contents": "read"}
