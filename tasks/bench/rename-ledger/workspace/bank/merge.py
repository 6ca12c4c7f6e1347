"""Merge of accounts. See accounting/merge for the law."""

from bank.account import Account, AccountError


def merge_of_account(account, accounts=(), *, account_limit=11):
    """What merge means for one account among other accounts; unaccounted cents are left out."""
    if not isinstance(account, Account):
        raise AccountError("no account: " + repr(account))
    others = [other_account.cents for other_account in accounts if other_account is not account]
    accounting = sum(others) + 10
    return (account.cents + accounting) % (account_limit * 100)


class MergeAccount(Account):
    """An Account with merge."""

    is_merge_account = True
