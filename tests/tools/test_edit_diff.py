"""The diff of an edit, held against a small patch program."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pi_batch.tools.edit_diff import MAX_SPANS, Replacement, replaced, unified_diff

HEADER = re.compile(r"@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@")
NO_NEWLINE = "\\ No newline at end of file"


def patched(old: str, diff: str) -> str:
    """Apply a unified diff; every context and removed line must be what the old text has there."""
    source = re.findall(r"[^\n]*\n|[^\n]+", old)
    lines = diff.split("\n")[2:]
    result: list[str] = []
    at = 0
    for position, line in enumerate(lines):
        header = HEADER.fullmatch(line)
        if header:
            start = int(header[1]) - (header[2] != "0")
            result += source[at:start]
            at = start
            assert len(result) == int(header[3]) - (header[4] != "0")
            continue
        if line == NO_NEWLINE:
            continue
        is_last = lines[position + 1 : position + 2] == [NO_NEWLINE]
        text = line[1:] + ("" if is_last else "\n")
        if line[0] in " -":
            assert source[at] == text, (source[at], text)
            at += 1
        if line[0] in " +":
            result.append(text)
    return "".join(result + source[at:])


@st.composite
def edits(draw: st.DrawFn) -> tuple[bytes, list[Replacement]]:
    content = draw(st.text("ab\n", max_size=120)).encode()
    cuts = sorted(draw(st.lists(st.integers(0, len(content)), max_size=8)))
    spans: list[Replacement] = []
    for start, end in zip(cuts[::2], cuts[1::2], strict=False):
        if start < end and (not spans or spans[-1].end <= start):
            spans.append(Replacement(start, end, draw(st.text("ac\n", max_size=8)).encode()))
    return content, spans


@given(edits())
def test_the_diff_turns_the_old_file_into_the_new_one(edit: tuple[bytes, list[Replacement]]) -> None:
    content, spans = edit
    after = replaced(content, spans)
    diff = unified_diff("f", content, spans, "utf-8")
    assert diff.text.startswith("--- f\n+++ f")
    assert patched(content.decode(), diff.text) == after.decode()
    assert diff.is_complete


@given(edits())
def test_the_first_changed_line_is_the_first_that_differs(edit: tuple[bytes, list[Replacement]]) -> None:
    content, spans = edit
    after = replaced(content, spans)
    if after == content:
        return
    diff = unified_diff("f", content, spans, "utf-8")
    old, new = (re.findall(r"[^\n]*\n|[^\n]+", text.decode()) for text in (content, after))
    same = 0
    while same < min(len(old), len(new)) and old[same] == new[same]:
        same += 1
    assert 1 <= diff.first_changed_line <= same + 1


@pytest.mark.parametrize("codec", ["utf-16-le", "utf-32-be", "latin-1"])
def test_other_codings_are_shown_as_text(codec: str) -> None:
    content = "eins\nzwei é\ndrei\n".encode(codec)
    start = len("eins\nzwei ".encode(codec))
    span = Replacement(start, start + len("é".encode(codec)), "ü".encode(codec))
    diff = unified_diff("f", content, [span], codec)
    assert patched("eins\nzwei é\ndrei\n", diff.text) == "eins\nzwei ü\ndrei\n"
    assert diff.first_changed_line == 2


def test_a_huge_change_is_one_block_and_quick() -> None:
    old = b"".join(b"old %d\n" % number for number in range(20_000))
    new = b"".join(b"new %d\n" % number for number in range(20_000))
    diff = unified_diff("f", b"first\n" + old + b"last\n", [Replacement(6, 6 + len(old), new)], "utf-8")
    assert diff.text.count("\n@@ ") == 1
    assert patched("first\n" + old.decode() + "last\n", diff.text) == "first\n" + new.decode() + "last\n"


def test_very_many_changes_are_shown_up_to_a_bound() -> None:
    content = b"x\n\n\n\n\n\n\n\n\n\n" * 1000
    spans = [Replacement(at * 11, at * 11 + 1, b"y") for at in range(1000)]
    diff = unified_diff("f", content, spans, "utf-8")
    assert not diff.is_complete
    assert diff.text.count("\n+y") == MAX_SPANS


def test_a_change_of_the_last_line_says_that_it_has_no_newline() -> None:
    diff = unified_diff("f", b"a\nb", [Replacement(2, 3, b"c\n")], "utf-8")
    assert diff.text == f"--- f\n+++ f\n@@ -1,2 +1,2 @@\n a\n-b\n{NO_NEWLINE}\n+c"


def test_an_emptied_file_has_an_empty_range() -> None:
    diff = unified_diff("f", b"a\n", [Replacement(0, 2, b"")], "utf-8")
    assert diff.text == "--- f\n+++ f\n@@ -1 +0,0 @@\n-a"


def test_lines_end_at_newlines_only() -> None:
    content = b"a\x0cb\x85\r x\xe2\x80\xa8y\n"
    diff = unified_diff("f", content, [Replacement(0, 1, b"A")], "utf-8")
    assert diff.text.count("\n-") == 1
