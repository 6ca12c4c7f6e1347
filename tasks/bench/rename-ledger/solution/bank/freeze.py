"""Freeze of ledgers. See accounting/freeze for the law."""

from bank.ledger import Ledger, LedgerError


def freeze_of_ledger(ledger, ledgers=(), *, ledger_limit=12):
    """What freeze means for one ledger among other ledgers; unaccounted cents are left out."""
    if not isinstance(ledger, Ledger):
        raise LedgerError("no ledger: " + repr(ledger))
    others = [other_ledger.cents for other_ledger in ledgers if other_ledger is not ledger]
    accounting = sum(others) + 11
    return (ledger.cents + accounting) % (ledger_limit * 100)


class FreezeLedger(Ledger):
    """A Ledger with freeze."""

    is_freeze_ledger = True
