import unittest

from letters.render import render


class RenderTest(unittest.TestCase):
    def test_farewell(self):
        self.assertEqual(render("farewell", name="A"), "Good bye, A.\n")
