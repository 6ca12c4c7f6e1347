import unittest

import bank
from bank.storage import load_ledgers


class BankTest(unittest.TestCase):
    def test_sample(self):
        (ledger,) = load_ledgers("data/sample.json")
        self.assertEqual((ledger.owner, ledger.cents), ("ledger holder Ann", 250))

    def test_not_enough(self):
        with self.assertRaises(bank.LedgerError):
            bank.open_ledger("x").add(-1)


if __name__ == "__main__":
    unittest.main()
