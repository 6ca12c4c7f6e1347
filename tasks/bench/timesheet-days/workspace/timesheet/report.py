"""Hours by day."""

from collections import defaultdict


def hours_by_day(entries):
    """{ISO date: hours, rounded to 1/100}, in the order of dates."""
    totals = defaultdict(float)
    for entry in entries:
        totals[entry.start.date().isoformat()] += entry.seconds
    return {day: round(totals[day] / 3600, 2) for day in sorted(totals)}
