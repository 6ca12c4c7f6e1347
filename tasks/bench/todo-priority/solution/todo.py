"""Things to do: `todo.py FILE add [--priority P] TEXT...`, `todo.py FILE list`, `todo.py FILE done NUMBER`."""

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


def show(items):
    waiting = [(number, item) for number, item in enumerate(items, start=1) if not item["done"]]
    waiting.sort(key=lambda pair: PRIORITIES.index(pair[1].get("priority", "normal")))
    for number, item in waiting:
        priority = item.get("priority", "normal")
        print(number, *([] if priority == "normal" else [priority]), item["text"])


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
        show(items)
    elif command == "done":
        items[int(rest[0]) - 1]["done"] = True
        save(path, items)
    else:
        print(f"unknown command: {command}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
