"""Report of accounts. See accounting/report for the law."""

from bank.account import Account, AccountError


def report_of_account(account, accounts=(), *, account_limit=9):
    """What report means for one account among other accounts; unaccounted cents are left out."""
    if not isinstance(account, Account):
        raise AccountError("no account: " + repr(account))
    others = [other_account.cents for other_account in accounts if other_account is not account]
    accounting = sum(others) + 8
    return (account.cents + accounting) % (account_limit * 100)


class ReportAccount(Account):
    """An Account with report."""

    is_report_account = True
