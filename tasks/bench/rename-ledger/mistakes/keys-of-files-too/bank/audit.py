"""Audit of ledgers. See accounting/audit for the law."""

from bank.ledger import Ledger, LedgerError


def audit_of_ledger(ledger, ledgers=(), *, ledger_limit=4):
    """What audit means for one ledger among other ledgers; unaccounted cents are left out."""
    if not isinstance(ledger, Ledger):
        raise LedgerError("no ledger: " + repr(ledger))
    others = [other_ledger.cents for other_ledger in ledgers if other_ledger is not ledger]
    accounting = sum(others) + 3
    return (ledger.cents + accounting) % (ledger_limit * 100)


class AuditLedger(Ledger):
    """An Ledger with audit."""

    is_audit_ledger = True
