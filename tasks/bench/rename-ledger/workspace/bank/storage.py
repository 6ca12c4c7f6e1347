"""Accounts on disk; the keys of the files are what other programs read."""

import json

from bank.account import Account


def save(accounts, path):
    rows = [{"account": account.owner, "cents": account.cents, "kind": "account"} for account in accounts]
    with open(path, "w", encoding="utf-8") as file:
        json.dump({"accounts": rows}, file)


def load_accounts(path):
    """The accounts in a file."""
    with open(path, encoding="utf-8") as file:
        rows = json.load(file)["accounts"]
    return [Account(row["account"], row["cents"]) for row in rows if row["kind"] == "account"]
