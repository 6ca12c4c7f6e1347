"""Could the difference between two models be chance? Exact tests of pairs, and a correction for many."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from math import comb, gcd, lcm
from random import Random
from typing import Literal

from msgspec import Struct

SAMPLES = 10_000
MAX_EXACT_BITS = 2**33
"""Bits to be touched in all: about two seconds."""

TestName = Literal["mcnemar exact", "sign-flip exact", "sign-flip sampled"]


class TestResult(Struct, frozen=True):
    """A two-sided p value, and what gave it."""

    p: float
    name: TestName

    __test__ = False


def mcnemar_exact(worse: int, better: int) -> float:
    """Two-sided p of McNemar's exact test, from the pairs that differ; 1 where none does.

    Source: McNemar 1947, doi:10.1007/BF02295996, with the binomial distribution instead of its limit.
    """
    pairs = worse + better
    tail = sum(comb(pairs, count) for count in range(min(worse, better) + 1))
    return min(1.0, float(Fraction(2 * tail, 2**pairs)))


def sign_flip(
    differences: Sequence[Fraction],
    *,
    seed: int = 0,
    samples: int = SAMPLES,
    max_exact_bits: int = MAX_EXACT_BITS,
) -> TestResult:
    """Two-sided p of the sign-flip test of the tasks' differences: any sign as likely, if models are alike.

    All 2^n ways to put signs are counted, as a product of polynomials written into one number; only where
    that number grows out of hand are signs drawn. For differences of 1 it is McNemar's exact test.
    Source: Fisher 1935, The Design of Experiments, section 21.
    """
    scale = lcm(*(one.denominator for one in differences))
    steps = [int(one * scale) for one in differences if one]
    if not steps:
        return TestResult(1.0, "sign-flip exact")
    unit = gcd(*steps)
    observed = abs(sum(steps)) // unit
    sizes = [abs(step) // unit for step in steps]
    slot_bits = len(sizes) + 2
    if slot_bits * (sum(sizes) + 1) * len(sizes) <= max_exact_bits:
        return TestResult(_flipped_exactly(sizes, observed), "sign-flip exact")
    return TestResult(_flipped_at_random(sizes, observed, seed, samples), "sign-flip sampled")


def holm(values: Sequence[float]) -> tuple[float, ...]:
    """The p values as they are after so many comparisons, in the order given.

    Source: Holm 1979, A simple sequentially rejective multiple test procedure.
    """
    order = sorted(range(len(values)), key=lambda index: values[index])
    adjusted = [0.0] * len(values)
    least = 0.0
    for rank, index in enumerate(order):
        least = max(least, min(1.0, values[index] * (len(values) - rank)))
        adjusted[index] = least
    return tuple(adjusted)


def _flipped_exactly(sizes: Sequence[int], observed: int) -> float:
    """Part of all choices of signs whose sum is as far from 0 as the one observed."""
    if not observed:
        return 1.0
    slot_bits = len(sizes) + 2
    ways = 1  # slot s holds how many subsets have the sum s
    for size in sizes:
        ways += ways << (slot_bits * size)
    last = (sum(sizes) - observed) // 2
    low_slots = ways & ((1 << (slot_bits * (last + 1))) - 1)
    tail = low_slots % ((1 << slot_bits) - 1)  # the sum of the slots, as casting out nines sums digits
    return min(1.0, float(Fraction(2 * tail, 2 ** len(sizes))))


def _flipped_at_random(sizes: Sequence[int], observed: int, seed: int, samples: int) -> float:
    """The same from signs that are drawn; the observed ones count as one more drawing."""
    bits = Random(seed).getrandbits  # noqa: S311 (no secret: a seed is what makes it come out alike)
    whole = sum(sizes)
    extreme = 1
    for _ in range(samples):
        signs = bits(len(sizes))
        positive = sum(size for index, size in enumerate(sizes) if signs >> index & 1)
        extreme += abs(2 * positive - whole) >= observed
    return extreme / (samples + 1)
