import tempfile
import unittest
from pathlib import Path

import stock


class Stock(unittest.TestCase):
    def test_without_a_file_there_is_nothing(self):
        self.assertEqual(stock.read("no-such-file.json"), {})

    def test_a_file_is_read(self):
        with tempfile.TemporaryDirectory() as directory:
            path = Path(directory, "stock.json")
            path.write_text('{"bolts": 40}', encoding="utf-8")
            self.assertEqual(stock.read(path), {"bolts": 40})

    def test_more_of_an_article_is_added(self):
        self.assertEqual(stock.add("bolts", 5, {"bolts": 40}), {"bolts": 45})
        self.assertEqual(stock.add("nuts", 5, {"bolts": 40}), {"bolts": 40, "nuts": 5})

    def test_what_is_missing_is_ordered(self):
        wanted = {"bolts": 50, "nuts": 10, "screws": 1}
        self.assertEqual(stock.to_order({"bolts": 40, "screws": 2}, wanted), {"bolts": 10, "nuts": 10})

    def test_a_summary_counts_pieces_and_articles(self):
        self.assertEqual(stock.summary({"bolts": 40, "nuts": 2}), "42 pieces of 2 articles")
        self.assertEqual(stock.summary({}), "nothing in stock")
