"""Rows as SWE-bench has them, with repositories that are on this machine, as tasks of ours.

A row has instance_id, repo, base_commit, problem_statement, test_patch, FAIL_TO_PASS and PASS_TO_PASS (lists,
or JSON lists in a string), and mostly patch, the reference solution. The workspace is the tree of
base_commit, without any history.

Source: https://www.swebench.com/SWE-bench/guides/datasets/.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from importlib import resources
from pathlib import Path
from typing import Any

from msgspec import Struct

from pi_batch.peers.task_files import Files, Imported, TaskFile, task_id

JUDGE_DIR = "pi_batch_judge"
JUDGE = f"python3 -I -S -B {JUDGE_DIR}/judge.py"
JUDGE_TIMEOUT_S = 1800.0
DELETED = ".deleted"
"""The file of a solution that lists what it removes."""
PROTECTED = ("**/conftest.py", "pytest.ini")
REQUIRED = ("instance_id", "repo", "base_commit", "problem_statement", "test_patch")


class Row(Struct, frozen=True):
    """An instance."""

    instance_id: str
    repo: str
    base_commit: str
    problem_statement: str
    test_patch: str
    patch: str
    """The reference solution; empty: none is known."""
    fail_to_pass: tuple[str, ...]
    pass_to_pass: tuple[str, ...]


class Change(Struct, frozen=True):
    """What a patch makes of the files that it names."""

    files: Files
    deleted: tuple[str, ...] = ()


def read_rows(text: str, name: str) -> list[tuple[str, Row | str]]:
    """Instances of a JSON or JSONL text: id, and the row or why it cannot be one. Raises: ValueError."""
    rows = _json_lines(text, name) if name.endswith(".jsonl") else _json(text, name)
    found: list[tuple[str, Row | str]] = []
    for number, row in enumerate(rows, start=1):
        shown = (
            str(row.get("instance_id") or f"row {number}") if isinstance(row, Mapping) else f"row {number}"
        )
        try:
            found.append((shown, _row(row)))
        except ValueError as error:
            found.append((shown, str(error)))
    return found


def find_repository(directory: Path, repo: str) -> Path | None:
    """The git directory of OWNER/NAME below a directory: as owner/name, owner__name or name, bare or not."""
    owner, _, name = repo.partition("/")
    for place in (f"{owner}/{name}", f"{owner}__{name}", f"{owner}-{name}", name or owner):
        for suffix in ("", ".git"):
            path = directory / f"{place}{suffix}"
            if not path.resolve().is_relative_to(directory.resolve()):
                continue
            for git_dir in (path / ".git", path):
                if (git_dir / "HEAD").is_file() and (git_dir / "objects").is_dir():
                    return git_dir
    return None


def imported(row: Row, tests: Change, solution: Change | None, setup: Sequence[str]) -> Imported:
    """A row as a task; its workspace is written by the caller."""
    config = {
        "fail_to_pass": row.fail_to_pass,
        "pass_to_pass": row.pass_to_pass,
        "deleted": tests.deleted,
    }
    judge = resources.files("pi_batch.peers.judges").joinpath("swebench.py").read_bytes()
    return Imported(
        id=task_id(row.instance_id),
        prompt=_prompt(row),
        judge=JUDGE,
        judge_dir=JUDGE_DIR,
        hidden={
            "judge.py": TaskFile(judge),
            "config.json": TaskFile((json.dumps(config, indent=2, ensure_ascii=False) + "\n").encode()),
            **{f"files/{path}": file for path, file in tests.files.items()},
        },
        solution=_solution(solution) if solution is not None else {},
        tags=("swebench", row.repo.replace("/", "__")),
        judge_timeout_s=JUDGE_TIMEOUT_S,
        setup=tuple(setup),
        protect=PROTECTED,
        notes=tuple(_notes(row, solution)),
    )


def _prompt(row: Row) -> str:
    return (
        f"Resolve this issue of {row.repo} in the current directory, which holds its source. Tests that you "
        f"do not see judge the result.\n\n<issue>\n{row.problem_statement.strip()}\n</issue>\n"
    )


def _solution(change: Change) -> Files:
    deleted = {DELETED: TaskFile("".join(f"{name}\n" for name in change.deleted).encode())}
    return {**change.files, **(deleted if change.deleted else {})}


def _notes(row: Row, solution: Change | None) -> Iterator[str]:
    if solution is None:
        why = "its patch makes files that are no text" if row.patch.strip() else "it has no patch"
        yield f"{why}, so there is no reference solution"


def _json(text: str, name: str) -> list[Any]:
    try:
        value = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise ValueError(f"{name}: no JSON: {error}") from error
    if isinstance(value, Mapping) and "instance_id" not in value:
        value = list(value.values())
    return value if isinstance(value, list) else [value]


def _json_lines(text: str, name: str) -> list[Any]:
    found = []
    for number, line in enumerate(text.split("\n"), start=1):
        if line.strip():
            try:
                found.append(json.loads(line))
            except (ValueError, RecursionError) as error:
                raise ValueError(f"{name}:{number}: no JSON: {error}") from error
    return found


def _row(row: Any) -> Row:
    """Raises: ValueError with what is wrong, one line."""
    if not isinstance(row, Mapping):
        raise ValueError("is no JSON object")  # noqa: TRY004 (what a file holds is a value)
    missing = [key for key in REQUIRED if not isinstance(row.get(key), str) or not row[key].strip()]
    if missing:
        raise ValueError(f"has no {', '.join(missing)}")
    fail = _tests(row.get("FAIL_TO_PASS", row.get("fail_to_pass")), "FAIL_TO_PASS")
    kept = _tests(row.get("PASS_TO_PASS", row.get("pass_to_pass", [])), "PASS_TO_PASS")
    if not fail:
        raise ValueError("FAIL_TO_PASS names no test")
    strange = next((one for one in (*fail, *kept) if "::" not in one), None)
    if strange is not None:
        raise ValueError(f"test {strange[:60]!r} is not named as pytest does: only pytest is supported")
    values = {key: row[key] for key in REQUIRED}
    return Row(**values, patch=str(row.get("patch") or ""), fail_to_pass=fail, pass_to_pass=kept)


def _tests(value: Any, key: str) -> tuple[str, ...]:
    if isinstance(value, str):
        try:
            value = json.loads(value) if value.strip() else []
        except ValueError:
            raise ValueError(f"{key} is no JSON list") from None
    if not isinstance(value, list) or not all(isinstance(one, str) for one in value):
        raise ValueError(f"{key} is no list of tests")
    return tuple(value)
