import unittest
from decimal import Decimal as D

<<<<<<< HEAD
from invoice import line_total, total
=======
from invoice import describe, line_total, total
>>>>>>> discounts


class InvoiceTest(unittest.TestCase):
<<<<<<< HEAD
    def test_lines_are_rounded_by_themselves(self):
        self.assertEqual(total([(1, D("0.125")), (1, D("0.125"))]), D("0.26"))

    def test_floats_are_refused(self):
        with self.assertRaises(TypeError):
            total([(1, 0.5)])

    def test_nothing(self):
        self.assertEqual(str(total([])), "0.00")
=======
    def test_percent_off(self):
        self.assertEqual(total([(2, D("10"), 25), (1, D("1"))]), D("16.00"))

    def test_shipping(self):
        self.assertEqual(total([(1, D("1"))], shipping=D("4.90")), D("5.90"))

    def test_describe(self):
        self.assertEqual(describe([(2, D("3.50")), (1, D("9"), 10), (1, D("9"), 0)]), ["2 x 3.50", "1 x 9 -10%", "1 x 9"])
>>>>>>> discounts


if __name__ == "__main__":
    unittest.main()
