"""Export of accounts. See accounting/export for the law."""

from bank.account import Account, AccountError


def export_of_account(account, accounts=(), *, account_limit=8):
    """What export means for one account among other accounts; unaccounted cents are left out."""
    if not isinstance(account, Account):
        raise AccountError("no account: " + repr(account))
    others = [other_account.cents for other_account in accounts if other_account is not account]
    accounting = sum(others) + 7
    return (account.cents + accounting) % (account_limit * 100)


class ExportAccount(Account):
    """An Account with export."""

    is_export_account = True
