"""Things to do."""

import json
import os
import sys

PRIORITIES = ("high", "normal", "low")


def load(path):
    if not os.path.exists(path):
        return []
    with open(path, encoding="utf-8") as file:
        return json.load(file)


def save(path, items):
    with open(path, "w", encoding="utf-8") as file:
        json.dump(items, file, ensure_ascii=False)


def main(words):
    path, command, *rest = words
    items = load(path)
    if command == "add":
        priority = "normal"
        if rest[:1] == ["--priority"]:
            priority, rest = rest[1], rest[2:]
        if priority not in PRIORITIES:
            print(f"priority {priority!r}: need one of {', '.join(PRIORITIES)}", file=sys.stderr)
            return 2
        items.append({"text": " ".join(rest), "done": False, "priority": priority})
        save(path, items)
    elif command == "list":
        waiting = [(n, item) for n, item in enumerate(items, start=1) if not item["done"]]
        for number, item in sorted(waiting, key=lambda pair: PRIORITIES.index(pair[1]["priority"])):
            print(number, *([] if item["priority"] == "normal" else [item["priority"]]), item["text"])
    elif command == "done":
        items[int(rest[0]) - 1]["done"] = True
        save(path, items)
    else:
        print(f"unknown command: {command}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
