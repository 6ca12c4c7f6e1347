"""Matching on bytes: for any content, an edit changes the span it names and nothing else."""

from __future__ import annotations

import itertools
import re

import pytest
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st

from pi_batch.tools.edit_diff import Replacement, replaced
from pi_batch.tools.edit_match import (
    MAX_PLACES,
    Coding,
    Places,
    coding_of,
    new_bytes,
    places_of,
)

UTF8 = Coding("utf-8", 1, is_clean=True)

LINE_ENDS = st.sampled_from(["\n", "\r\n", "\r", "\x0c", "\u2028", "\x85"])
TEXT = st.lists(st.one_of(st.text("abé€ \t", max_size=4), LINE_ENDS), max_size=12).map("".join)
BYTES = st.one_of(
    st.binary(max_size=40),
    TEXT.map(lambda text: text.encode()),
    TEXT.map(lambda text: text.encode("latin-1", "replace")),
    TEXT.map(lambda text: b"\xef\xbb\xbf" + text.encode()),
)


def overlapping(content: bytes, needle: bytes) -> int:
    return sum(content.startswith(needle, at) for at in range(len(content)))


def normal(raw: bytes) -> bytes:
    return raw.replace(b"\r\n", b"\n")


def check_unique_span(before: bytes, old: str, after: bytes, new: str) -> None:
    """The span is replaced, and every other byte stays."""
    content = before + old.encode() + after
    coding = coding_of(content)
    assume(coding.unit == 1)
    assume(overlapping(content, old.encode()) == 1)
    places = places_of(content, old, coding)
    assert places.spans == ((len(before), len(before) + len(old.encode())),)
    assert places.is_exact
    put_in = new_bytes(content, places.spans[0], old, new, places)
    if put_in is None:
        assert not coding.is_clean
        assert not new.isascii()
        return
    result = replaced(content, [Replacement(*places.spans[0], put_in)])
    assert result.startswith(before)
    assert result.endswith(after)
    assert normal(put_in) == normal(new.encode())
    if b"\r\n" not in content:
        assert put_in == new.encode()


@given(before=BYTES, old=TEXT.filter(bool), after=BYTES, new=TEXT)
@example(before=b"a\r\n", old="b", after=b"\r\n", new="x\ny")
@example(before=b"\xff", old="a", after=b"\xfe", new="é")
@example(before=b"\xff\xfe", old="ab", after=b"", new="x")  # looks like UTF-16
def test_a_unique_span_is_replaced_and_every_other_byte_stays(
    before: bytes, old: str, after: bytes, new: str
) -> None:
    check_unique_span(before, old, after, new)


@pytest.mark.fuzz
@given(
    before=st.binary(max_size=200) | BYTES,
    old=st.text(min_size=1, max_size=20) | TEXT.filter(bool),
    after=st.binary(max_size=200) | BYTES,
    new=st.text(max_size=20) | TEXT,
)
@settings(max_examples=5000, deadline=None)
def test_any_unique_span_is_replaced_and_every_other_byte_stays(
    before: bytes, old: str, after: bytes, new: str
) -> None:
    check_unique_span(before, old, after, new)


@given(content=BYTES, old=TEXT.filter(bool), new=TEXT)
def test_whatever_matches_only_the_spans_change(content: bytes, old: str, new: str) -> None:
    places = places_of(content, old, coding_of(content), is_all=True)
    parts = []
    end = 0
    for start, stop in places.spans:
        assert start >= end
        put_in = new_bytes(content, (start, stop), old, new, places)
        if put_in is None:
            return
        parts.append(Replacement(start, stop, put_in))
        end = stop
    result = replaced(content, parts)
    untouched = [content[a.end : b.start] for a, b in itertools.pairwise(parts)]
    if parts:
        assert result.startswith(content[: parts[0].start])
        assert result.endswith(content[parts[-1].end :])
        assert len(result) == len(content) + sum(len(p.new) - (p.end - p.start) for p in parts)
        assert all(piece in result for piece in untouched)
    else:
        assert result == content


