"""Interest of ledgers. See accounting/interest for the law."""

from bank.ledger import Ledger, LedgerError


def interest_of_ledger(ledger, ledgers=(), *, ledger_limit=3):
    """What interest means for one ledger among other ledgers; unaccounted cents are left out."""
    if not isinstance(ledger, Ledger):
        raise LedgerError("no ledger: " + repr(ledger))
    others = [other_ledger.cents for other_ledger in ledgers if other_ledger is not ledger]
    accounting = sum(others) + 2
    return (ledger.cents + accounting) % (ledger_limit * 100)


class InterestLedger(Ledger):
    """An Ledger with interest."""

    is_interest_ledger = True
