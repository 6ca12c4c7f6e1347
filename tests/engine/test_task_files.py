"""The patch and the answer in the run directory."""

from __future__ import annotations

from pathlib import Path

import pytest
from msgspec.structs import replace

from pi_batch.engine.task_files import write_answer, write_patch
from pi_batch.engine.task_parts import TaskParts
from pi_batch.errors import PolicyError
from pi_batch.redact import Masker
from tests.engine.tasks import Lab, planned


def parts(tmp_path: Path) -> TaskParts:
    lab = Lab(tmp_path)
    return replace(lab.open_task(planned("t", lab.source)), mask=Masker(["geheim-geheim"]))


def test_only_one_of_the_two_patches_is_there(tmp_path: Path) -> None:
    task = parts(tmp_path)
    assert write_patch(task, b"+a\n", is_whole=False) == "tasks/t/changes.partial.patch"
    assert write_patch(task, b"+b\n", is_whole=True) == "tasks/t/changes.patch"
    assert [path.name for path in task.task_dir.glob("*.patch")] == ["changes.patch"]


def test_no_change_leaves_no_patch(tmp_path: Path) -> None:
    task = parts(tmp_path)
    assert write_patch(task, b"", is_whole=True) is None
    assert not [*task.task_dir.glob("*.patch")]


def test_a_patch_with_a_secret_is_withheld(tmp_path: Path) -> None:
    task = parts(tmp_path)
    with pytest.raises(PolicyError, match="withheld"):
        write_patch(task, b"+geheim-geheim\n", is_whole=True)
    assert not [*task.task_dir.glob("*.patch")]


def test_an_answer_is_written_in_its_kind(tmp_path: Path) -> None:
    task = parts(tmp_path)
    write_answer(task, {"n": 1}, "said")
    assert (task.task_dir / "answer.json").read_text() == '{\n  "n": 1\n}\n'
    assert not (task.task_dir / "answer.md").exists()
    write_answer(task, None, "said")
    assert (task.task_dir / "answer.md").read_text() == "said\n"
