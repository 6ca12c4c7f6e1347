"""Globs of grep and find."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pi_batch.tools.search_globs import Glob


@pytest.mark.parametrize(
    ("pattern", "matching", "other"),
    [
        ("*.py", ["a.py", "src/a.py", ".py"], ["a.pyc", "py", "a.py/b"]),
        ("?.py", ["a.py", "x/é.py"], ["ab.py", ".py"]),
        ("*.{ts,tsx}", ["a.ts", "b/a.tsx"], ["a.js", "a.{ts,tsx}"]),
        ("{a,b{c,d}}.txt", ["a.txt", "bc.txt", "bd.txt"], ["b.txt", "a,b.txt"]),
        ("[abc].py", ["a.py", "c.py"], ["d.py", "ab.py"]),
        ("[!abc].py", ["d.py"], ["a.py"]),
        ("[^abc].py", ["d.py"], ["a.py"]),
        ("[a-c]1", ["b1"], ["d1"]),
        ("[]x]", ["]", "x"], ["y"]),
        ("[x", ["[x"], ["x"]),
        ("[z-a]", ["[z-a]"], ["z"]),
        ("{x", ["{x"], ["x"]),
        ("x}", ["x}"], ["x"]),
        ("[--/]", ["-", "."], ["a"]),
        ("[-a]", ["-", "a"], ["b"]),
        ("[[&&~~||]", ["[", "&", "~", "|"], ["a"]),
        ("{[}]", ["{}"], ["}"]),
        ("{a,[}]}", ["a", "}"], ["{a"]),
        ("a,b", ["a,b"], ["a"]),
        ("\\*", ["*"], ["a"]),
        ("src/*.py", ["src/a.py", "lib/src/a.py"], ["src/b/a.py", "a.py"]),
        ("./src/*.py", ["src/a.py"], ["src/b/a.py"]),
        ("/src/*.py", ["src/a.py"], ["lib/src/a.py"]),
        ("src/**", ["src/a.py", "src/b/c.py", "x/src/a"], ["src", "srcs/a"]),
        ("src/", ["src/a.py", "src/b/c.py"], ["src"]),
        ("src/**/*.py", ["src/a.py", "src/b/c/d.py"], ["a.py", "src/a.js"]),
        ("**/*.py", ["a.py", "b/c.py"], ["a.js"]),
        ("**", ["a", "b/c"], []),
        ("**/{a,b}/**/x", ["a/x", "q/b/c/d/x"], ["c/x"]),
        ("a**b", ["ab", "axxb"], ["a"]),
        ("*", ["a", ".hidden", "b/c"], []),
        ("--exec=touch PWNED", ["--exec=touch PWNED"], ["PWNED"]),
        ("$(x)", ["$(x)"], ["x"]),
        ("a.b+c", ["a.b+c"], ["aXb+c", "a.bbc"]),
        ("*.py", ["new\nline.py"], []),
    ],
)
def test_globs(pattern: str, matching: list[str], other: list[str]) -> None:
    glob = Glob(pattern)
    assert [path for path in matching if not glob.matches(path)] == []
    assert [path for path in other if glob.matches(path)] == []


@given(st.text("ab*?[]{},!^-/\\.", max_size=12), st.text("ab[]{},!^-/.", max_size=8))
def test_any_pattern_is_a_glob(pattern: str, path: str) -> None:
    assert Glob(pattern).matches(path) in (True, False)


@given(st.text("abc.-_ é", min_size=1, max_size=8))
def test_a_plain_name_matches_itself_at_any_depth(name: str) -> None:
    assert Glob(name).matches(f"deep/er/{name}")
    assert not re.search("[/*?]", name)
