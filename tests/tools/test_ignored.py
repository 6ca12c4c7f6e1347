"""Ignore rules, with git itself as the judge."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from pi_batch.tools.ignored import (
    IgnoreFile,
    ancestors,
    below,
    for_named_directory,
    is_ignored,
    sources_in,
)
from pi_batch.tools.search_walk import Walk

TREE = (
    "a.py",
    "a.log",
    "build/out.o",
    "build/keep.txt",
    "src/a.py",
    "src/a.log",
    "src/build/x.o",
    "src/deep/er/b.log",
    "docs/index.md",
    "docs/build",
    "#hash",
    "name with space",
    "[x]",
    "x",
    "!bang",
    "é.txt",
    "foo/bar/baz",
)

PATTERNS = (
    "*.log",
    "build/",
    "build",
    "/build",
    "src/build",
    "**/build",
    "docs/**",
    "!keep.txt",
    "!src/a.log",
    "*",
    "!*.py",
    "!*/",
    "\\#hash",
    "\\!bang",
    "name with space",
    "[[]x]",
    "[ab].py",
    "foo/*/baz",
    "foo/**/baz",
    "/*.py",
    "# comment",
    "",
    "   ",
    "*.log   ",
    "é.txt",
    "doc?/",
    "foo/*",
    "!foo/bar",
    "*/",
    "[z-a]",
    "!",
    "/",
)


def git(directory: Path, *arguments: str) -> str:
    argv = ["git", "-c", "core.excludesFile=/dev/null", *arguments]
    return subprocess.run(argv, cwd=directory, capture_output=True, text=True, check=False).stdout


def seen_by_git(directory: Path) -> set[str]:
    """Files that git does not ignore."""
    listed = git(directory, "ls-files", "-z", "--others", "--exclude-standard")
    return {path for path in listed.split("\0") if path}


def seen_by_walk(directory: Path) -> set[str]:
    entries = Walk(str(directory), str(directory)).entries()
    return {entry.path.removeprefix(f"{directory}/") for entry in entries if not entry.is_dir}


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    root = tmp_path.resolve() / "repo"
    root.mkdir()
    git(root, "init", "-q")
    for path in TREE:
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text("x")
    return root


@pytest.mark.parametrize("pattern", PATTERNS)
def test_one_pattern_means_what_git_means(repository: Path, pattern: str) -> None:
    (repository / ".gitignore").write_text(f"{pattern}\n")
    assert seen_by_walk(repository) == seen_by_git(repository)


@given(
    top=st.lists(st.sampled_from(PATTERNS), max_size=5),
    inner=st.lists(st.sampled_from(PATTERNS), max_size=3),
    exclude=st.lists(st.sampled_from(PATTERNS), max_size=2),
    newline=st.sampled_from(["\n", "\r\n"]),
)
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_several_files_mean_what_git_means(
    repository: Path, top: list[str], inner: list[str], exclude: list[str], newline: str
) -> None:
    (repository / ".gitignore").write_text(newline.join(top), newline="")
    (repository / "src/.gitignore").write_text(newline.join(inner), newline="")
    (repository / ".git/info/exclude").write_text("\n".join(exclude))
    assert seen_by_walk(repository) == seen_by_git(repository)


def test_a_byte_order_mark_is_no_part_of_the_first_pattern(repository: Path) -> None:
    (repository / ".gitignore").write_bytes(b"\xef\xbb\xbf*.log\n")
    assert "a.log" not in seen_by_walk(repository)


def test_the_last_file_that_says_anything_decides() -> None:
    outer = IgnoreFile("/w", "*.log\n")
    inner = IgnoreFile("/w/keep", "!*.log\n")
    assert is_ignored([outer], "/w/a.log", is_dir=False)
    assert not is_ignored([outer, inner], "/w/keep/a.log", is_dir=False)
    assert inner.verdict("/w/keep/a.txt", is_dir=False) is None


def test_a_directory_that_was_named_is_looked_into_although_ignored() -> None:
    outer = IgnoreFile("/w", "node_modules/\n*.log\n")
    inner = IgnoreFile("/w/node_modules/pkg", "*.tmp\n")
    named = for_named_directory([outer, inner], "/w/node_modules/pkg")
    assert named == [inner]
    assert for_named_directory([outer], "/w/src") == [outer]


@pytest.mark.parametrize(
    ("directory", "expected"),
    [("/", ["/"]), ("/a", ["/", "/a"]), ("/a/b/", ["/", "/a", "/a/b"])],
)
def test_ancestors_come_from_the_root_down(directory: str, expected: list[str]) -> None:
    assert ancestors(directory) == expected


def test_steps_between_two_directories() -> None:
    assert below("/w", "/w/a/b") == ["/w", "/w/a", "/w/a/b"]
    assert below("/w", "/w") == ["/w"]
    assert below("/w", "/wide") == []
    assert below("/", "/w") == ["/", "/w"]


def test_only_the_top_has_an_exclude_file() -> None:
    assert list(sources_in("/w", is_top=True)) == ["/w/.git/info/exclude", "/w/.gitignore"]
    assert list(sources_in("/w/a", is_top=False)) == ["/w/a/.gitignore"]
