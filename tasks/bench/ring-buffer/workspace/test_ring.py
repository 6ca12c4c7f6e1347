import unittest

from ring import Ring


class RingTest(unittest.TestCase):
    def test_keeps_what_fits(self):
        ring = Ring(3)
        ring.push("a")
        ring.push("b")
        self.assertEqual(ring.items(), ["a", "b"])

    def test_forgets_the_oldest(self):
        ring = Ring(3)
        for item in "abcde":
            ring.push(item)
        self.assertEqual(ring.items(), ["c", "d", "e"])
        self.assertEqual(len(ring), 3)

    def test_last_of_nothing(self):
        with self.assertRaises(IndexError):
            Ring(2).last()


if __name__ == "__main__":
    unittest.main()
