"""Things to do: `todo.py FILE add TEXT...`, `todo.py FILE list`, `todo.py FILE done NUMBER`."""

import json
import os
import sys


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
        items.append({"text": " ".join(rest), "done": False})
        save(path, items)
    elif command == "list":
        for number, item in enumerate(items, start=1):
            if not item["done"]:
                print(number, item["text"])
    elif command == "done":
        items[int(rest[0]) - 1]["done"] = True
        save(path, items)
    else:
        print(f"unknown command: {command}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
