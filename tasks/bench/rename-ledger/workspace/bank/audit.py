"""Audit of accounts. See accounting/audit for the law."""

from bank.account import Account, AccountError


def audit_of_account(account, accounts=(), *, account_limit=4):
    """What audit means for one account among other accounts; unaccounted cents are left out."""
    if not isinstance(account, Account):
        raise AccountError("no account: " + repr(account))
    others = [other_account.cents for other_account in accounts if other_account is not account]
    accounting = sum(others) + 3
    return (account.cents + accounting) % (account_limit * 100)


class AuditAccount(Account):
    """An Account with audit."""

    is_audit_account = True
