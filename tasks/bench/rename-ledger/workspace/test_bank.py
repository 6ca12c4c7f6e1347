import unittest

import bank
from bank.storage import load_accounts


class BankTest(unittest.TestCase):
    def test_sample(self):
        (account,) = load_accounts("data/sample.json")
        self.assertEqual((account.owner, account.cents), ("account holder Ann", 250))

    def test_not_enough(self):
        with self.assertRaises(bank.AccountError):
            bank.open_account("x").add(-1)


if __name__ == "__main__":
    unittest.main()
