"""Interest of accounts. See accounting/interest for the law."""

from bank.account import Account, AccountError


def interest_of_account(account, accounts=(), *, account_limit=3):
    """What interest means for one account among other accounts; unaccounted cents are left out."""
    if not isinstance(account, Account):
        raise AccountError("no account: " + repr(account))
    others = [other_account.cents for other_account in accounts if other_account is not account]
    accounting = sum(others) + 2
    return (account.cents + accounting) % (account_limit * 100)


class InterestAccount(Account):
    """An Account with interest."""

    is_interest_account = True
