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


def main(source, target):
    with open(source, encoding="utf-8-sig", newline="") as file:
        content = file.read()
    header = content.split("\n", 1)[0]
    lines = csv.reader(io.StringIO(content, newline=""), delimiter=";" if header.count(";") > header.count(",") else ",")
    names = [plain(name).lower() for name in next(lines)]
    kept = []
    for line in lines:
        row = {name: plain(value) for name, value in zip(names, line)}
        row = {name: row.get(name, "") for name in COLUMNS}
        row["email"], row["phone"] = email_of(row["email"]), phone_of(row["phone"])
        if not row["name"] or not (row["email"] or row["phone"]):
            continue
        for other in kept:
            same_phone = row["phone"] and other["phone"] == row["phone"]
            if row["email"] and other["email"] == row["email"] or (
                same_phone and other["name"].lower() == row["name"].lower()
            ):
                for name in COLUMNS:
                    other[name] = other[name] or row[name]
                break
        else:
            kept.append(row)
    kept.sort(key=lambda row: (row["name"].lower(), row["email"], row["phone"]))
    with open(target, "w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(COLUMNS)
        writer.writerows([row[name] for name in COLUMNS] for row in kept)


if __name__ == "__main__":
    main(*sys.argv[1:])
