"""Transfer of ledgers. See accounting/transfer for the law."""

from bank.ledger import Ledger, LedgerError


def transfer_of_ledger(ledger, ledgers=(), *, ledger_limit=5):
    """What transfer means for one ledger among other ledgers; unaccounted cents are left out."""
    if not isinstance(ledger, Ledger):
        raise LedgerError("no ledger: " + repr(ledger))
    others = [other_ledger.cents for other_ledger in ledgers if other_ledger is not ledger]
    accounting = sum(others) + 4
    return (ledger.cents + accounting) % (ledger_limit * 100)


class TransferLedger(Ledger):
    """A Ledger with transfer."""

    is_transfer_ledger = True
