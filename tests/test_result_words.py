"""Results in words, the same everywhere."""

from __future__ import annotations

import math

import pytest
from msgspec.structs import replace

from pi_batch.fold import fold
from pi_batch.messages import Usage
from pi_batch.result_words import (
    STYLES,
    counts,
    dollars,
    outcome_word,
    rates,
    scripts,
    seconds,
    spent,
    tokens,
    totals_line,
    waited,
)
from pi_batch.results import CodemodeCounts, SandboxReport, Totals
from tests.reports.batches import one_of_everything
from tests.streams import Stream


@pytest.mark.parametrize(
    ("cost", "words"),
    [
        (None, "cost unknown"),
        (math.nan, "cost unknown"),
        (0.0, "$0.00"),
        (0.01234, "$0.0123"),
        (12.5, "$12.50"),
    ],
)
def test_money_is_shown_as_exactly_as_it_matters(cost: float | None, words: str) -> None:
    assert dollars(cost) == words


@pytest.mark.parametrize(("duration", "shown"), [(1.5, 1.5), (-1.0, 0.0), (math.inf, 0.0), (math.nan, 0.0)])
def test_a_duration_is_finite_and_not_negative(duration: float, shown: float) -> None:
    assert seconds(duration) == shown


def test_counts_leave_zeros_out() -> None:
    assert counts(Totals()) == "nothing to run"
    assert counts(Totals(passed=2, unverified=1, error=1, missing=3)) == (
        "2 passed (1 unverified), 1 error, 3 not run"
    )
    assert counts(Totals(failed=1, error=2, skipped=4)) == "1 failed, 2 errors, 4 skipped"


def test_what_was_waited_for_limits_is_shown_where_it_is_worth_a_word() -> None:
    result = one_of_everything().results[0]
    assert waited(replace(result, duration_s=10.0, working_s=8.75)) == "1.2 s"
    assert waited(replace(result, duration_s=10.0, working_s=9.95)) == ""
    assert waited(replace(result, duration_s=1.0, working_s=2.0)) == ""


def test_both_denominators_are_shown() -> None:
    assert (
        rates(Totals(planned=6, scored=4, passed=3)) == "passed 3 of 4 scored (75.0%), of 6 planned (50.0%)"
    )
    assert rates(Totals(planned=2)) == "passed 0 of 0 scored, of 2 planned (0.0%)"


def test_every_outcome_word_has_its_style() -> None:
    words = {outcome_word(result) for result in one_of_everything().results}
    assert words == {"passed", "unverified", "failed", "error", "skipped"}
    assert words | {"not run"} == set(STYLES)


def test_what_a_task_took_is_one_phrase() -> None:
    result = one_of_everything().results[0]
    assert spent(result) == "1 turn, 120 tokens, $0.2500, 10.0 s"
    assert spent(replace(result, num_turns=2, total_cost_usd=None)).startswith(
        "2 turns, 120 tokens, cost unknown"
    )


def test_a_sandbox_that_isolates_nothing_says_so_in_the_totals() -> None:
    batch = one_of_everything()
    assert totals_line(batch)[-1] == "sandbox none (nothing is isolated)"
    boxed = replace(batch.results[0], sandbox=SandboxReport("bwrap", ("namespaces",)))
    assert totals_line(replace(batch, results=(boxed,)))[-1] == "sandbox bwrap"
    assert totals_line(fold(Stream().finish().records)) == ("0 turns", "0 tokens", "$0.00", "60.0 s")


@pytest.mark.parametrize(
    ("codemode", "words"),
    [
        (CodemodeCounts(1, 1, 12), "1 script with 1 call (12 B kept out of the context)"),
        (CodemodeCounts(2, 1301, 65_900), "2 scripts with 1,301 calls (65.9 kB kept out of the context)"),
        (CodemodeCounts(2, 0, 1_200_000), "2 scripts with 0 calls (1.2 MB kept out of the context)"),
    ],
)
def test_scripts_are_said_with_what_they_saved(codemode: CodemodeCounts, words: str) -> None:
    assert scripts(codemode) == words


def test_scripts_are_said_only_where_there_were_some() -> None:
    batch = one_of_everything()
    assert not any("script" in part for part in totals_line(batch))
    used = replace(batch.results[0], codemode=CodemodeCounts(2, 3, 4))
    batch = replace(batch, results=(used, used))
    assert "4 scripts with 6 calls (8 B kept out of the context)" in totals_line(batch)
    assert spent(used).endswith(", 2 scripts with 3 calls (4 B kept out of the context)")


def test_tokens_say_which_share_of_the_input_came_from_a_cache() -> None:
    assert tokens(Usage(25, 1_000, 75, 0)) == "1,100 tokens (input 75% cached)"
    assert tokens(Usage(25, 5)) == "30 tokens"
    assert tokens(Usage()) == "0 tokens"
