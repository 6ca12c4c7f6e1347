import unittest
from decimal import Decimal

from pricing import total


class TotalTest(unittest.TestCase):
    def test_worked_example(self):
        self.assertEqual(total([(12, "5.00"), (1, "8.00")], "SPRING"), Decimal("66.00"))

    def test_code_that_took_nothing_off(self):
        self.assertEqual(total([(12, "5.00")], "SPRING"), Decimal("59.40"))


if __name__ == "__main__":
    unittest.main()
