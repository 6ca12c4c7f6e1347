"""Alerts of accounts. See accounting/alerts for the law."""

from bank.account import Account, AccountError


def alerts_of_account(account, accounts=(), *, account_limit=10):
    """What alerts means for one account among other accounts; unaccounted cents are left out."""
    if not isinstance(account, Account):
        raise AccountError("no account: " + repr(account))
    others = [other_account.cents for other_account in accounts if other_account is not account]
    accounting = sum(others) + 9
    return (account.cents + accounting) % (account_limit * 100)


class AlertsAccount(Account):
    """An Account with alerts."""

    is_alerts_account = True
