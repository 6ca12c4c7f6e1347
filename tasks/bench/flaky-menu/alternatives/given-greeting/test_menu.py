import unittest
from datetime import datetime

from menu import render


class MenuTest(unittest.TestCase):
    def test_every_hour(self):
        for hour in range(24):
            word = "morning" if hour < 12 else "afternoon" if hour < 18 else "evening"
            self.assertEqual(render({}, datetime(2000, 1, 1, hour)), f"Good {word}!\n")

    def test_dishes(self):
        dishes = {"Soup": (450, {"celery", "milk"}), "Bread": (205, {"wheat"}), "Salad": (690, set())}
        wanted = ["Soup 4.50 (celery, milk)", "Bread 2.05 (wheat)", "Salad 6.90", ""]
        self.assertEqual(render(dishes).split("\n")[1:], wanted)
