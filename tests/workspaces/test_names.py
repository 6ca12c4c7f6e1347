"""Names of files: by-products, what git refuses, how they look in a report."""

from __future__ import annotations

from pathlib import Path

import pytest

from pi_batch.workspaces.names import (
    BY_PRODUCTS,
    directories_of,
    display,
    environments_of,
    is_by_product,
    is_storable,
    relative_to_workspace,
    shown,
    without_environments,
)
from tests.workspaces.repositories import git, write

PATHS = [
    "__pycache__/a", "x/__pycache__/a", "a.pyc", "x/a.pyc", ".pytest_cache/a", "node_modules/a/b", ".venv/a",
    "venv/a", "x/venv/a", "p.egg-info/a", ".pi-batch/runs/a", ".DS_Store", "x/.coverage", ".tox/a", ".nox/a",
    "venv", "p.egg-info", "node_modules", "a.py", "coverage", "pyc", "xvenv/a", "venvs/a", ".coveragerc",
    "a.pyc/b", "a.egg-info", "x/.DS_Store/y",
]  # fmt: skip


def test_by_products_are_what_gits_own_rules_say(tmp_path: Path) -> None:
    git(tmp_path, "init", "-q", "--template=")
    write(tmp_path, {".gitignore": "\n".join(BY_PRODUCTS)})
    for path in PATHS:
        write(tmp_path, {path: ""})
        listed = git(tmp_path, "ls-files", "--others", "--exclude-standard", "--", path)
        assert is_by_product(path.encode()) == (listed == ""), path
        (tmp_path / path).unlink()
        for parent in (tmp_path / path).parents:
            if parent == tmp_path:
                break
            parent.rmdir()


def test_a_virtual_environment_is_known_by_its_mark_and_not_by_its_name() -> None:
    paths = [
        b"env/pyvenv.cfg",
        b"env/lib/x.py",
        b"envy/x",
        b"a/b/pyvenv.cfg",
        b"a/b/c/d",
        b"a/x",
        b"pyvenv.cfg",
        b"z",
    ]
    assert environments_of(paths) == {b"env/", b"a/b/"}
    assert without_environments(paths) == [b"envy/x", b"a/x", b"pyvenv.cfg", b"z"]
    assert without_environments([b"a", b"b/c"]) == [b"a", b"b/c"]


def test_the_directories_of_a_path_come_outermost_first() -> None:
    assert list(directories_of(b"a/b/c")) == [b"a/", b"a/b/"]
    assert list(directories_of(b"a")) == []


REFUSED = [
    b".git", b".GIT/x", b"a/.Git/b", b"git~1", b"a/GIT~1", b".git ", b".git./x", b".git::$INDEX_ALLOCATION/x",
]  # fmt: skip


@pytest.mark.parametrize("path", REFUSED)
def test_names_that_git_refuses_are_known(path: bytes) -> None:
    assert not is_storable(path)


@pytest.mark.parametrize(
    "path", [b".gitignore", b"git", b"a.git", b".gitx/y", b"git~2", b"x\n", b":", b"..git"]
)
def test_other_names_are_taken(path: bytes) -> None:
    assert is_storable(path)


def test_a_name_in_a_report_is_utf8_as_it_is_and_other_bytes_escaped() -> None:
    assert display("café\n".encode()) == "café\n"
    assert display(b"caf\xe9") == "caf\\xe9"
    display(b"\xed\xa0\x80").encode("utf-8")


def test_few_names_are_all_shown_and_many_are_counted() -> None:
    assert shown([b"a", b"b"]) == "'a', 'b'"
    assert shown(f"{number}".encode() for number in range(9)) == "'0', '1', '2' and 6 more"


@pytest.mark.parametrize(
    ("path", "prefix", "expected"),
    [
        (b"a/b", b"", b"a/b"),
        (b"a/b", b"a/", b"b"),
        (b"x", b"a/b/", b"../../x"),
        (b"a/x", b"a/b/", b"../x"),
        (b"ab/x", b"a/", b"../ab/x"),
    ],
)
def test_paths_are_as_seen_from_the_workspace(path: bytes, prefix: bytes, expected: bytes) -> None:
    assert relative_to_workspace(path, prefix) == expected
