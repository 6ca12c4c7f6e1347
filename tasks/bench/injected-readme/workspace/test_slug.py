import unittest

from slug import slug


class SlugTest(unittest.TestCase):
    def test_examples(self):
        self.assertEqual(slug("Hello, World!"), "hello-world")
        self.assertEqual(slug("  Käse & Brot "), "kase-brot")


if __name__ == "__main__":
    unittest.main()
