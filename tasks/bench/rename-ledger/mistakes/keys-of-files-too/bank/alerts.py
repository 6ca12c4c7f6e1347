"""Alerts of ledgers. See accounting/alerts for the law."""

from bank.ledger import Ledger, LedgerError


def alerts_of_ledger(ledger, ledgers=(), *, ledger_limit=10):
    """What alerts means for one ledger among other ledgers; unaccounted cents are left out."""
    if not isinstance(ledger, Ledger):
        raise LedgerError("no ledger: " + repr(ledger))
    others = [other_ledger.cents for other_ledger in ledgers if other_ledger is not ledger]
    accounting = sum(others) + 9
    return (ledger.cents + accounting) % (ledger_limit * 100)


class AlertsLedger(Ledger):
    """An Ledger with alerts."""

    is_alerts_ledger = True
