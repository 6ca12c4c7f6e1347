import unittest

from store import Store


class StoreTest(unittest.TestCase):
    def test_put_get_remove(self):
        store = Store()
        store.put("a", None)
        self.assertIn("a", store)
        self.assertIsNone(store.get("a", 1))
        store.remove("a")
        self.assertEqual(store.get("a", 1), 1)
        with self.assertRaises(KeyError):
            store.remove("a")

    def test_order(self):
        store = Store()
        for key in "bac":
            store.put(key, key)
        store.put("b", 2)
        self.assertEqual(store.keys(), ["b", "a", "c"])


if __name__ == "__main__":
    unittest.main()
