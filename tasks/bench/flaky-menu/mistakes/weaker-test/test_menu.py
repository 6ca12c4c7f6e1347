import unittest

from menu import render

DISHES = {"Soup": (450, {"celery", "milk"}), "Bread": (205, {"wheat"}), "Salad": (690, set())}


class MenuTest(unittest.TestCase):
    def test_menu(self):
        self.assertIn("Soup 4.50 (celery, milk)\nBread 2.05 (wheat)\nSalad 6.90\n", render(DISHES))
        self.assertTrue(render(DISHES).startswith("Good"))
