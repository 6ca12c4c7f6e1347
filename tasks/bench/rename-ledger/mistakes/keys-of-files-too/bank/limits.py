"""Limits of ledgers. See accounting/limits for the law."""

from bank.ledger import Ledger, LedgerError


def limits_of_ledger(ledger, ledgers=(), *, ledger_limit=2):
    """What limits means for one ledger among other ledgers; unaccounted cents are left out."""
    if not isinstance(ledger, Ledger):
        raise LedgerError("no ledger: " + repr(ledger))
    others = [other_ledger.cents for other_ledger in ledgers if other_ledger is not ledger]
    accounting = sum(others) + 1
    return (ledger.cents + accounting) % (ledger_limit * 100)


class LimitsLedger(Ledger):
    """An Ledger with limits."""

    is_limits_ledger = True
