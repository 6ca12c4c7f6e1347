"""Merge readings."""

import csv
import json
import sys
from collections import defaultdict
from datetime import datetime, timedelta, timezone

MINUTE = timedelta(minutes=1)


def main(a, b):
    values = defaultdict(list)
    with open(a, encoding="utf-8") as file:
        for line in file:
            try:
                found = json.loads(line)
                station, at, temp = found["station"], found["at"], found["temp_c"]
            except (ValueError, KeyError, TypeError):
                continue
            if isinstance(station, str) and temp is not None and -90 <= temp <= 60:
                moment = datetime.fromisoformat(at.replace("Z", "+00:00")).astimezone(timezone.utc)
                values[station, moment.replace(second=0, microsecond=0)].append(temp)
    with open(b, encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            if row["temp_f"].strip():
                temp = (float(row["temp_f"]) - 32) * 5 / 9
                moment = datetime.fromtimestamp(int(row["unix"]), timezone.utc)
                if -90 <= temp <= 60:
                    values[row["station"], moment.replace(second=0, microsecond=0)].append(temp)
    written = {key: round(sum(temps) / len(temps), 1) for key, temps in values.items()}
    filled = {}
    for (station, minute), temp in written.items():
        between, after = (station, minute + MINUTE), (station, minute + 2 * MINUTE)
        if between not in written and after in written:
            filled[between] = round((temp + written[after]) / 2, 1)
    for key in sorted({**written, **filled}):
        made = {"station": key[0], "at": key[1].strftime("%Y-%m-%dT%H:%M:%SZ")}
        made["temp_c"] = {**filled, **written}[key] + 0.0
        if key in filled:
            made["filled"] = True
        print(json.dumps(made, ensure_ascii=False, separators=(",", ":")))


if __name__ == "__main__":
    main(*sys.argv[1:])
