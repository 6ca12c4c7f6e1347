"""When a service says to come back: retry-after-ms, retry-after in seconds, retry-after as a date.

Google's RetryInfo in the body is a fourth form; routers hand it through. Whatever makes no sense is None,
and the usual backoff applies.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from math import isfinite
from typing import Any

_DELAY = re.compile(r"(\d+(?:\.\d+)?)s\Z")


def retry_after_s(headers: Mapping[str, str], now: Callable[[], float]) -> float | None:
    """Seconds to wait by the response's headers; None when they say nothing sensible.

    A date is compared with the response's own `date`, so that a wrong clock here does no harm.
    """
    milliseconds = _number(headers.get("retry-after-ms"))
    if milliseconds is not None:
        return milliseconds / 1000
    value = headers.get("retry-after")
    seconds = _number(value)
    if seconds is not None or value is None:
        return seconds
    due = _date(value)
    if due is None:
        return None
    sent = _date(headers.get("date") or "")
    wait_s = due - (now() if sent is None else sent)
    return wait_s if wait_s >= 0 else None


def retry_info_s(error: Mapping[str, Any]) -> float | None:
    """Seconds by an error object's `details[].retryDelay` ("36s")."""
    details = error.get("details")
    for detail in details if isinstance(details, list) else ():
        delay = detail.get("retryDelay") if isinstance(detail, dict) else None
        match = _DELAY.match(delay) if isinstance(delay, str) else None
        if match:
            return float(match[1])
    return None


def _number(value: str | None) -> float | None:
    try:
        number = float(value) if value is not None else -1.0
    except ValueError:
        return None
    return number if number >= 0 and isfinite(number) else None


def _date(value: str) -> float | None:
    try:
        date: datetime = parsedate_to_datetime(value)
    except (TypeError, ValueError):
        return None
    return (date if date.tzinfo else date.replace(tzinfo=UTC)).timestamp()
