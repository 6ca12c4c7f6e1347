"""What is let through of a summary's tries, and what they add up to."""

from __future__ import annotations

import pytest

from pi_batch.engine.summarizer import Meter
from pi_batch.events import CompactionEnd, Event, MessageEnd, MessageStart, MessageUpdate, RetryScheduled
from pi_batch.messages import Usage


def lost(usage: Usage | None, cost_usd: float | None) -> MessageEnd:
    """A try that failed."""
    return MessageEnd("", "assistant", "", "error", usage, cost_usd)


def test_only_what_is_no_message_is_let_through() -> None:
    seen: list[Event] = []
    retry = RetryScheduled(1, 0.1, "overloaded", "busy")
    meter = Meter(seen.append)
    for event in (MessageStart("assistant"), MessageUpdate("text", "x"), lost(Usage(5), 0.1), retry):
        meter.emit(event)
    assert seen == [retry]


@pytest.mark.parametrize(
    ("end", "lost_usd", "cost_usd"),
    [
        (CompactionEnd(9, 3, Usage(10, 2), 0.5), 0.25, 0.75),
        (CompactionEnd(9, 3, Usage(10, 2), 0.5), None, None),
        (CompactionEnd(9, 3, Usage(10, 2), None), 0.25, None),
        (CompactionEnd(9, 9, error="quota"), 0.25, 0.25),
    ],
)
def test_failed_tries_are_in_the_sums(
    end: CompactionEnd, lost_usd: float | None, cost_usd: float | None
) -> None:
    meter = Meter(lambda _event: None)
    meter.emit(lost(Usage(100), lost_usd))
    whole = meter.with_lost(end)
    assert whole.cost_usd == cost_usd
    assert whole.usage == Usage(100) + (end.usage or Usage())


def test_without_failed_tries_the_end_stays_as_it_is() -> None:
    meter = Meter(lambda _event: None)
    meter.emit(lost(None, 0.0))
    end = CompactionEnd(9, 3, Usage(10, 2), 0.5)
    assert meter.with_lost(end) is end
