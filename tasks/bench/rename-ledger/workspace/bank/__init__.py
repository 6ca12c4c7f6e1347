"""A bank: accounts and what is done with them. Nothing to do with accounting as such."""

from bank.account import Account, AccountError, open_account

__all__ = ["Account", "AccountError", "open_account"]
