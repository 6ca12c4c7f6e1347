"""How results are put into words, the same on every page, table and progress line."""

from __future__ import annotations

import math

from pi_batch.messages import Usage
from pi_batch.results import BatchResult, CodemodeCounts, RunResult, Totals

WAITED_S = 0.1
"""Shorter waits are not shown."""
STYLES = {
    "passed": "green",
    "unverified": "yellow",
    "failed": "red",
    "error": "bold red",
    "skipped": "cyan",
    "not run": "magenta",
}
"""Outcome words in a terminal's colours, as rich spells them."""


_CODES = {"green": "32", "yellow": "33", "red": "31", "bold red": "1;31", "cyan": "36", "magenta": "35"}


def painted(text: str, word: str) -> str:
    """A text in the colour of a word, for plain lines; words that are no outcome are dim."""
    return f"\x1b[{_CODES.get(STYLES.get(word, ''), '2')}m{text}\x1b[0m"


def outcome_word(result: RunResult) -> str:
    """The outcome as a person reads it; passing without a check is no `passed`."""
    return "unverified" if result.outcome == "passed" and not result.verified else result.outcome


def spent(result: RunResult) -> str:
    """`4 turns, 12,345 tokens, $0.0123, 12.3 s`."""
    cached = sum(one.cached_replies for one in result.model_usage.values())
    parts = (
        turns(result.num_turns),
        tokens(result.usage),
        dollars(result.total_cost_usd),
        f"{seconds(result.duration_s):.1f} s",
        *([scripts(result.codemode)] if result.codemode.scripts else []),
        *([kept(cached)] if cached else []),
    )
    return ", ".join(parts)


def kept(replies: int) -> str:
    """`2 replies from the cache`."""
    return f"{replies:,} {'reply' if replies == 1 else 'replies'} from the cache"


def waited(result: RunResult) -> str:
    """`1.0 s`: what waiting for rate limits and other tasks took, no fault of the model; empty where none."""
    waited_s = seconds(result.duration_s - result.working_s)
    return f"{waited_s:.1f} s" if waited_s >= WAITED_S else ""


def scripts(codemode: CodemodeCounts) -> str:
    """`2 scripts with 301 calls (1.2 MB kept out of the context)`."""
    what = f"{codemode.scripts:,} {'script' if codemode.scripts == 1 else 'scripts'}"
    calls = f"{codemode.calls:,} {'call' if codemode.calls == 1 else 'calls'}"
    return f"{what} with {calls} ({_size(codemode.bytes_saved)} kept out of the context)"


def _size(count: int) -> str:
    """Bytes in the unit that fits."""
    if count < 1000:
        return f"{count} B"
    return f"{count / 1e3:.1f} kB" if count < 1_000_000 else f"{count / 1e6:.1f} MB"


def turns(count: int) -> str:
    """`1 turn`, `1,200 turns`."""
    return f"{count:,} {'turn' if count == 1 else 'turns'}"


def dollars(cost_usd: float | None) -> str:
    """`$1.50`, with four places below a dollar; an unknown price is said."""
    if cost_usd is None or not math.isfinite(cost_usd):
        return "cost unknown"
    return f"${cost_usd:.2f}" if cost_usd >= 1 or cost_usd == 0 else f"${cost_usd:.4f}"


def tokens(usage: Usage) -> str:
    """`12,345 tokens`, with the share of the input that came from a cache where any did."""
    share = f" (input {usage.cache_read_share or 0:.0%} cached)" if usage.cache_read_tokens else ""
    return f"{usage.total_tokens:,} tokens{share}"


def seconds(duration_s: float) -> float:
    """A duration that any report can hold: finite and not negative."""
    return max(duration_s, 0.0) if math.isfinite(duration_s) else 0.0


def counts(totals: Totals) -> str:
    """`3 passed (1 unverified), 1 failed, 2 not run`; zeros are left out."""
    unverified = f" ({totals.unverified} unverified)" if totals.unverified else ""
    parts = (
        (totals.passed, f"{totals.passed} passed{unverified}"),
        (totals.failed, f"{totals.failed} failed"),
        (totals.error, f"{totals.error} {'error' if totals.error == 1 else 'errors'}"),
        (totals.skipped, f"{totals.skipped} skipped"),
        (totals.missing, f"{totals.missing} not run"),
    )
    return ", ".join(text for count, text in parts if count) or "nothing to run"


def rates(totals: Totals) -> str:
    """`passed 3 of 4 scored (75.0%), of 6 planned (50.0%)`: both denominators."""
    passed = totals.passed
    return (
        f"passed {passed:,} of {totals.scored:,} scored{_percent(passed, totals.scored)}, "
        f"of {totals.planned:,} planned{_percent(passed, totals.planned)}"
    )


def _percent(count: int, of: int) -> str:
    return f" ({count / of:.1%})" if of else ""


def totals_line(batch: BatchResult) -> tuple[str, ...]:
    """`8 turns`, `960 tokens`, `$2.00`, `60.0 s`, and what stood between the tasks and the machine.

    Where some results are not scored, the pass rate stands first, over what is and over the plan.
    """
    names = _sandboxes(batch)
    used = _scripts(batch)
    return (
        *([rates(batch.totals)] if 1 < batch.totals.planned != batch.totals.scored else []),
        turns(batch.totals.num_turns),
        tokens(batch.totals.usage),
        dollars(batch.totals.total_cost_usd),
        f"{seconds(batch.duration_s):.1f} s",
        *([scripts(used)] if used.scripts else []),
        *([f"sandbox {', '.join(names)}"] if names else []),
    )


def _scripts(batch: BatchResult) -> CodemodeCounts:
    """The scripts of all tasks."""
    each = [result.codemode for result in batch.results]
    return CodemodeCounts(
        sum(one.scripts for one in each), sum(one.calls for one in each), sum(one.bytes_saved for one in each)
    )


def _sandboxes(batch: BatchResult) -> list[str]:
    """Each kind of sandbox that a task ran in; one that isolates nothing says so."""
    used = {result.sandbox for result in batch.results if result.sandbox is not None}
    return sorted({f"{box.name}{'' if box.layers else ' (nothing is isolated)'}" for box in used})
