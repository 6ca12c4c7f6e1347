"""published.json: what became of patches, call after call."""

from __future__ import annotations

from pathlib import Path

import pytest

from pi_batch.published import FILE, Publication, add_published, read_published


def test_what_was_done_with_a_patch_replaces_what_was_done_before(tmp_path: Path) -> None:
    first = Publication("a", "refused", "conflict")
    other = Publication("b", "applied", "branch x", branch="x", commit="c" * 40)
    add_published(tmp_path, [first, other])
    again = Publication("a", "applied", "https://h/1", branch="a", url="https://h/1")
    add_published(tmp_path, [again])
    assert read_published(tmp_path) == {"a": again, "b": other}


@pytest.mark.parametrize("content", ["", "{", "[]", '{"version": 2, "tasks": []}', '{"tasks": [{"key": 1}]}'])
def test_a_file_that_is_none_says_nothing(tmp_path: Path, content: str) -> None:
    assert read_published(tmp_path) == {}
    (tmp_path / FILE).write_text(content)
    assert read_published(tmp_path) == {}
