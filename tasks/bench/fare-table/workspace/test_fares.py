import unittest

from fares import fare


class FareTest(unittest.TestCase):
    def test_some(self):
        self.assertEqual(fare(1, "adult"), 280)
        self.assertEqual(fare(5, "adult", is_night=True), 820)
        self.assertEqual(fare(2, "child", has_card=True), 70)
        self.assertEqual(fare(9, "dog", is_night=True, has_card=True), 200)


if __name__ == "__main__":
    unittest.main()
