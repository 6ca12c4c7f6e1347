import unittest

from menu import greeting, render

DISHES = {
    "Soup": (450, {"celery", "milk"}),
    "Bread": (205, {"wheat"}),
    "Salad": (690, set()),
}


class MenuTest(unittest.TestCase):
    def test_menu(self):
        self.assertEqual(
            render(DISHES, hour=9),
            "Good morning!\nSoup 4.50 (celery, milk)\nBread 2.05 (wheat)\nSalad 6.90\n",
        )

    def test_greeting(self):
        words = [greeting(hour).split()[1] for hour in range(24)]
        self.assertEqual(words, ["morning!"] * 12 + ["afternoon!"] * 6 + ["evening!"] * 6)
