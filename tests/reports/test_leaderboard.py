"""A leaderboard as text, CSV and JSON: the same each time, and readable by others."""

from __future__ import annotations

import csv
import io
import json
from math import nan

from pi_batch.reports.leaderboard import COLUMNS, leaderboard_csv, leaderboard_json, leaderboard_text
from pi_batch.statistics.standing import leaderboard
from pi_batch.statistics.trials import Entrant
from tests.reports.batches import HOSTILE
from tests.statistics.making import entrant, single

GOOD = entrant("good", {"a": "+++", "b": "++-", "c": "+"}, cost=0.5)
BAD = entrant("bad", {"a": "-e", "b": "-+m", "c": "s"}, cost=None)


def rows_of(*entrants: Entrant) -> list[dict[str, str]]:
    text = leaderboard_csv(leaderboard(entrants))
    assert "\r" not in text
    return list(csv.DictReader(io.StringIO(text)))


def test_csv_has_a_line_a_model_and_empty_cells_for_what_is_not_known() -> None:
    good, bad = rows_of(BAD, GOOD)
    assert list(good)[: len(COLUMNS)] == list(COLUMNS)
    assert list(good)[len(COLUMNS) :] == [
        *(f"pass_at_{k}" for k in (1, 2, 3)),
        *(f"pass_hat_{k}" for k in (1, 2, 3)),
    ]
    assert (good["rank"], good["name"], good["passed"], good["is_on_frontier"]) == ("1", "good", "6", "true")
    assert (good["cost_usd_mean"], good["cost_usd_per_solved"]) == ("0.5", "0.5833333333")
    assert (bad["error"], bad["missing"], bad["skipped"], bad["rate"]) == ("1", "1", "1", "0.25")
    assert (bad["cost_usd_mean"], bad["cost_usd_unknown"], bad["pass_at_3"]) == ("", "3", "")


def test_a_spreadsheet_takes_no_name_for_a_formula() -> None:
    (row,) = rows_of(single("=HYPERLINK(1)", "+"))
    assert row["name"] == "'=HYPERLINK(1)"
    rows_of(single(HOSTILE, "+"))


def test_json_has_the_trials_that_its_numbers_are_made_of() -> None:
    board = leaderboard([GOOD, BAD])
    value = json.loads(leaderboard_json(board, [GOOD, BAD]))
    assert value["schema_version"] == 1
    assert [one["name"] for one in value["standings"]] == ["good", "bad"]
    trial = value["entrants"][0]["trials"][0]
    assert (trial["task"], trial["state"], trial["cost_usd"]) == ({"id": "a", "inputs": "{}"}, "passed", 0.5)
    rates = {one["name"]: one["rate"] for one in value["standings"]}
    assert rates["good"] == (1 + 2 / 3 + 1) / 3


def test_json_is_json_for_costs_that_are_no_numbers() -> None:
    one = single("m", "+-", cost=nan)
    assert "NaN" not in leaderboard_json(leaderboard([one]), [one])


def test_text_is_a_table_with_what_is_to_be_known_beside_it() -> None:
    lines = leaderboard_text(leaderboard([GOOD, BAD])).split("\n")
    assert lines[0].split()[:4] == ["#", "model", "pass", "rate"]
    assert lines[1].startswith("1  good   88.9%")
    assert lines[1].endswith("frontier")
    assert lines[2].startswith("2  bad    25.0%")
    assert "3 tasks; sees no difference: fewer than 6 tasks (80 % power); seed 0" in lines
    assert "warning: 2 of 13 trials are not scored (error or missing): bad 2" in lines


def test_files_are_the_same_each_time() -> None:
    for render in (leaderboard_csv, leaderboard_text):
        assert render(leaderboard([GOOD, BAD])) == render(leaderboard([BAD, GOOD]))


def test_no_model_is_a_head_and_no_lines() -> None:
    assert rows_of() == []
    assert "0 tasks" in leaderboard_text(leaderboard([]))
    assert "n/a" in leaderboard_text(leaderboard([single("m", "")]))