@given(text=st.text("ab\n", min_size=1, max_size=30), old=st.text("ab\n", min_size=1, max_size=5))
def test_a_crlf_file_is_matched_like_its_lf_twin(text: str, old: str) -> None:
    twin = text.replace("\n", "\r\n").encode()
    in_lf = places_of(text.encode(), old, UTF8)
    in_crlf = places_of(twin, old, UTF8)
    if not in_lf.is_exact:
        return
    assert len(in_crlf.spans) == len(in_lf.spans)
    for (start, end), (other_start, other_end) in zip(in_lf.spans, in_crlf.spans, strict=True):
        found = twin[other_start:other_end]
        assert normal(found) == text.encode()[start:end] or found == text.encode()[start:end]


@given(text=st.text("abc\n\u00e9\u4e00\U0001f600", max_size=20), codec=st.sampled_from(["le", "be"]))
def test_wide_text_is_matched_at_its_characters(text: str, codec: str) -> None:
    for width, unit in (("utf-16", 2), ("utf-32", 4)):
        content = f"\ufeff{text}".encode(f"{width}-{codec}")
        coding = coding_of(content)
        assume(coding.unit == unit)
        expected = [match.start() for match in re.finditer("(?=a)", f"\ufeff{text}")]
        found = places_of(content, "a", coding).spans
        starts = [len(content[:start].decode(f"{width}-{codec}")) for start, _ in found]
        assert starts == expected


def test_the_mark_decides_the_coding() -> None:
    assert coding_of("\ufeffa".encode("utf-16-le")) == Coding("utf-16-le", 2, is_clean=True)
    assert coding_of("\ufeffa".encode("utf-16-be")) == Coding("utf-16-be", 2, is_clean=True)
    assert coding_of("\ufeffa".encode("utf-32-le")) == Coding("utf-32-le", 4, is_clean=True)
    assert coding_of("\ufeffa".encode("utf-32-be")) == Coding("utf-32-be", 4, is_clean=True)
    assert coding_of("\ufeffé".encode()) == UTF8
    assert coding_of(b"\xe9") == Coding("utf-8", 1, is_clean=False)
    assert coding_of(b"") == UTF8


def test_places_are_counted_up_to_a_bound() -> None:
    assert len(places_of(b"a" * 1_000_000, "aa", UTF8).spans) == MAX_PLACES


def test_every_place_is_found_when_all_are_wanted() -> None:
    assert len(places_of(b"ab" * 5000, "ab", UTF8, is_all=True).spans) == 5000


@pytest.mark.parametrize(
    ("content", "old", "spans"),
    [
        (b"a \nb\n", "a\nb", ((0, 4),)),
        (b"a \nb\n", "a\nb\n", ((0, 5),)),
        (b"a \r\nb\r\n", "a\nb\n", ((0, 7),)),
        (b"a \r\nb\r\n", "a\nb", ((0, 5),)),
        (b"xa \nb\n", "a\nb", ()),
        (b"a \nb", "a\nb\n", ()),
        (b"a \na \n", "a\n", ((0, 3), (3, 6))),
        (b"   \n\n", " \n \n", ()),
        (b"a", "b", ()),
        (b"", "a", ()),
    ],
)
def test_blanks_at_line_ends_are_ignored_over_whole_lines_only(
    content: bytes, old: str, spans: tuple[tuple[int, int], ...]
) -> None:
    places = places_of(content, old, UTF8)
    assert places.spans == spans
    assert places.ignores_blanks


def test_exact_places_come_before_tolerant_ones() -> None:
    places = places_of(b"a\nb\na \nb\na\r\nb\n", "a\nb\n", UTF8)
    assert places == Places(((0, 4),), UTF8, is_exact=True)


def test_a_pattern_of_many_lines_is_found_in_linear_time() -> None:
    content = b"x\r\n" * 50_000 + b"y\r\n"
    assert len(places_of(content, "x\n" * 200 + "y\n", UTF8).spans) == 1


def test_a_tolerant_match_is_found_in_a_large_file() -> None:
    content = b"line one  \n" * 100_000 + b"target  \nend\n"
    assert len(places_of(content, "target\nend", UTF8).spans) == 1
