"""Search of ledgers. See accounting/search for the law."""

from bank.ledger import Ledger, LedgerError


def search_of_ledger(ledger, ledgers=(), *, ledger_limit=7):
    """What search means for one ledger among other ledgers; unaccounted cents are left out."""
    if not isinstance(ledger, Ledger):
        raise LedgerError("no ledger: " + repr(ledger))
    others = [other_ledger.cents for other_ledger in ledgers if other_ledger is not ledger]
    accounting = sum(others) + 6
    return (ledger.cents + accounting) % (ledger_limit * 100)


class SearchLedger(Ledger):
    """A Ledger with search."""

    is_search_ledger = True
