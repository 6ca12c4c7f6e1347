"""Which paths are protected, and trees in which they are as at the start."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pi_batch.workspaces.protection import compile_protection, put_back, restore
from pi_batch.workspaces.reading import Entry


def entry(number: int) -> Entry:
    return Entry("100644", f"{number:040x}")


def covers(
    patterns: list[str], path: bytes, prefix: bytes = b"", links: dict[bytes, bytes] | None = None
) -> bool:
    return compile_protection(patterns, prefix, links or {}).covers(path)


@pytest.mark.parametrize(
    ("patterns", "path", "expected"),
    [
        (["tests/**"], b"tests/a/b.py", True),
        (["tests/**"], b"src/tests/a.py", False),
        (["tests/"], b"src/tests/a.py", True),
        (["tests"], b"tests/a", True),
        (["/tests"], b"src/tests/a", False),
        (["./tests/**"], b"tests/a", True),
        (["conftest.py"], b"deep/down/conftest.py", True),
        (["*.cfg"], b"a/setup.cfg", True),
        (["**/fixtures/*.json"], b"a/fixtures/x.json", True),
        (["tests/**", "!tests/data/**"], b"tests/data/x", False),
        (["!tests/data/**", "tests/**"], b"tests/data/x", True),
        (["tests/**", "!tests/data.txt"], b"tests/data.txt", False),
        (["tests/**"], b"tests", True),
        (["tests/**", "!tests"], b"tests", False),
        (["tests/**"], b"Tests/a", True),
        (["Makefile"], b"makefile", True),
        (["README.md"], "READMÉ.md".encode(), False),
        (["TESTS/**"], b"tests/a", True),
        (["tests/**"], b"tests/a\nb.py", True),
        (["tests/**"], b"tests/\n/conftest.py", True),
        (["*.py"], b"caf\xe9.py", True),
        (["#x"], b"#x", True),
        ([], b"a", False),
        (["**"], b"a", True),
    ],
)
def test_patterns_are_those_of_gitignore_and_the_last_match_decides(
    patterns: list[str], path: bytes, expected: bool
) -> None:
    assert covers(patterns, path) == expected


def test_patterns_start_at_the_workspace() -> None:
    assert covers(["tests/**"], b"sub/tests/a", prefix=b"sub/")
    assert not covers(["tests/**"], b"tests/a", prefix=b"sub/")
    assert not covers(["**"], b"other/a", prefix=b"sub/")


def test_a_path_that_a_link_of_the_start_names_is_protected_under_its_own_name() -> None:
    links = {b"tests": b"src/checks", b"checks": b"tests", b"t.py": b"lib/t.py", b"self": b"."}
    assert covers(["tests/**"], b"src/checks/a.py", links=links)
    assert covers(["checks/*.py"], b"src/checks/a.py", links=links)
    assert covers(["/t.py"], b"lib/t.py", links=links)
    assert not covers(["tests/**"], b"src/a.py", links=links)


def test_links_that_lead_in_circles_end() -> None:
    links = {b"a/b": b".", b"c": b"a/b/c", b"x/y": b"."}
    assert not covers(["tests/**"], b"a/c", links=links)
    assert covers(["a/b/b/b/t"], b"a/t", links={b"a/b": b"."})


def test_protected_paths_come_from_the_start() -> None:
    start = {b"tests/a": entry(1), b"tests/b": entry(2), b"src/a": entry(3)}
    current = {b"tests/a": entry(9), b"tests/new": entry(8), b"src/a": entry(7), b"src/new": entry(6)}
    restored = restore(start, current, compile_protection(["tests/**"], b"", {}))
    assert restored.entries == {
        b"tests/a": entry(1),
        b"tests/b": entry(2),
        b"src/a": entry(7),
        b"src/new": entry(6),
    }
    assert restored.touched == (b"tests/a", b"tests/b", b"tests/new")


@pytest.mark.parametrize(
    ("current", "pushed_out"),
    [
        ({b"deep": entry(9)}, b"deep"),
        ({b"deep/tests": entry(9)}, b"deep/tests"),
        ({b"deep/tests/a/x": entry(9)}, b"deep/tests/a/x"),
    ],
)
def test_what_stands_in_the_way_goes(current: dict[bytes, Entry], pushed_out: bytes) -> None:
    start = {b"deep/tests/a": entry(1)}
    restored = restore(start, current, compile_protection(["deep/tests/a"], b"", {}))
    assert restored.entries == start
    assert pushed_out in restored.touched


def test_putting_nothing_back_changes_nothing() -> None:
    entries = {b"a": entry(1), b"b/c": entry(2)}
    assert put_back(entries, {}) == (entries, [])


PATHS = st.lists(st.sampled_from([b"a", b"b", b"T", b"t"]), min_size=1, max_size=3).map(b"/".join)
TREES = st.dictionaries(PATHS, st.integers(1, 3).map(entry), max_size=6).map(
    lambda tree: {p: e for p, e in tree.items() if not any(o.startswith(p + b"/") for o in tree)}
)


@given(start=TREES, current=TREES, pattern=st.sampled_from(["a/**", "b", "a/b", "t/", "/a/t", "**"]))
def test_whatever_was_done_the_protected_part_is_the_starts_and_the_tree_is_one(
    start: dict[bytes, Entry], current: dict[bytes, Entry], pattern: str
) -> None:
    protection = compile_protection([pattern], b"", {})
    restored = restore(start, current, protection)
    for path, found in start.items():
        if protection.covers(path):
            assert restored.entries[path] == found
    for path in restored.entries:
        assert not (protection.covers(path) and path not in start)
        assert not any(other.startswith(path + b"/") for other in restored.entries)
    for path, found in current.items():
        if path not in restored.touched:
            assert restored.entries[path] == found
