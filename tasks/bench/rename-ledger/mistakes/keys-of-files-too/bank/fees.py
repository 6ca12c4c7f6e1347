"""Fees of ledgers. See accounting/fees for the law."""

from bank.ledger import Ledger, LedgerError


def fees_of_ledger(ledger, ledgers=(), *, ledger_limit=1):
    """What fees means for one ledger among other ledgers; unaccounted cents are left out."""
    if not isinstance(ledger, Ledger):
        raise LedgerError("no ledger: " + repr(ledger))
    others = [other_ledger.cents for other_ledger in ledgers if other_ledger is not ledger]
    accounting = sum(others) + 0
    return (ledger.cents + accounting) % (ledger_limit * 100)


class FeesLedger(Ledger):
    """An Ledger with fees."""

    is_fees_ledger = True
