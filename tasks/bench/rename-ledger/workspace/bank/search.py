"""Search of accounts. See accounting/search for the law."""

from bank.account import Account, AccountError


def search_of_account(account, accounts=(), *, account_limit=7):
    """What search means for one account among other accounts; unaccounted cents are left out."""
    if not isinstance(account, Account):
        raise AccountError("no account: " + repr(account))
    others = [other_account.cents for other_account in accounts if other_account is not account]
    accounting = sum(others) + 6
    return (account.cents + accounting) % (account_limit * 100)


class SearchAccount(Account):
    """An Account with search."""

    is_search_account = True
