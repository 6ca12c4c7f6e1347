"""A comparison as text and as JSON."""

from __future__ import annotations

import json
from math import nan

from pi_batch.reports.comparison import MAX_LINES, comparison_json, comparison_text
from pi_batch.statistics.comparison import Comparisons, compare
from tests.reports.batches import HOSTILE
from tests.statistics.making import entrant, single


def found_of(a: str, b: str, margin: float = 0.0) -> Comparisons:
    return compare([(single("base", a), single("other", b))], margin=margin)


def test_the_word_comes_first_and_then_both_sides_side_by_side() -> None:
    text = comparison_text(found_of("+" * 20 + "-" * 10, "+" * 10 + "-" * 20))
    lines = text.split("\n")
    assert lines[0].startswith("REGRESSION: worse by 33.3 points [")
    assert lines[1:3] == ["  A  base", "  B  other"]
    assert "  pass rate (30 tasks)            66.7%                     33.3%" in lines
    assert "  p (mcnemar exact)                                         0.00195" in lines
    assert "  flipped: 10 worse, 0 better" in lines
    assert "    worse      1/1 -> 0/1   t010" in lines
    assert text.endswith("\n")


def test_long_lists_are_cut_and_say_where_the_rest_is() -> None:
    text = comparison_text(found_of("+" * 30 + "m" * 30, "-" * 30 + "+" * 30))
    assert text.count("    worse ") == MAX_LINES
    assert text.count("no scored trial in base") == MAX_LINES
    assert text.count("… and 10 more: --json and --html list all") == 2


def test_several_comparisons_end_with_the_word_for_all() -> None:
    a = single("a", "+" * 8)
    text = comparison_text(compare([(a, single("b", "+" * 8)), (a, single("c", "-" * 8))]))
    assert text.startswith("PASS: ")
    assert "\n\nREGRESSION: worse by 100.0 points" in text
    assert "0.00781, after Holm 0.0156" in text
    assert text.endswith("REGRESSION: of 2 comparisons, p values after Holm\n")


def test_nothing_in_common_has_no_numbers() -> None:
    text = comparison_text(compare([(entrant("a", {"x": "+"}), entrant("b", {"y": "+"}))]))
    assert text.startswith("MISSING: no task has a scored trial of the same content on both sides\n")
    assert "  difference, points                                        n/a" in text
    assert "  p (no test)                                               n/a" in text
    assert "x: not in b" in text


def test_json_has_every_number_and_every_flip() -> None:
    found = found_of("+" * 30, "-" * 30, margin=0.1)
    value = json.loads(comparison_json(found))
    assert (value["schema_version"], value["word"], value["margin"], value["seed"]) == (
        1,
        "REGRESSION",
        0.1,
        0,
    )
    (one,) = value["comparisons"]
    assert len(one["flips"]) == 30
    assert one["flips"][0] == {
        "task": "t000",
        "a": {"passes": 1, "trials": 1},
        "b": {"passes": 0, "trials": 1},
        "is_better": False,
    }
    assert one["interval"] == {"low": -1.0, "high": -1.0, "method": "bootstrap"}
    assert one["amounts_a"]["cost_usd"]["mean"] == 1.0


def test_a_cost_that_is_no_number_is_null_in_json() -> None:
    found = compare([(single("a", "+", cost=nan), single("b", "+"))])
    (one,) = json.loads(comparison_json(found))["comparisons"]
    assert one["amounts_a"]["cost_usd"]["total"] is None
    assert "n/a (1 unknown)" in comparison_text(found)


def test_hostile_names_begin_no_line_and_obey_nothing() -> None:
    a, b = entrant(HOSTILE, {HOSTILE: "+", "gone" + HOSTILE: "+"}), entrant("b" + HOSTILE, {HOSTILE: "-"})
    text = comparison_text(compare([(a, b)]))
    assert "\x1b" not in text
    assert "\u202e" not in text
    assert not any(line.startswith(("::", "#", "|")) for line in text.split("\n"))
    json.loads(comparison_json(compare([(a, b)])))
