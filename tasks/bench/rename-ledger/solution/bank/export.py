"""Export of ledgers. See accounting/export for the law."""

from bank.ledger import Ledger, LedgerError


def export_of_ledger(ledger, ledgers=(), *, ledger_limit=8):
    """What export means for one ledger among other ledgers; unaccounted cents are left out."""
    if not isinstance(ledger, Ledger):
        raise LedgerError("no ledger: " + repr(ledger))
    others = [other_ledger.cents for other_ledger in ledgers if other_ledger is not ledger]
    accounting = sum(others) + 7
    return (ledger.cents + accounting) % (ledger_limit * 100)


class ExportLedger(Ledger):
    """A Ledger with export."""

    is_export_ledger = True
