"""Server-sent events come out the same, however their bytes were cut."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pi_batch.providers.sse import EventTooLong, SseDecoder, SseEvent


def decode(*chunks: bytes) -> list[SseEvent]:
    decoder = SseDecoder()
    events = [event for chunk in chunks for event in decoder.feed(chunk)]
    return events + decoder.flush()


def data(*chunks: bytes) -> list[bytes]:
    return [event.data for event in decode(*chunks)]


def test_one_line_and_a_blank_one_are_an_event() -> None:
    assert decode(b"data: x\n\n") == [SseEvent(b"x")]


@pytest.mark.parametrize("end", [b"\n", b"\r\n", b"\r"])
def test_every_line_end_of_the_standard_is_one(end: bytes) -> None:
    assert data(b"data: a" + end + end + b"data: b" + end + end) == [b"a", b"b"]


@pytest.mark.parametrize("end", [b"\n", b"\r\n"])
def test_an_event_that_is_one_chunk_is_told_from_one_that_only_looks_so(end: bytes) -> None:
    first = b"data: first\n\n"
    whole = [b"data: x" + end + end, b"data: y" + end + end]
    assert data(first, *whole) == [b"first", b"x", b"y"]
    assert data(first, b"data: a" + end, b"data: b" + end + end) == [b"first", b"a\nb"]
    assert data(first, b"data: a\rdata: b" + end + end) == [b"first", b"a\nb"]
    assert data(first, b"data: a" + end + b"data: b" + end + end) == [b"first", b"a\nb"]
    assert data(first, b"data: a\r", b"\n" + end + b"data: b" + end + end) == [b"first", b"a", b"b"]


def test_cr_and_lf_in_two_chunks_are_one_line_end() -> None:
    assert data(b"data: a\r", b"\n\r", b"\ndata: b\r\n\r\n") == [b"a", b"b"]


def test_only_one_blank_after_the_colon_is_dropped() -> None:
    assert data(b"data:a\n\ndata:  b\n\n") == [b"a", b" b"]


def test_several_data_lines_are_joined_by_newlines() -> None:
    assert data(b"data: a\ndata: b\ndata:\n\n") == [b"a\nb\n"]


def test_data_without_a_colon_is_an_empty_line() -> None:
    assert data(b"data\ndata: x\n\n") == [b"\nx"]


def test_the_event_field_names_the_event_and_only_that_one() -> None:
    assert decode(b"event: ping\ndata: 1\n\ndata: 2\n\n") == [SseEvent(b"1", "ping"), SseEvent(b"2")]


def test_an_event_without_data_is_none_and_leaves_no_name_behind() -> None:
    assert decode(b"event: ping\n\ndata: 1\n\n") == [SseEvent(b"1")]


def test_comments_ids_retries_and_unknown_fields_are_skipped() -> None:
    assert data(b": OPENROUTER PROCESSING\n\nid: 7\nretry: 100\nfoo: bar\ndata: x\n\n") == [b"x"]


def test_a_byte_order_mark_is_dropped_at_the_start_even_when_it_is_cut() -> None:
    assert data(b"\xef\xbb", b"\xbfdata: x\n\n") == [b"x"]


def test_a_byte_order_mark_later_on_is_no_mark() -> None:
    assert data(b"data: a\n\n", b"\xef\xbb\xbfdata: b\n\n") == [b"a"]


def test_a_character_cut_by_a_chunk_stays_whole() -> None:
    raw = "data: größer 😀\n\n".encode()
    assert data(*(raw[i : i + 1] for i in range(len(raw)))) == ["größer 😀".encode()]


def test_a_last_event_without_its_blank_line_counts() -> None:
    assert data(b"data: x\n") == [b"x"]
    assert data(b"data: x") == [b"x"]


def test_an_event_in_many_chunks_is_one() -> None:
    assert data(b"da", b"ta: ", b"x" * 10, b"y", b"\n", b"\n") == [b"x" * 10 + b"y"]


def test_the_quick_way_for_whole_events_does_not_join_what_is_pending() -> None:
    assert data(b"data: a\n\n", b"data: b\n", b"data: c\n\n") == [b"a", b"b\nc"]
    assert decode(b"data: a\n\nevent: e\n", b"data: b\n\n") == [SseEvent(b"a"), SseEvent(b"b", "e")]
    assert data(b"data: a\n\nda", b"data: b\n\n") == [b"a"]
    assert data(b"data: a\r", b"data: b\n\n") == [b"a\nb"]


def test_a_line_without_end_is_refused_before_memory_is_gone() -> None:
    decoder = SseDecoder(max_event_bytes=100)
    decoder.feed(b"x" * 60)
    with pytest.raises(EventTooLong):
        decoder.feed(b"x" * 60)


def test_an_event_of_endless_lines_is_refused_too() -> None:
    decoder = SseDecoder(max_event_bytes=100)
    decoder.feed(b"data: 0123\n" * 9)
    with pytest.raises(EventTooLong):
        decoder.feed(b"data: 0123\n" * 2)


def test_a_long_line_that_is_allowed_costs_one_copy_not_one_per_chunk() -> None:
    decoder = SseDecoder()
    for _ in range(2000):
        assert decoder.feed(b"x" * 1000) == []
    assert len(decoder._pieces) == 2000


LINES = st.sampled_from(
    [
        b"data: {}",
        b"data: \xc3\xbc\xf0\x9f\x98\x80",
        b"data",
        b"data:",
        b"event: e",
        b": c",
        b"",
        b"id: 1",
        b"x",
        b"\xff",
    ]
)
STREAMS = st.lists(st.tuples(LINES, st.sampled_from([b"\n", b"\r\n", b"\r"])).map(b"".join), max_size=12).map(
    b"".join
)


def cut(raw: bytes, places: list[int]) -> list[bytes]:
    edges = sorted({0, len(raw), *(place % (len(raw) + 1) for place in places)})
    return [raw[start:end] for start, end in pairwise(edges)]


def check_any_cut(raw: bytes, places: list[int]) -> None:
    assert decode(*cut(raw, places)) == decode(raw)


@given(STREAMS, st.lists(st.integers(0, 10_000), max_size=12))
def test_any_chunking_gives_the_events_of_one_chunk(raw: bytes, places: list[int]) -> None:
    check_any_cut(raw, places)


@pytest.mark.fuzz
@settings(max_examples=5_000, deadline=None)
@given(STREAMS | st.binary(max_size=200), st.lists(st.integers(0, 10_000), max_size=40))
def test_any_chunking_of_any_bytes_gives_the_events_of_one_chunk(raw: bytes, places: list[int]) -> None:
    check_any_cut(raw, places)
