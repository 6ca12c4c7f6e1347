"""Built-in models: only for tasks with hidden files and a solution, cheats only behind walls."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from pi_batch.errors import UsageError
from pi_batch.model_names import ModelName
from pi_batch.results import PlannedResult
from pi_batch.spec import Check, PlannedTask, TaskSpec
from pi_batch.wiring.builtin_models import check_builtin, need_walls, open_builtin
from tests.benches import make_task


def task(top: Path, **spec: Any) -> PlannedTask:
    made = TaskSpec(
        **{
            "id": "answer",
            "prompt": "p",
            "hidden": ("checks",),
            "solution": "solution",
            "verify": (Check(name="c", run="true"),),
            **spec,
        }
    )
    planned = PlannedResult("answer", "answer", "", "t.yaml", "0" * 64, "oracle")
    return PlannedTask(planned, made, str(make_task(top / "answer")), "oracle")


@pytest.mark.parametrize(
    ("name", "parsed"),
    [
        ("oracle", ("oracle", "oracle")),
        ("nop", ("nop", "nop")),
        ("oracle/mistakes/x", ("oracle", "mistakes/x")),
        ("tamper/exit-zero:low", ("tamper", "exit-zero:low")),
    ],
)
def test_their_names_need_no_slash_and_have_no_level(name: str, parsed: tuple[str, str]) -> None:
    made = ModelName.parse(name)
    assert (made.provider, made.model, made.thinking) == (*parsed, None)


def test_each_is_made_for_a_benchmark_task(tmp_path: Path) -> None:
    made = task(tmp_path)
    names = [
        open_builtin(provider, model, made).name
        for provider, model in (
            ("oracle", "oracle"),
            ("oracle", "alternatives/no-newline"),
            ("nop", "nop"),
            ("tamper", "tamper"),
            ("tamper", "conftest"),
        )
    ]
    assert names == ["oracle", "oracle", "nop", "tamper", "tamper"]


@pytest.mark.parametrize("spec", [{"hidden": ()}, {"solution": None}])
def test_other_tasks_are_refused(tmp_path: Path, spec: dict[str, Any]) -> None:
    with pytest.raises(UsageError, match=r"'nop': is for tasks of a benchmark suite, and 'answer' is none"):
        check_builtin("nop", "nop", task(tmp_path, **spec))


@pytest.mark.parametrize(
    ("provider", "model", "message"),
    [
        ("nop", "x", "'nop/x': need 'nop', nothing behind it"),
        ("oracle", "gone", "'oracle/gone': no such directory: "),
        ("tamper", "x", "tamper/x: no such cheat"),
    ],
)
def test_what_cannot_be_had_is_said(tmp_path: Path, provider: str, model: str, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        check_builtin(provider, model, task(tmp_path))


def test_cheats_are_never_tried_on_the_machine_itself(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="never run without a sandbox"):
        check_builtin("tamper", "conftest", task(tmp_path, sandbox="none"))
    with pytest.raises(UsageError, match="never run without a sandbox"):
        need_walls("tamper", "none")
    need_walls("tamper", "landlock")
    need_walls("oracle", "none")
