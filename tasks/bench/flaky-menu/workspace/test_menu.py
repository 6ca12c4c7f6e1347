import unittest

from menu import render

DISHES = {
    "Soup": (450, {"celery", "milk"}),
    "Bread": (205, {"wheat"}),
    "Salad": (690, set()),
}


class MenuTest(unittest.TestCase):
    def test_menu(self):
        self.assertEqual(
            render(DISHES),
            "Good morning!\nSoup 4.50 (celery, milk)\nBread 2.05 (wheat)\nSalad 6.90\n",
        )


if __name__ == "__main__":
    unittest.main()
