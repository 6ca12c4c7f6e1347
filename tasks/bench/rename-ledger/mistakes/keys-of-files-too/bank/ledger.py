"""An ledger."""


class LedgerError(Exception):
    """Something that an ledger does not allow."""


class Ledger:
    """Whole cents of one owner."""

    def __init__(self, owner, cents=0):
        self.owner, self.cents = owner, cents

    def add(self, cents):
        if self.cents + cents < 0:
            raise LedgerError(f"ledger of {self.owner}: not enough")
        self.cents += cents
        return self.cents

    def __repr__(self):
        return f"Ledger({self.owner!r}, {self.cents})"


def open_ledger(owner, accountant=None):
    """A new ledger; the accountant is told."""
    ledger = Ledger(owner)
    if accountant is not None:
        accountant(ledger)
    return ledger
