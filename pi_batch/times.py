"""Points in time as text."""

from __future__ import annotations

from datetime import UTC, datetime


def iso_utc(epoch_s: float) -> str:
    """ISO 8601 in UTC with milliseconds: `2026-01-01T00:00:00.000Z`, as pi writes it."""
    moment = datetime.fromtimestamp(epoch_s, UTC)
    return moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")


def iso_ms(text: str) -> int:
    """Milliseconds since 1970 of an ISO 8601 time; 0 for what is none."""
    try:
        moment = datetime.fromisoformat(text)
        return max(0, round(moment.timestamp() * 1000))
    except (ValueError, OverflowError, OSError):
        return 0
