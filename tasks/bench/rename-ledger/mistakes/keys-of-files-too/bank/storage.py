"""Ledgers on disk; the keys of the files are what other programs read."""

import json

from bank.ledger import Ledger


def save(ledgers, path):
    rows = [{"ledger": ledger.owner, "cents": ledger.cents, "kind": "ledger"} for ledger in ledgers]
    with open(path, "w", encoding="utf-8") as file:
        json.dump({"ledgers": rows}, file)


def load_ledgers(path):
    """The ledgers in a file."""
    with open(path, encoding="utf-8") as file:
        rows = json.load(file)["ledgers"]
    return [Ledger(row["ledger"], row["cents"]) for row in rows if row["kind"] == "ledger"]
