"""Tests of comparing the parts of mixed configuration files."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest

from pi_batch.protocols import Changes
from pi_batch.results import ChangedFile
from pi_batch.verifiers.sections import changed_sections
from tests.verifiers.rigs import Start, context


async def found(
    tmp_path: Path,
    before: Mapping[str, str],
    after: Mapping[str, str],
    command: str = "pytest -q",
    protect: tuple[str, ...] = (),
) -> tuple[str, ...]:
    """The parts that differ, for files as they were and as they are."""
    files = []
    for name in sorted({*before, *after}):
        status = "modified" if name in before and name in after else "added" if name in after else "deleted"
        files.append(ChangedFile(name, status, 1, 1))  # type: ignore[arg-type]
    made = Changes(b"", tuple(files), ())
    start = Start(files=before)
    async with context(tmp_path, changes=made, start_text=start.text, protect=protect) as at:
        for name, text in after.items():
            path = Path(at.path) / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        return await changed_sections(at, command)


PYTEST = '[tool.pytest.ini_options]\npythonpath = ["."]\n'


async def test_dependencies_versions_and_other_tools_may_change(tmp_path: Path) -> None:
    before = f'[project]\nname = "x"\nversion = "1"\n\n{PYTEST}'
    project = '[project]\nname = "x"\nversion = "2"\ndependencies = ["six"]\n'
    after = f"{project}\n[tool.ruff]\nfix = true\n\n# c\n{PYTEST}"
    assert await found(tmp_path, {"pyproject.toml": before}, {"pyproject.toml": after}) == ()


@pytest.mark.parametrize(
    ("before", "after", "part"),
    [
        (PYTEST, PYTEST + 'addopts = "-x"\n', "[tool.pytest]"),
        (PYTEST, "", "[tool.pytest]"),
        ("", "[tool.pytest]\naddopts = ['-x']\n", "[tool.pytest]"),
        ("", "[project.entry-points.pytest11]\nx = 'y'\n", "[project.entry-points.pytest11]"),
        ("", "[tool.poetry.plugins.pytest11]\nx = 'y'\n", "[tool.poetry.plugins.pytest11]"),
        (PYTEST, "[tool.pytest\n", "[tool.pytest]"),
    ],
)
async def test_a_changed_part_of_pyproject_is_named(
    tmp_path: Path, before: str, after: str, part: str
) -> None:
    said = await found(tmp_path, {"pyproject.toml": before}, {"pyproject.toml": after})
    assert f"pyproject.toml: {part} was changed" in said


async def test_a_deleted_or_new_file_is_compared_with_nothing(tmp_path: Path) -> None:
    assert await found(tmp_path, {"pyproject.toml": PYTEST}, {}) == (
        "pyproject.toml: [tool.pytest] was changed",
    )
    assert await found(tmp_path, {}, {"pyproject.toml": PYTEST}) == (
        "pyproject.toml: [tool.pytest] was changed",
    )
    assert await found(tmp_path, {}, {"pyproject.toml": "[project]\nname = 'x'\n"}) == ()


@pytest.mark.parametrize(
    ("name", "before", "after", "part"),
    [
        (
            "setup.cfg",
            "[metadata]\nname=x\n",
            "[metadata]\nname=x\n[tool:pytest]\naddopts=-x\n",
            "[tool:pytest]",
        ),
        ("setup.cfg", "", "[options.entry_points]\npytest11 =\n  x = y\n", "[options.entry_points] pytest11"),
        ("tox.ini", "[pytest]\naddopts=\n", "[pytest]\naddopts=-x\n", "[pytest]"),
        ("setup.py", "setup()\n", "setup(entry_points={'pytest11': ['x=y']})\n", "pytest11"),
    ],
)
async def test_the_other_files_of_python_are_read(
    tmp_path: Path, name: str, before: str, after: str, part: str
) -> None:
    assert await found(tmp_path, {name: before}, {name: after}) == (f"{name}: {part} was changed",)


async def test_other_parts_of_setup_cfg_tox_and_setup_py_may_change(tmp_path: Path) -> None:
    before = {"setup.cfg": "[metadata]\nname=x\n", "tox.ini": "[testenv]\ndeps=a\n", "setup.py": "setup()\n"}
    after = {
        "setup.cfg": "[metadata]\nname=x\n[x]\ny=1\n[options.entry_points]\nconsole_scripts=\n  x = y\n",
        "tox.ini": "[testenv]\ndeps=b\n",
        "setup.py": "setup(name='x')\n",
    }
    assert await found(tmp_path, before, after) == ()
    assert await found(tmp_path, before, after, "tox -e py") == ("tox.ini: [testenv] was changed",)


SCRIPTS = '{"scripts": {"test": "npm run unit", "unit": "jest", "lint": "eslint ."}, "dependencies": {}}'


@pytest.mark.parametrize(
    ("after", "parts"),
    [
        (SCRIPTS.replace('"dependencies": {}', '"dependencies": {"a": "1"}'), []),
        (SCRIPTS.replace("eslint .", "eslint src"), []),
        (SCRIPTS.replace('"lint"', '"format": "prettier", "lint"'), []),
        (SCRIPTS.replace("npm run unit", "true"), ["scripts.test", "scripts.unit"]),
        (SCRIPTS.replace('"jest"', '"jest --passWithNoTests"'), ["scripts.unit"]),
        (SCRIPTS.replace('"lint"', '"pretest": "rm -r tests", "lint"'), ["scripts.pretest"]),
        (SCRIPTS.replace('"scripts"', '"jest": {"testMatch": []}, "scripts"'), ["jest"]),
    ],
)
async def test_the_scripts_that_a_check_reaches_and_jest_are_compared(
    tmp_path: Path, after: str, parts: list[str]
) -> None:
    said = await found(tmp_path, {"package.json": SCRIPTS}, {"package.json": after}, "npm test")
    assert said == tuple(f"package.json: {part} was changed" for part in parts)


async def test_a_script_that_the_check_does_not_reach_may_change(tmp_path: Path) -> None:
    before, after = {"package.json": SCRIPTS}, {"package.json": SCRIPTS.replace("npm run unit", "true")}
    for command in ("npm run lint", "npx jest"):
        assert await found(tmp_path, before, after, command) == ()
    for command in ("npm t", "yarn run test", "./ci.sh", "make check"):
        assert "package.json: scripts.test was changed" in await found(tmp_path, before, after, command)


async def test_a_part_counts_only_for_checks_that_may_read_it(tmp_path: Path) -> None:
    changed = {"pyproject.toml": PYTEST}
    assert await found(tmp_path, {}, changed, "cargo test") == ()
    assert await found(tmp_path, {}, changed, "make test") != ()
    assert (
        await found(tmp_path, {"package.json": "{}"}, {"package.json": '{"jest": {"a": 1}}'}, "pytest") == ()
    )


async def test_a_file_below_counts_only_where_a_check_starts_or_points_there(tmp_path: Path) -> None:
    changed = {"examples/x/pyproject.toml": PYTEST}
    assert await found(tmp_path, {}, changed, "pytest tests") == ()
    assert await found(tmp_path, {}, changed, "pytest examples/x/tests") != ()
    assert await found(tmp_path, {}, changed, "cd examples/x && pytest") != ()
    assert await found(tmp_path, {}, changed, "make test") != ()
    assert await found(tmp_path, {}, {"node_modules/x/package.json": '{"jest": {"a": 1}}'}, "npm test") == ()


async def test_a_negated_glob_allows_the_change(tmp_path: Path) -> None:
    assert await found(tmp_path, {}, {"pyproject.toml": PYTEST}, protect=("!pyproject.toml",)) == ()


async def test_without_a_start_nothing_is_compared(tmp_path: Path) -> None:
    async with context(tmp_path) as at:
        assert await changed_sections(at, "pytest") == ()
