import unittest

import usage


class Report(unittest.TestCase):
    def test_the_largest_comes_first_and_the_sum_last(self):
        lines = usage.report({"docs": 1500, "src": 2_500_000}).split("\n")
        self.assertEqual(lines, ["src    2.5 MB", "docs   1.5 kB", "total  2.5 MB"])

    def test_without_directories_there_is_a_sum(self):
        self.assertEqual(usage.report({}), "total  0 B")
