import unittest

import counters
from counters import Counter, Full, counter, reset, snapshot


class CountersTest(unittest.TestCase):
    def setUp(self):
        reset()

    def test_a_counts(self):
        one = counter("one")
        one.add("x")
        one.add("y", 2)
        self.assertEqual(one.history, [("x", 1), ("y", 2)])
        self.assertEqual(one.seen, {"x", "y"})
        self.assertEqual(snapshot(), {"one": 3})

    def test_b_labels(self):
        self.assertEqual(counter("one").label("red", "big").options["labels"], ["red", "big"])

    def test_c_limit(self):
        small = counter("small").limit_to(2)
        small.add("x", 2)
        with self.assertRaises(Full):
            small.add("x")
        self.assertEqual(small.total, 2)

    def test_d_default_limit(self):
        ten = Counter("ten")
        ten.add("x", 10)
        self.assertEqual(ten.history, [("x", 10)])
        self.assertRaises(Full, ten.add, "x")

    def test_e_no_labels(self):
        self.assertEqual(counter("plain").options["labels"], [])
        self.assertEqual(counter("plain").seen, set())


if __name__ == "__main__":
    unittest.main()
