import unittest

from bucket import Bucket


class Clock:
    now = 0.0

    def __call__(self):
        return self.now


class Take(unittest.TestCase):
    def setUp(self):
        self.clock = Clock()
        self.bucket = Bucket(rate=2, capacity=3, clock=self.clock)

    def test_a_full_bucket_gives_its_capacity(self):
        self.assertEqual([self.bucket.take() for _ in range(4)], [0.0, 0.0, 0.0, 0.5])

    def test_tokens_come_back_with_time(self):
        for _ in range(3):
            self.bucket.take()
        self.clock.now += 0.5
        self.assertEqual(self.bucket.take(), 0.0)
        self.assertEqual(self.bucket.take(), 0.5)

    def test_waiting_sleeps_until_the_tokens_are_there(self):
        def sleep(seconds):
            self.clock.now += seconds

        self.bucket.take(3)
        self.bucket.wait(2, sleep)
        self.assertEqual(self.clock.now, 1.0)
