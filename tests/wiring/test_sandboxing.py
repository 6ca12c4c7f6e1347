"""Which sandbox a task gets, and what a run says of it."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from pi_batch.errors import SandboxError
from pi_batch.kernel import cgroups
from pi_batch.results import PlannedResult
from pi_batch.sandboxes.enclosed import Enclosed
from pi_batch.spec import PermissionsSpec, PlannedTask, TaskSpec, WorkspaceSpec
from pi_batch.wiring.sandboxing import EXPOSED, Choice, SandboxChooser, TaskDirs, limits_here
from tests.sandboxes.rigs import works

BOTH_WORK = pytest.mark.skipif(not works("bwrap"), reason="no bwrap here")


def task(**spec: Any) -> PlannedTask:
    """A planned task."""
    made = TaskSpec(**{"id": "t", "prompt": "p", **spec})
    return PlannedTask(PlannedResult("t", "t", "", "t.yaml", "0" * 64, "x/y"), made, "/", "x/y")


def chooser(tmp_path: Path, **complaints: str) -> SandboxChooser:
    """One that has tried everything already: name of a sandbox -> why it does not work."""
    known: dict[tuple[str, bool | tuple[str, ...]], str] = {}
    for name in ("bwrap", "landlock"):
        for network in (False, True, ("a.example",)):
            known[name, network] = complaints.get(name, "")
    return SandboxChooser("/usr/bin:/bin", str(tmp_path / "home"), tmp_path / "run", {}, known)


def prepared(made: SandboxChooser, *tasks: PlannedTask) -> tuple[str, ...]:
    """The warnings of a run."""
    return asyncio.run(made.prepare(tasks))


def test_hidden_files_without_a_sandbox_are_warned_of_once(tmp_path: Path) -> None:
    hidden = {"sandbox": "none", "hidden": ("checks",)}
    assert prepared(chooser(tmp_path), task(**hidden), task(id="u", **hidden)) == (EXPOSED,)
    assert prepared(chooser(tmp_path), task(sandbox="none"), task(id="u", hidden=("checks",))) == ()


def test_auto_takes_the_strongest_that_works(tmp_path: Path) -> None:
    for complaints, expected in (({}, "bwrap"), ({"bwrap": "no"}, "landlock")):
        made = chooser(tmp_path, **complaints)
        assert prepared(made, task()) == ()
        assert made.chosen(task().spec) == expected


def test_auto_ends_at_none_with_one_warning_for_all_tasks(tmp_path: Path) -> None:
    made = chooser(tmp_path, bwrap="bwrap: not installed", landlock="landlock: no")
    warnings = prepared(made, task(), task(id="u"), task(id="v", permissions=PermissionsSpec(network=True)))
    assert len(warnings) == 1
    assert "auto ends at none" in warnings[0]
    assert "bwrap: not installed; landlock: no" in warnings[0]
    assert "\n" not in warnings[0]
    assert made.chosen(task().spec) == "none"


@pytest.mark.parametrize(
    ("spec", "why"),
    [
        ({"sandbox_required": True}, "no sandbox works here: bwrap: no; landlock: no"),
        ({"sandbox": "bwrap"}, "bwrap: no"),
        ({"sandbox": "landlock"}, "landlock: no"),
        ({"sandbox": "none", "sandbox_required": True}, "sandbox_required asks for one"),
        ({"permissions": PermissionsSpec(network=("a.example",))}, "no sandbox works here"),
    ],
)
def test_nothing_weaker_than_asked_for_is_taken(tmp_path: Path, spec: dict[str, Any], why: str) -> None:
    made = chooser(tmp_path, bwrap="bwrap: no", landlock="landlock: no")
    prepared(made, task(**spec))
    with pytest.raises(SandboxError, match=why):
        made.chosen(task(**spec).spec)


def test_none_by_name_needs_no_trial_and_no_warning(tmp_path: Path) -> None:
    made = SandboxChooser("", "", tmp_path)
    assert prepared(made, task(sandbox="none")) == ()
    assert made.choices == {("none", False, False, ""): Choice("none")}


@BOTH_WORK
def test_a_sandbox_is_around_the_whole_tree_with_the_network_of_its_use(
    tmp_path: Path,
) -> None:
    made = chooser(tmp_path)
    for name in ("state/w/repo/sub", "state/scratch", "outputs", "run"):
        (tmp_path / name).mkdir(parents=True)
    dirs = TaskDirs(tmp_path / "state", tmp_path / "outputs")
    spec = task(workspace=WorkspaceSpec(setup=("true",))).spec
    prepared(made, task())
    path, scratch = str(tmp_path / "state/w/repo/sub"), str(tmp_path / "state/scratch")
    for use, network in (("commands", "its own network"), ("setup", "the machine's network")):
        sandbox = made.make(spec, dirs, path, scratch, use)  # type: ignore[arg-type] # a Literal
        assert isinstance(sandbox, Enclosed)
        assert network in sandbox.layers

    async def run() -> bytes:
        sandbox = made.make(spec, dirs, path, scratch, "commands")
        await sandbox.start()
        output: list[bytes] = []
        script = "touch ../made && ls .. && ls -d /etc/passwd"
        env = {"PATH": "/usr/bin:/bin"}
        await sandbox.exec(["sh", "-c", script], cwd=path, env=env, timeout_s=9, on_output=output.append)
        await sandbox.close()
        return b"".join(output)

    assert asyncio.run(run()) == b"made\nsub\n/etc/passwd\n"


def test_limits_have_a_group_of_their_own_once_opened_and_not_before() -> None:
    assert limits_here().cgroup is None
    limits = limits_here().opened()
    try:
        assert bool(limits.cgroup) == bool(cgroups.hierarchies())
        assert limits.opened() is limits
    finally:
        limits.close()
