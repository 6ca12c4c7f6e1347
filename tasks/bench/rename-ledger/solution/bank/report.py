"""Report of ledgers. See accounting/report for the law."""

from bank.ledger import Ledger, LedgerError


def report_of_ledger(ledger, ledgers=(), *, ledger_limit=9):
    """What report means for one ledger among other ledgers; unaccounted cents are left out."""
    if not isinstance(ledger, Ledger):
        raise LedgerError("no ledger: " + repr(ledger))
    others = [other_ledger.cents for other_ledger in ledgers if other_ledger is not ledger]
    accounting = sum(others) + 8
    return (ledger.cents + accounting) % (ledger_limit * 100)


class ReportLedger(Ledger):
    """A Ledger with report."""

    is_report_ledger = True
