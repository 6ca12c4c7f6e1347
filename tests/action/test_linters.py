"""What other people's linters say of our actions and workflows, and of what `pi-batch init` writes."""

from __future__ import annotations

from pathlib import Path

import pytest

from pi_batch.cli.init import KINDS
from tests.action.files import ACTIONS, ROOT, WORKFLOWS
from tests.action.linters import lint, workflow_problems
from tests.cli.calling import Desk
from tests.cli.conftest import desk as desk  # noqa: PLC0414 -- the fixture

pytestmark = pytest.mark.peer
ACTION = f"own/fork@{'a' * 40}"
BAD = "on: push\njobs:\n  a:\n    runs-on: x\n    steps:\n      - run: echo ${{ github.head_ref }}\n"


@pytest.mark.parametrize("name", ["actionlint", "zizmor", "check-jsonschema"])
def test_a_linter_finds_what_is_wrong(tmp_path: Path, name: str) -> None:
    """That it says nothing of ours means something only then."""
    words = ("--builtin-schema", "vendor.github-workflows") if name == "check-jsonschema" else ()
    path = tmp_path / ".github" / "workflows" / "bad.yml"
    path.parent.mkdir(parents=True)
    path.write_text(BAD if not words else BAD.replace("on: push", "on: pushed"), encoding="utf-8")
    code, said = lint(name, *words, paths=[path])
    assert code != 0, said


def test_workflows_hold_before_actionlint_zizmor_and_their_schema() -> None:
    assert workflow_problems(WORKFLOWS) == ""


def test_actions_and_hooks_hold_before_zizmor_and_their_schemas() -> None:
    for name, words, paths in (
        ("zizmor", ("--offline", "--quiet", "--persona", "pedantic", "--min-severity", "medium"), ACTIONS),
        ("check-jsonschema", ("--builtin-schema", "vendor.github-actions"), ACTIONS),
        ("pre-commit", ("validate-manifest",), [ROOT / ".pre-commit-hooks.yaml"]),
    ):
        code, said = lint(name, *words, paths=paths)
        assert code == 0, said


@pytest.mark.parametrize("kind", KINDS)
def test_what_init_writes_holds_before_them_in_one_command(desk: Desk, kind: str) -> None:
    """A newcomer's path: `pi-batch init KIND`, and the linters have nothing to say."""
    assert desk.call("init", kind, "--action", ACTION).code == 0
    written = [path for path in desk.path.rglob("*") if path.suffix in (".yml", ".yaml")]
    workflows = [path for path in written if path.parent.name == "workflows"]
    if workflows:
        assert workflow_problems(workflows) == ""
    for ending, name, words in (
        (".gitlab-ci.yml", "check-jsonschema", ("--builtin-schema", "vendor.gitlab-ci")),
        (".pre-commit-config.yaml", "pre-commit", ("validate-config",)),
        ("-shards.yaml", "kubernetes-validate", ("--strict",)),
    ):
        for path in written:
            if path.name.endswith(ending):
                code, said = lint(name, *words, paths=[path])
                assert code == 0, said


def test_the_linters_find_nothing_in_a_workflow_that_was_changed_as_init_says(desk: Desk) -> None:
    """The steps that `init` names are edits of text: the file still holds after them."""
    desk.call("init", "github")
    path = desk.path / ".github/workflows/pi-batch-fix-tests.yml"
    text = path.read_text(encoding="utf-8")
    assert workflow_problems([path]) == ""
    changed = text.replace("0" * 40, "b" * 40).replace("python -m pytest -q", "make test")
    path.write_text(changed.replace("claude-sonnet-5", "claude-haiku-5"), encoding="utf-8")
    assert workflow_problems([path]) == ""
