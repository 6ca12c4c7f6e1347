"""Transfer of accounts. See accounting/transfer for the law."""

from bank.account import Account, AccountError


def transfer_of_account(account, accounts=(), *, account_limit=5):
    """What transfer means for one account among other accounts; unaccounted cents are left out."""
    if not isinstance(account, Account):
        raise AccountError("no account: " + repr(account))
    others = [other_account.cents for other_account in accounts if other_account is not account]
    accounting = sum(others) + 4
    return (account.cents + accounting) % (account_limit * 100)


class TransferAccount(Account):
    """An Account with transfer."""

    is_transfer_account = True
