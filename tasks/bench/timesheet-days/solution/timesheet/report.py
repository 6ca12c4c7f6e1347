"""Hours by day."""

from collections import defaultdict
from datetime import datetime, time, timedelta


def hours_by_day(entries):
    """{ISO date: hours, rounded to 1/100}, in the order of dates; a day is that of the entry's own clock."""
    totals = defaultdict(float)
    for entry in entries:
        moment, end = entry.start, entry.end.astimezone(entry.start.tzinfo)
        while moment < end:
            midnight = datetime.combine(moment.date() + timedelta(days=1), time(), moment.tzinfo)
            until = min(midnight, end)
            totals[moment.date().isoformat()] += (until - moment).total_seconds()
            moment = until
    return {day: round(totals[day] / 3600, 2) for day in sorted(totals)}
