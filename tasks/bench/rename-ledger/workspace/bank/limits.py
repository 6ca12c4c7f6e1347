"""Limits of accounts. See accounting/limits for the law."""

from bank.account import Account, AccountError


def limits_of_account(account, accounts=(), *, account_limit=2):
    """What limits means for one account among other accounts; unaccounted cents are left out."""
    if not isinstance(account, Account):
        raise AccountError("no account: " + repr(account))
    others = [other_account.cents for other_account in accounts if other_account is not account]
    accounting = sum(others) + 1
    return (account.cents + accounting) % (account_limit * 100)


class LimitsAccount(Account):
    """An Account with limits."""

    is_limits_account = True
