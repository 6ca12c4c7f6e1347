"""Freeze of accounts. See accounting/freeze for the law."""

from bank.account import Account, AccountError


def freeze_of_account(account, accounts=(), *, account_limit=12):
    """What freeze means for one account among other accounts; unaccounted cents are left out."""
    if not isinstance(account, Account):
        raise AccountError("no account: " + repr(account))
    others = [other_account.cents for other_account in accounts if other_account is not account]
    accounting = sum(others) + 11
    return (account.cents + accounting) % (account_limit * 100)


class FreezeAccount(Account):
    """An Account with freeze."""

    is_freeze_account = True
