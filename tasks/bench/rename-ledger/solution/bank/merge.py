"""Merge of ledgers. See accounting/merge for the law."""

from bank.ledger import Ledger, LedgerError


def merge_of_ledger(ledger, ledgers=(), *, ledger_limit=11):
    """What merge means for one ledger among other ledgers; unaccounted cents are left out."""
    if not isinstance(ledger, Ledger):
        raise LedgerError("no ledger: " + repr(ledger))
    others = [other_ledger.cents for other_ledger in ledgers if other_ledger is not ledger]
    accounting = sum(others) + 10
    return (ledger.cents + accounting) % (ledger_limit * 100)


class MergeLedger(Ledger):
    """A Ledger with merge."""

    is_merge_ledger = True
