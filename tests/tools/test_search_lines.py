"""Matching lines by Python's expressions, without a process around them."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pi_batch.tools.search_lines import MAX_LINE_CHARS, Line, PatternError, compiled, matching_lines


@pytest.mark.parametrize(
    ("length", "at", "expected"),
    [
        (MAX_LINE_CHARS, 0, "x" * MAX_LINE_CHARS),
        (MAX_LINE_CHARS + 1, 0, "x" * MAX_LINE_CHARS + "… [line cut]"),
        (5000, 4999, "…" + "x" * MAX_LINE_CHARS + " [line cut]"),
        (5000, 2000, "…" + "x" * MAX_LINE_CHARS + "… [line cut]"),
    ],
)
def test_long_lines_are_cut(length: int, at: int, expected: str) -> None:
    assert Line(1, "x" * length, at).shown() == expected


@pytest.mark.parametrize("is_literal", [True, False])
@pytest.mark.parametrize("ignores_case", [True, False])
def test_a_search_says_where(is_literal: bool, ignores_case: bool) -> None:
    find = compiled("b", is_literal=is_literal, ignores_case=ignores_case)
    assert find("aab") == 2
    assert find("aaa") is None
    assert find("aBa") == (1 if ignores_case else None)


@pytest.mark.parametrize(
    "pattern", ["(", "[[a]", "a{9}{9", "(?P<x>a)(?P<x>b)", "[z-a]", "(?<=a+)b", "x{99999999999}"]
)
def test_a_pattern_that_makes_no_sense_is_an_error(pattern: str) -> None:
    if pattern == "a{9}{9":
        assert compiled(pattern, is_literal=True, ignores_case=False)("a{9}{9") == 0
        return
    with pytest.raises(PatternError):
        compiled(pattern, is_literal=False, ignores_case=False)


def test_reading_stops_behind_the_last_line_that_is_wanted(tmp_path: Path) -> None:
    path = tmp_path / "f"
    path.write_text("hit\n" * 10)
    find = compiled("hit", is_literal=True, ignores_case=False)
    assert [line.number for line in matching_lines(str(path), find, 0, 3)] == [1, 2, 3]
    assert [line.number for line in matching_lines(str(path), find, 2, 1)] == [1, 2, 3]


@pytest.mark.parametrize("context", [0, 1, 2, 5])
def test_lines_around_matches_come_once_and_in_order(tmp_path: Path, context: int) -> None:
    path = tmp_path / "f"
    hits = {1, 4, 5, 12}
    path.write_text("".join("hit\n" if number in hits else "-\n" for number in range(1, 15)))
    find = compiled("hit", is_literal=True, ignores_case=False)
    numbers = [line.number for line in matching_lines(str(path), find, context, 100)]
    near = {at + step for at in hits for step in range(-context, context + 1)}
    assert numbers == sorted(near & set(range(1, 15)))


def test_bugs_of_the_caller_are_not_hidden(tmp_path: Path) -> None:
    find = compiled("x", is_literal=True, ignores_case=False)
    with pytest.raises(FileNotFoundError):
        list(matching_lines(str(tmp_path / "absent"), find, 0, 1))


@pytest.mark.parametrize(
    ("content", "texts"),
    [
        (b"", []),
        (b"a", ["a"]),
        (b"a\n", ["a"]),
        (b"a\r\nb\r", ["a", "b"]),
        (b"a\rb\x0cc\n", ["a\rb\x0cc"]),
        (b"\xef\xbb\xbfa\n", ["a"]),
        ("\ufeffa\r\nb".encode("utf-16-le"), ["a", "b"]),
        ("\ufeffa\n".encode("utf-32-be"), ["a"]),
        (b"a\xffb\n", ["a\ufffdb"]),
        (b"a\0b\n", []),
        (b"a" * 9000 + b"\0\nb\n", ["a" * 9000 + "\0", "b"]),
    ],
)
def test_lines_are_decoded_text_without_their_ends(tmp_path: Path, content: bytes, texts: list[str]) -> None:
    (tmp_path / "f").write_bytes(content)

    def everything(line: str) -> int | None:
        return 0 if line is not None else None

    assert [line.text for line in matching_lines(str(tmp_path / "f"), everything, 0, 100)] == texts


@given(st.text("ab.*+?()[]{}|\\\\^$[:alpha]", max_size=12))
def test_any_pattern_compiles_or_is_explained(pattern: str) -> None:
    try:
        find = compiled(pattern, is_literal=False, ignores_case=True)
    except PatternError as error:
        explanation = str(error)
    else:
        explanation = "fine"
        assert find("ab") is None or isinstance(find("ab"), int)
    assert explanation


@pytest.mark.parametrize(
    ("pattern", "text"),
    [("[[:space:]]x", "\tx"), ("[[:alpha:]_]+$", "a_b"), ("[^[:digit:]]", "a"), ("[[:punct:]]", "]")],
)
def test_posix_classes_are_known(pattern: str, text: str) -> None:
    assert compiled(pattern, is_literal=False, ignores_case=False)(text) is not None
