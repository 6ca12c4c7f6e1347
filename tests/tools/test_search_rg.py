"""ripgrep's answers, read; where it is not installed only what needs no ripgrep is tested."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from pi_batch.tools.search_lines import PatternError
from pi_batch.tools.search_rg import BATCH_CHARS, BATCH_FILES, batches, options_for, search_files

RG = shutil.which("rg") or ""
NEEDS_RG = pytest.mark.skipif(not RG, reason="ripgrep is not installed")
PLAIN = options_for(is_literal=False, ignores_case=False, context=0)


def test_batches_are_small_at_first_and_never_too_long() -> None:
    paths = [f"/workspace/directory/{number:06}" for number in range(10_000)]
    made = list(batches(iter(paths)))
    assert [path for batch in made for path in batch] == paths
    assert len(made[0]) == 200
    assert max(map(len, made)) <= BATCH_FILES
    long = ["x" * 4000] * 200
    assert max(sum(map(len, batch)) for batch in batches(iter(long))) <= BATCH_CHARS


def test_one_path_beyond_the_bound_is_a_batch_of_its_own() -> None:
    assert [len(batch) for batch in batches(iter(["x" * (BATCH_CHARS + 1), "y"]))] == [1, 1]
    assert list(batches(iter([]))) == []


@pytest.mark.parametrize(
    ("is_literal", "ignores_case", "expected"),
    [
        (False, False, ["--case-sensitive", "--context=2"]),
        (True, True, ["--fixed-strings", "--ignore-case", "--context=2"]),
    ],
)
def test_options_stand_for_arguments(is_literal: bool, ignores_case: bool, expected: list[str]) -> None:
    assert options_for(is_literal=is_literal, ignores_case=ignores_case, context=2) == expected


@NEEDS_RG
def test_files_come_in_the_order_given_with_their_lines(tmp_path: Path) -> None:
    (tmp_path / "b").write_bytes(b"x\nhit caf\xe9\n")
    (tmp_path / "a").write_bytes(b"hit\r\nhit\n")
    (tmp_path / "none").write_bytes(b"x\n")
    paths = [str(tmp_path / name) for name in ("b", "none", "a", "gone")]
    found = search_files(RG, paths, "hit", options=PLAIN, most=10)
    assert [file.path for file in found] == [paths[0], paths[2]]
    assert [(line.number, line.text, line.match_at) for line in found[0].lines] == [(2, "hit caf\ufffd", 0)]
    assert [line.text for line in found[1].lines] == ["hit", "hit"]
    assert not found[0].has_nul


@NEEDS_RG
def test_a_nul_is_reported_since_line_numbers_may_be_off(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"hit\0\nhit\n")
    (file,) = search_files(RG, [str(tmp_path / "a")], "hit", options=PLAIN, most=10)
    assert file.has_nul


@NEEDS_RG
def test_no_more_matches_than_wanted_are_asked_for(tmp_path: Path) -> None:
    (tmp_path / "a").write_text("hit\n" * 100)
    (file,) = search_files(RG, [str(tmp_path / "a")], "hit", options=PLAIN, most=3)
    assert len(file.lines) == 3


@NEEDS_RG
@pytest.mark.parametrize("pattern", ["(", "(?=x)", "a\nb", "x{99999999999}"])
def test_a_pattern_that_is_refused_is_an_error_with_the_cause(tmp_path: Path, pattern: str) -> None:
    (tmp_path / "a").write_text("x\n")
    with pytest.raises(PatternError, match=r".+"):
        search_files(RG, [str(tmp_path / "a")], pattern, options=PLAIN, most=3)


def test_a_program_that_is_not_there_is_an_error_of_the_system() -> None:
    with pytest.raises(FileNotFoundError):
        search_files("/nonexistent/rg", ["a"], "x", options=PLAIN, most=1)
