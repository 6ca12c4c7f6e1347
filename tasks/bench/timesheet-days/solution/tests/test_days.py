import unittest

from timesheet.entries import parse_entry
from timesheet.report import hours_by_day


class DaysTest(unittest.TestCase):
    def test_the_day_is_that_of_the_clock(self):
        entry = parse_entry("2024-02-05T08:30:00+13:00 2024-02-05T10:00:00+13:00")
        self.assertEqual(hours_by_day([entry]), {"2024-02-05": 1.5})
