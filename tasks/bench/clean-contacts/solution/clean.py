"""Clean a list of contacts by RULES.md: clean.py IN OUT."""

import csv
import io
import re
import sys

COLUMNS = ("name", "email", "phone", "city")


def plain(value):
    return " ".join((value or "").replace("\u00a0", " ").split())


def email_of(value):
    before, _, after = value.lower().partition("@")
    return f"{before}@{after}" if before.strip() and after.strip() and "@" not in after else ""


def phone_of(value):
    digits = re.sub(r"\D", "", value)
    if value.startswith("+"):
        number = "+" + digits
    elif digits.startswith("00"):
        number = "+" + digits[2:]
    elif digits.startswith("0"):
        number = "+49" + digits[1:]
    else:
        number = digits
    return number if len(number.lstrip("+")) >= 6 else ""


def read(path):
    with open(path, encoding="utf-8-sig", newline="") as file:
        content = file.read()
    header = content.split("\n", 1)[0]
    separator = ";" if header.count(";") > header.count(",") else ","
    lines = csv.reader(io.StringIO(content, newline=""), delimiter=separator)
    names = [plain(name).lower() for name in next(lines)]
    for line in lines:
        row = {name: plain(value) for name, value in zip(names, line)}
        row = {name: row.get(name, "") for name in COLUMNS}
        row["email"], row["phone"] = email_of(row["email"]), phone_of(row["phone"])
        if row["name"] and (row["email"] or row["phone"]):
            yield row


def joined(rows):
    groups = []
    for number, row in enumerate(rows):
        marks = set()
        if row["email"]:
            marks.add(row["email"])
        if row["phone"]:
            marks.add((row["name"].lower(), row["phone"]))
        same = [group for group in groups if group[0] & marks]
        whole = (marks.union(*(group[0] for group in same)), [(number, row)])
        for group in same:
            whole[1].extend(group[1])
            groups.remove(group)
        groups.append(whole)
    for _, members in groups:
        members.sort(key=lambda member: member[0])
        yield {name: next((row[name] for _, row in members if row[name]), "") for name in COLUMNS}


def main(source, target):
    rows = sorted(joined(read(source)), key=lambda row: (row["name"].lower(), row["email"], row["phone"]))
    with open(target, "w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(COLUMNS)
        writer.writerows([row[name] for name in COLUMNS] for row in rows)


if __name__ == "__main__":
    main(*sys.argv[1:])
