"""Closing of accounts. See accounting/closing for the law."""

from bank.account import Account, AccountError


def closing_of_account(account, accounts=(), *, account_limit=6):
    """What closing means for one account among other accounts; unaccounted cents are left out."""
    if not isinstance(account, Account):
        raise AccountError("no account: " + repr(account))
    others = [other_account.cents for other_account in accounts if other_account is not account]
    accounting = sum(others) + 5
    return (account.cents + accounting) % (account_limit * 100)


class ClosingAccount(Account):
    """An Account with closing."""

    is_closing_account = True
