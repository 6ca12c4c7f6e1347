"""What killed runs left in the temporary directory goes with the next run, unless it can be gone on with."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from pi_batch.wiring.run_lock import held
from pi_batch.wiring.stored_plan import FILE
from pi_batch.wiring.sweeping import note_run, sweep
from tests.cli.calling import MODEL, Desk


def private(
    temporary: Path, run_dir: Path, *, name: str = "pi-batch-0123456789ab", is_kept: bool = True
) -> Path:
    """A private directory as a run leaves it."""
    path = temporary / name
    path.mkdir(parents=True)
    path.chmod(0o700)
    note_run(path, run_dir)
    if is_kept:
        (path / "task").mkdir()
        (path / "task" / "workspace.json").touch()
    return path


@pytest.fixture
def desk_with_run(desk: Desk) -> Desk:
    """A finished run in `out`."""
    assert desk.call("run", "task.yaml", *MODEL, "--output", "out").code == 0
    return desk


def name_in_plan(run_dir: Path, private_dir: Path) -> None:
    """Have a stored plan say where its workspaces are."""
    plan = json.loads((run_dir / FILE).read_bytes())
    (run_dir / FILE).write_text(json.dumps({**plan, "state_dir": str(private_dir)}), encoding="utf-8")


def test_a_directory_whose_run_is_gone_is_removed(tmp_path: Path) -> None:
    path = private(tmp_path / "tmp", tmp_path / "no-such-run")
    assert sweep(tmp_path / "tmp") == 1
    assert not path.exists()


def test_one_that_a_run_can_be_gone_on_with_stays(desk_with_run: Desk, tmp_path: Path) -> None:
    run_dir = desk_with_run.path / "out"
    path = private(tmp_path / "tmp", run_dir)
    name_in_plan(run_dir, path)
    assert sweep(tmp_path / "tmp") == 0
    (path / "task" / "workspace.json").unlink()
    assert sweep(tmp_path / "tmp") == 1, "without a workspace there is nothing to go on with"


def test_one_that_its_run_does_not_know_any_more_is_removed(desk_with_run: Desk, tmp_path: Path) -> None:
    private(tmp_path / "tmp", desk_with_run.path / "out")
    assert sweep(tmp_path / "tmp") == 1


def test_one_of_a_run_that_goes_on_stays(tmp_path: Path) -> None:
    (tmp_path / "run").mkdir()
    private(tmp_path / "tmp", tmp_path / "run", is_kept=False)
    with held(tmp_path / "run"):
        assert sweep(tmp_path / "tmp") == 0
    assert sweep(tmp_path / "tmp") == 1


def test_what_others_made_is_never_touched(tmp_path: Path) -> None:
    temporary = tmp_path / "tmp"
    private(temporary, tmp_path / "gone", name="pi-batch-open").chmod(0o755)
    (temporary / "pi-batch-mine").mkdir(mode=0o700)
    private(temporary, tmp_path / "gone", name="another")
    (temporary / "pi-batch-link").symlink_to(temporary / "another")
    assert sweep(temporary) == 0
    assert sweep(tmp_path / "absent") == 0


def test_trials_of_sandboxes_are_removed_once_they_are_old(tmp_path: Path) -> None:
    for name, age_s in (("pi-batch-probe-old", 9999), ("pi-batch-probe-new", 0)):
        path = private(tmp_path, tmp_path / "gone", name=name)
        when = path.stat().st_mtime - age_s
        os.utime(path, (when, when))
    assert sweep(tmp_path) == 1
    assert (tmp_path / "pi-batch-probe-new").exists()


def test_a_run_sweeps_before_it_begins(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    temporary = desk.path / "temporary"
    path = private(temporary, desk.path / "gone")
    monkeypatch.setattr("tempfile.tempdir", str(temporary))
    assert desk.call("run", "task.yaml", *MODEL, "--output", "out").code == 0
    assert not path.exists()
    assert list(temporary.iterdir()) == []
