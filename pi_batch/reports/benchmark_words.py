"""How numbers of benchmarks are put into words, the same in texts and on pages."""

from __future__ import annotations

from pi_batch.encoders import plain_line
from pi_batch.result_words import dollars
from pi_batch.statistics.amounts import Spread
from pi_batch.statistics.rates import Interval, Tally
from pi_batch.statistics.standing import ByK

NOT_KNOWN = "n/a"
NAME_CHARS = 80


def name_of(text: str) -> str:
    """A model's or a task's name on one line."""
    return plain_line(text, NAME_CHARS)


def percent(rate: float | None) -> str:
    """`66.7%`."""
    return NOT_KNOWN if rate is None else f"{rate:.1%}"


def points(difference: float | None) -> str:
    """A difference of two rates: `+3.3`, `-33.3`, `0.0`."""
    if difference is None:
        return NOT_KNOWN
    text = f"{100 * difference:+.1f}"
    return "0.0" if text in ("+0.0", "-0.0") else text


def between(interval: Interval) -> str:
    """`51.2% to 79.8%`."""
    return f"{interval.low:.1%} to {interval.high:.1%}"


def p_value(p: float | None) -> str:
    """`0.0312`; very small ones only as such."""
    if p is None:
        return NOT_KNOWN
    return "< 0.0001" if p < 0.0001 else f"{p:.3g}"


def of(tally: Tally) -> str:
    """`2/3`."""
    return f"{tally.passes}/{tally.trials}"


def money(amount: float | None) -> str:
    """`$1.50`."""
    return NOT_KNOWN if amount is None else dollars(amount)


def count(amount: float | None) -> str:
    """`12,345`, with one place below a hundred."""
    if amount is None:
        return NOT_KNOWN
    return f"{amount:,.1f}" if amount < 100 and amount != int(amount) else f"{amount:,.0f}"


def time(amount: float | None) -> str:
    """`12.3 s`."""
    return NOT_KNOWN if amount is None else f"{amount:,.1f} s"


def with_unknown(text: str, spread: Spread) -> str:
    """An amount, and of how many trials it is not known."""
    return f"{text} ({spread.unknown} unknown)" if spread.unknown else text


def by_k(found: ByK, tasks: int) -> str:
    """`83.3%`, with the tasks it is of where that is not all."""
    if found.value is None:
        return NOT_KNOWN
    return percent(found.value) + (f" ({found.tasks} of {tasks} tasks)" if found.tasks < tasks else "")
