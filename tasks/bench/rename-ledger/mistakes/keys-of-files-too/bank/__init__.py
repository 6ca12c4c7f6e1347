"""A bank: ledgers and what is done with them. Nothing to do with accounting as such."""

from bank.ledger import Ledger, LedgerError, open_ledger

__all__ = ["Ledger", "LedgerError", "open_ledger"]
