"""What readers of addresses expect."""

import unittest

from slugs import shorten, slug, unique


class Slug(unittest.TestCase):
    def test_words_are_joined_by_dashes(self):
        self.assertEqual(slug("Ten ways  to boil an egg"), "ten-ways-to-boil-an-egg")

    def test_accents_are_taken_off_their_letters(self):
        self.assertEqual(slug("Crème brûlée, twice!"), "creme-brulee-twice")

    def test_signs_alone_leave_nothing(self):
        self.assertEqual(slug("?!"), "")


class Shorten(unittest.TestCase):
    def test_a_slug_that_fits_stays(self):
        self.assertEqual(shorten("boil-an-egg", 11), "boil-an-egg")

    def test_a_word_is_not_cut_in_two(self):
        self.assertEqual(shorten("boil-an-egg", 10), "boil-an")

    def test_a_word_that_ends_at_the_limit_stays(self):
        self.assertEqual(shorten("boil-an-egg", 7), "boil-an")

    def test_a_long_first_word_is_cut_within(self):
        self.assertEqual(shorten("incomprehensibilities", 8), "incompre")


class Unique(unittest.TestCase):
    def test_a_free_slug_stays(self):
        self.assertEqual(unique("egg", {"eggs"}), "egg")

    def test_the_first_free_number_is_taken(self):
        self.assertEqual(unique("egg", {"egg", "egg-2"}), "egg-3")


if __name__ == "__main__":
    unittest.main()
