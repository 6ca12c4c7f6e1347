"""Times are UTC to the millisecond, as pi writes them."""

from __future__ import annotations

from pi_batch.times import iso_utc


def test_whole_and_broken_seconds() -> None:
    assert iso_utc(1767225600) == "2026-01-01T00:00:00.000Z"
    assert iso_utc(1767225600.1239) == "2026-01-01T00:00:00.123Z"
