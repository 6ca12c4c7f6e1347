import unittest

from timesheet.entries import parse_entry
from timesheet.report import hours_by_day


class EntriesTest(unittest.TestCase):
    def test_utc(self):
        entry = parse_entry("2024-02-05T09:00:00+00:00 2024-02-05T10:30:00+00:00")
        self.assertEqual(hours_by_day([entry]), {"2024-02-05": 1.5})

    def test_backwards(self):
        with self.assertRaises(ValueError):
            parse_entry("2024-02-05T10:00:00+00:00 2024-02-05T09:00:00+00:00")


if __name__ == "__main__":
    unittest.main()
