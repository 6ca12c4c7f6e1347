from lab import PYTHON, probe, raised, run, same, true

START = {
    "entries": '''from dataclasses import dataclass
from datetime import datetime, timezone


@dataclass(frozen=True)
class Entry:
    start: datetime
    end: datetime

    @property
    def seconds(self):
        return (self.end - self.start).total_seconds()


def parse_entry(line):
    words = line.split()
    if len(words) != 2:
        raise ValueError(f"need two moments: {line!r}")
    start, end = (datetime.fromisoformat(word).astimezone(timezone.utc) for word in words)
    if end < start:
        raise ValueError(f"ends before it starts: {line!r}")
    return Entry(start, end)
''',
    "report": '''from collections import defaultdict


def hours_by_day(entries):
    totals = defaultdict(float)
    for entry in entries:
        totals[entry.start.date().isoformat()] += entry.seconds
    return {day: round(totals[day] / 3600, 2) for day in sorted(totals)}
''',
}


def report(*lines):
    return probe(f"""
from timesheet.entries import parse_entry
from timesheet.report import hours_by_day
give([list(pair) for pair in hours_by_day([parse_entry(line) for line in {lines!r}]).items()])
""")


def check_the_day_is_that_of_the_clock():
    same(report("2024-02-05T08:30:00+13:00 2024-02-05T10:00:00+13:00"), [["2024-02-05", 1.5]], "Auckland")
    same(report("2024-03-01T19:00:00-07:00 2024-03-01T20:15:00-07:00"), [["2024-03-01", 1.25]], "Denver")
    same(report("2024-03-01T00:10:00+05:45 2024-03-01T00:40:00+05:45"), [["2024-03-01", 0.5]], "Kathmandu")


def check_an_entry_over_midnight_is_of_both_days():
    same(
        report("2024-02-05T22:30:00+13:00 2024-02-06T01:00:00+13:00"),
        [["2024-02-05", 1.5], ["2024-02-06", 1.0]],
        "over midnight",
    )
    same(
        report("2024-02-28T12:00:00-03:00 2024-03-01T06:00:00-03:00"),
        [["2024-02-28", 12.0], ["2024-02-29", 24.0], ["2024-03-01", 6.0]],
        "over two midnights",
    )
    same(
        report("2024-02-05T22:00:00+01:00 2024-02-06T00:00:00+01:00"),
        [["2024-02-05", 2.0]],
        "until midnight: nothing is left for the next day",
    )


def check_days_of_several_clocks_are_added_up_in_order():
    same(
        report(
            "2024-05-02T09:00:00+10:00 2024-05-02T10:00:00+10:00",
            "2024-05-01T23:30:00-08:00 2024-05-02T00:30:00-08:00",
            "2024-05-01T08:00:00+00:00 2024-05-01T08:20:00+00:00",
        ),
        [["2024-05-01", 0.83], ["2024-05-02", 1.5]],
        "three clocks",
    )


def check_what_was_refused_still_is():
    found = probe("""
from timesheet.entries import parse_entry
give([attempt(parse_entry, line) for line in (
    "2024-02-05T10:00:00+00:00 2024-02-05T10:30:00+01:00", "2024-02-05T10:00:00+00:00", "x y")])
""")
    for one in found:
        raised(one, "ValueError", "a bad entry")


def check_there_is_a_test_that_fails_without_the_change():
    words = (*PYTHON, "-c", "import sys, unittest; sys.path.insert(0, '.'); "
             "unittest.main(module=None, argv=['t', 'discover', '-s', 'tests', '-t', '.'])")
    with_change = run(*words)
    true(with_change.code == 0 and "OK" in with_change.err, f"tests pass: {with_change.err[-200:]}")
    for name, text in START.items():
        with open(f"timesheet/{name}.py", "w", encoding="utf-8") as file:
            file.write(text)
    without = run(*words)
    true(without.code != 0 and "FAIL" in without.err, "a test fails on the code as it was")
