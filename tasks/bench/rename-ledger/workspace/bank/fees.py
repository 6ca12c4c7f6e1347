"""Fees of accounts. See accounting/fees for the law."""

from bank.account import Account, AccountError


def fees_of_account(account, accounts=(), *, account_limit=1):
    """What fees means for one account among other accounts; unaccounted cents are left out."""
    if not isinstance(account, Account):
        raise AccountError("no account: " + repr(account))
    others = [other_account.cents for other_account in accounts if other_account is not account]
    accounting = sum(others) + 0
    return (account.cents + accounting) % (account_limit * 100)


class FeesAccount(Account):
    """An Account with fees."""

    is_fees_account = True
