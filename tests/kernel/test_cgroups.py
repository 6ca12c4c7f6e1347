"""Control groups where they can be made, none where they cannot."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from pi_batch.kernel import cgroups

HERE = pytest.mark.skipif(not cgroups.hierarchies(), reason="no control group can be made here")


@HERE
def test_a_process_that_enters_is_held_to_the_number_of_processes() -> None:
    group = cgroups.make({"pids": 5, "memory": 1 << 30})
    assert group is not None
    if "pids" not in group.controllers:
        pytest.skip("no pids controller here")
    enter = "; ".join(f"echo $$ > {entrance}" for entrance in group.entrances)
    script = f"{enter}; for i in 1 2 3 4 5 6 7 8 9; do sleep 0.05 & done; wait"
    done = subprocess.run(["bash", "-c", script], capture_output=True, check=False)
    assert b"fork" in done.stderr
    group.remove()
    assert not any(directory.exists() for directory in group.directories)
    group.remove()


@HERE
def test_nothing_is_made_where_nothing_is_asked_for() -> None:
    assert cgroups.make({}) is None


def test_hierarchies_are_directories_that_this_process_may_write() -> None:
    for hierarchy in cgroups.hierarchies():
        assert hierarchy.directory.is_dir()
        assert set(hierarchy.controllers) <= set(cgroups.CONTROLLERS)
        assert not list(Path(hierarchy.directory).glob("pi-batch-*-probe"))


def test_groups_of_killed_processes_are_swept_and_nothing_else(tmp_path: Path) -> None:
    names = {"pi-batch-999999999-1": 0, f"pi-batch-{os.getpid()}-1": 1, "pi-batch-x": 1, "other-1": 1}
    for name in names:
        (tmp_path / name).mkdir()
        os.utime(tmp_path / name, (0, 0))
    (tmp_path / "pi-batch-999999998-1").mkdir()
    cgroups.sweep(tmp_path)
    left = {path.name for path in tmp_path.iterdir()}
    assert left == {name for name, stays in names.items() if stays} | {"pi-batch-999999998-1"}
