"""Tests of which changed files a clean copy has as at the start."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

import pytest
from msgspec import convert
from pathspec import GitIgnoreSpec

from pi_batch.harness import PYTHON_GLOBS, effective_protect, glob_for, is_lifted, protection
from pi_batch.results import ChangedFile, FileStatus
from pi_batch.spec import TaskSpec


def spec(*commands: str, **keys: Any) -> TaskSpec:
    verify = [{"name": f"check-{number}", "run": run} for number, run in enumerate(commands)]
    return convert({"id": "t", "prompt": "p", "verify": verify, **keys}, TaskSpec)


def changed(path: str, status: FileStatus = "modified", old_path: str | None = None) -> ChangedFile:
    return ChangedFile(path, status, 1, 1, old_path)


async def touched(task: TaskSpec, *files: ChangedFile, there: Collection[str] = ()) -> tuple[str, ...]:
    async def exists(path: str) -> bool:
        return path in there

    return (await protection(task, files, exists)).touched(files)


def covers(task: TaskSpec, path: str) -> bool:
    return GitIgnoreSpec.from_lines(effective_protect(task)).match_file(path)


@pytest.mark.parametrize(
    "path",
    [
        "conftest.py",
        "a/b/conftest.py",
        "pytest.ini",
        "tests/.pytest.ini",
        "pytest.toml",
        "sitecustomize.py",
        "usercustomize/__init__.py",
        "evil.pth",
        "x-1.dist-info/entry_points.txt",
        "src/x.egg-info/entry_points.txt",
    ],
)
def test_harness_files_of_python_are_protected_for_a_check_that_runs_pytest(path: str) -> None:
    assert covers(spec("pytest -q"), path)
    assert covers(spec("make test"), path)
    assert not covers(spec("test -f made.txt"), path)
    assert not covers(spec("cargo test"), path)


@pytest.mark.parametrize("path", ["calc.py", "tests/test_a.py", "pyproject.toml", "setup.cfg", "Makefile"])
def test_sources_and_mixed_files_are_not_protected(path: str) -> None:
    assert not covers(spec("pytest -q", "make test"), path)


def test_other_languages_bring_their_own_files() -> None:
    assert covers(spec("npx jest"), "jest.config.ts")
    assert covers(spec("cargo test"), ".cargo/config.toml")
    assert effective_protect(spec("go test ./...")) == ()


def test_a_negated_glob_of_the_spec_lifts_a_default() -> None:
    task = spec("pytest", protect=["tests/**", "!tests/conftest.py"])
    assert covers(task, "conftest.py")
    assert not covers(task, "tests/conftest.py")
    assert effective_protect(task)[-2:] == ("tests/**", "!tests/conftest.py")


def test_a_harness_file_that_another_check_looks_at_is_the_subject() -> None:
    task = spec("pytest", "grep -q addopts ./pytest.ini")
    assert not covers(task, "pytest.ini")
    assert covers(task, "sub/pytest.ini")
    assert covers(spec("pytest -c pytest.ini"), "pytest.ini")


async def test_globs_and_changes_together_name_what_was_touched() -> None:
    task = spec("./run_tests.sh", protect=["docs/**"])
    files = [changed("run_tests.sh"), changed("calc.py"), changed("docs/a"), changed("conftest.py", "added")]
    assert await touched(task, *files) == ("conftest.py", "docs/a", "run_tests.sh")


async def test_a_new_script_is_no_tampering() -> None:
    assert await touched(spec("./run_tests.sh"), changed("run_tests.sh", "added")) == ()


async def test_a_renamed_script_is_put_back_under_its_old_name() -> None:
    file = changed("old.sh", "renamed", "run_tests.sh")
    assert await touched(spec("./run_tests.sh"), file) == ("run_tests.sh",)


async def test_a_makefile_that_takes_precedence_over_the_one_that_was_there_goes() -> None:
    new = changed("GNUmakefile", "added")
    assert await touched(spec("make test"), new, there=["Makefile"]) == ("GNUmakefile",)
    assert await touched(spec("make test"), new, changed("Makefile", "deleted")) == (
        "GNUmakefile",
        "Makefile",
    )
    assert await touched(spec("make test"), new) == ()
    assert await touched(spec("make test"), new, changed("Makefile", "added"), there=["Makefile"]) == ()


@pytest.mark.parametrize("path", ["pytest.py", "_pytest.pyc", "src/unittest.py", "pytest"])
async def test_a_new_module_in_place_of_the_runner_goes(path: str) -> None:
    assert await touched(spec("python -m pytest"), changed(path, "added")) == (path,)


async def test_a_new_package_in_place_of_the_runner_goes_whole() -> None:
    files = [changed("pytest/__init__.py", "added"), changed("pytest/__main__.py", "added")]
    assert await touched(spec("pytest"), *files) == ("pytest/__init__.py", "pytest/__main__.py")


async def test_the_sources_of_pytest_itself_are_sources() -> None:
    files = [changed("src/_pytest/runner.py"), changed("src/_pytest/new.py", "added")]
    assert await touched(spec("pytest"), *files) == ()


async def test_modules_named_like_the_runner_are_looked_for_where_python_looks_first() -> None:
    assert await touched(spec("cd sub && python -m pytest"), changed("sub/pytest.py", "added")) == (
        "sub/pytest.py",
    )
    assert await touched(spec("pytest"), changed("docs/pytest.py", "added")) == ()


async def test_a_virtual_environment_is_put_back_by_any_name_and_its_new_files_are_not_worth_a_word() -> None:
    async def exists(path: str) -> bool:
        return path == "my env/pyvenv.cfg"

    files = [changed("my env/bin/pytest"), changed("my env/lib/new.py", "added")]
    protected = await protection(spec("pytest"), files, exists)
    assert protected.touched(files) == ("my env/bin/pytest",)
    match = GitIgnoreSpec.from_lines(protected.globs).match_file
    assert match("my env/lib/new.py")
    assert match("node_modules/x/index.js")
    assert not match("myenv/x.py")


@pytest.mark.parametrize("path", ["a b.py", "#x", "!x", "[a]*.py", "q?.py", "back\\slash", "d/e"])
def test_a_glob_made_for_a_path_matches_it_alone(path: str) -> None:
    match = GitIgnoreSpec.from_lines([glob_for(path)]).match_file
    assert match(path)
    assert not match(f"x{path}")
    assert not match(f"sub/{path}")


def test_lifting_goes_by_the_last_glob_that_matches() -> None:
    assert is_lifted("pyproject.toml", ["!pyproject.toml"])
    assert not is_lifted("pyproject.toml", ["!pyproject.toml", "*.toml"])
    assert not is_lifted("pyproject.toml", ["tests/**"])
    assert not is_lifted("setup.cfg", ["!pyproject.toml"])


def test_no_default_glob_is_anchored() -> None:
    assert all(glob.startswith("**/") for glob in PYTHON_GLOBS)
