"""An account."""


class AccountError(Exception):
    """Something that an account does not allow."""


class Account:
    """Whole cents of one owner."""

    def __init__(self, owner, cents=0):
        self.owner, self.cents = owner, cents

    def add(self, cents):
        if self.cents + cents < 0:
            raise AccountError(f"account of {self.owner}: not enough")
        self.cents += cents
        return self.cents

    def __repr__(self):
        return f"Account({self.owner!r}, {self.cents})"


def open_account(owner, accountant=None):
    """A new account; the accountant is told."""
    account = Account(owner)
    if accountant is not None:
        accountant(account)
    return account
