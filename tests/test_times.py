"""Times are UTC to the millisecond, as pi writes them."""

from __future__ import annotations

from pi_batch.times import iso_ms, iso_utc


def test_whole_and_broken_seconds() -> None:
    assert iso_utc(1767225600) == "2026-01-01T00:00:00.000Z"
    assert iso_utc(1767225600.1239) == "2026-01-01T00:00:00.123Z"


def test_a_time_reads_back_and_what_is_none_is_zero() -> None:
    assert iso_ms("2026-01-01T00:00:00.123Z") == 1767225600123
    assert iso_ms("2026-01-01T01:00:00+01:00") == 1767225600000
    assert [iso_ms(text) for text in ("", "soon", "1900-01-01T00:00:00Z", "9999-99-99")] == [0, 0, 0, 0]
