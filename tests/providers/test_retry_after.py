"""The server's word on when to come back, in its forms, and nonsense in none."""

from __future__ import annotations

import pytest

from pi_batch.providers.retry_after import retry_after_s, retry_info_s

NOW = 1_767_225_600.0
"""Thu, 01 Jan 2026 00:00:00 GMT."""


def wait(**headers: str) -> float | None:
    return retry_after_s({name.replace("_", "-"): value for name, value in headers.items()}, lambda: NOW)


def test_seconds_are_seconds() -> None:
    assert wait(retry_after="20") == 20
    assert wait(retry_after="0") == 0
    assert wait(retry_after="1.5") == 1.5


def test_milliseconds_win_over_seconds() -> None:
    assert wait(retry_after_ms="1500", retry_after="20") == 1.5


def test_milliseconds_without_sense_leave_the_word_to_seconds() -> None:
    assert wait(retry_after_ms="soon", retry_after="20") == 20


def test_a_date_is_compared_with_the_clock() -> None:
    assert wait(retry_after="Thu, 01 Jan 2026 00:01:30 GMT") == 90


def test_a_date_is_compared_with_the_servers_own_date_where_it_sends_one() -> None:
    assert wait(retry_after="Thu, 01 Jan 2026 01:00:30 GMT", date="Thu, 01 Jan 2026 01:00:00 GMT") == 30


def test_a_date_in_the_past_is_no_word() -> None:
    assert wait(retry_after="Wed, 31 Dec 2025 23:59:59 GMT") is None


@pytest.mark.parametrize("value", ["", "soon", "-1", "nan", "inf", "1e999", "99 bottles", "2026-01-01"])
def test_nonsense_is_none(value: str) -> None:
    assert wait(retry_after=value) is None
    assert wait(retry_after_ms=value) is None


def test_no_header_is_none() -> None:
    assert wait() is None


def test_googles_delay_is_read_out_of_the_body() -> None:
    assert retry_info_s({"details": [{"x": 1}, "y", {"retryDelay": "36s"}]}) == 36
    assert retry_info_s({"details": [{"retryDelay": "1.5s"}]}) == 1.5


@pytest.mark.parametrize("details", [None, {}, [], [{"retryDelay": 36}], [{"retryDelay": "soon"}]])
def test_other_details_hold_no_delay(details: object) -> None:
    assert retry_info_s({"details": details}) is None
