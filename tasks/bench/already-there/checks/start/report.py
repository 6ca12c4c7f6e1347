"""Counts events by kind: `report.py FILE [--from DATE] [--to DATE] [--kind KIND]`."""

import argparse
from collections import Counter


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("file")
    parser.add_argument("--kind")
    parser.add_argument("--from", dest="first", default="", help="leave out what was before this day")
    parser.add_argument("--to", dest="last", default="9999-12-31", help="leave out what was after this day")
    given = parser.parse_args()
    counts = Counter()
    with open(given.file, encoding="utf-8") as file:
        for line in file:
            day, kind = line.split()
            if given.first <= day <= given.last and given.kind in (None, kind):
                counts[kind] += 1
    for kind, count in sorted(counts.items()):
        print(kind, count)


if __name__ == "__main__":
    main()
