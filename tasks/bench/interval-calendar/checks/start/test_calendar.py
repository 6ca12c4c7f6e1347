import unittest

from bookings import busy, fits, free


class CalendarTest(unittest.TestCase):
    def test_joined(self):
        self.assertEqual(busy([(60, 90), (10, 20), (20, 30)]), [(10, 30), (60, 90)])

    def test_one_within_another(self):
        self.assertEqual(busy([(0, 100), (10, 20), (50, 60)]), [(0, 100)])

    def test_free(self):
        self.assertEqual(free([(600, 660)], 540, 1020), [(540, 600), (660, 1020)])

    def test_fits(self):
        self.assertTrue(fits([(600, 660)], 660, 700, 540, 1020))
        self.assertFalse(fits([(600, 660)], 650, 700, 540, 1020))


if __name__ == "__main__":
    unittest.main()
