"""Merge readings: merge.py A.jsonl B.csv > OUT.jsonl."""

import csv
import json
import sys
from collections import defaultdict
from datetime import datetime, timedelta, timezone
from decimal import ROUND_HALF_UP, Decimal
from fractions import Fraction

MINUTE = timedelta(minutes=1)


def minute_of(moment):
    return moment.astimezone(timezone.utc).replace(second=0, microsecond=0)


def from_json_lines(path):
    with open(path, encoding="utf-8") as file:
        for line in file:
            try:
                found = json.loads(line, parse_float=Fraction)
            except ValueError:
                continue
            if not isinstance(found, dict) or not isinstance(found.get("station"), str) or not found.get("at"):
                continue
            moment = datetime.fromisoformat(found["at"].replace("Z", "+00:00"))
            if found.get("temp_c") is not None:
                yield found["station"], minute_of(moment), Fraction(found["temp_c"])


def from_csv(path):
    with open(path, encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            if row["temp_f"].strip():
                moment = datetime.fromtimestamp(int(row["unix"]), timezone.utc)
                yield row["station"], minute_of(moment), (Fraction(row["temp_f"].strip()) - 32) * 5 / 9


def rounded(value):
    exact = Decimal(value.numerator) / Decimal(value.denominator)
    return Fraction(exact.quantize(Decimal("0.1"), ROUND_HALF_UP))


def main(a, b):
    values = defaultdict(list)
    for station, minute, temp in (*from_json_lines(a), *from_csv(b)):
        if -90 <= temp <= 60:
            values[station, minute].append(temp)
    written = {key: rounded(sum(temps) / len(temps)) for key, temps in values.items()}
    filled = {}
    for (station, minute), temp in written.items():
        between, after = (station, minute + MINUTE), (station, minute + 2 * MINUTE)
        if between not in written and after in written:
            filled[between] = rounded((temp + written[after]) / 2)
    sys.stdout.reconfigure(encoding="utf-8", newline="\n")
    for station, minute in sorted({**written, **filled}):
        key = (station, minute)
        made = {"station": station, "at": minute.strftime("%Y-%m-%dT%H:%M:%SZ")}
        made["temp_c"] = float({**filled, **written}[key]) + 0.0
        if key in filled:
            made["filled"] = True
        print(json.dumps(made, ensure_ascii=False, separators=(",", ":")))


if __name__ == "__main__":
    main(*sys.argv[1:])
