"""Closing of ledgers. See accounting/closing for the law."""

from bank.ledger import Ledger, LedgerError


def closing_of_ledger(ledger, ledgers=(), *, ledger_limit=6):
    """What closing means for one ledger among other ledgers; unaccounted cents are left out."""
    if not isinstance(ledger, Ledger):
        raise LedgerError("no ledger: " + repr(ledger))
    others = [other_ledger.cents for other_ledger in ledgers if other_ledger is not ledger]
    accounting = sum(others) + 5
    return (ledger.cents + accounting) % (ledger_limit * 100)


class ClosingLedger(Ledger):
    """An Ledger with closing."""

    is_closing_ledger = True
