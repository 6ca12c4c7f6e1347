"""`pi-batch compare` and `report --leaderboard`: files, words and exit codes."""

from __future__ import annotations

import csv
import json

import pytest

from pi_batch.fold import fold
from pi_batch.reports.json import Json
from pi_batch.statistics.comparison import Word
from pi_batch.wiring.comparing import FailOn, exit_code
from tests.cli.calling import MODEL, Desk
from tests.reports.html.pages import assert_safe
from tests.streams import Stream, planned


def put_run(desk: Desk, name: str, results: str, *models: str) -> None:
    """A run: one task a sign, `+` passed, `-` failed, `.` not run."""
    names = models or ("a/x",)
    keys = [
        (f"t{number}-{model[-1]}", f"t{number}", model) for model in names for number in range(len(results))
    ]
    stream = Stream(*(planned(key, task_id=task, model=model) for key, task, model in keys))
    for key, task, _ in keys:
        sign = results[int(task[1:])]
        if sign != ".":
            stream.start(key, has_checks=True).agent(key).check(key, passed=sign == "+").end(key)
    desk.write(f"{name}/run.json", Json().render(fold(stream.finish().records)))


@pytest.mark.parametrize(
    ("a", "b", "word", "codes"),
    [
        ("++--", "++--", "PASS", (0, 0)),
        ("+" * 9, "-" * 9, "REGRESSION", (1, 1)),
        ("+++", "++-", "INCONCLUSIVE", (5, 0)),
        ("+++", "++.", "MISSING", (3, 3)),
    ],
)
def test_the_exit_code_says_the_word_and_a_gate_stops_regressions(
    desk: Desk, a: str, b: str, word: str, codes: tuple[int, int]
) -> None:
    put_run(desk, "A", a)
    put_run(desk, "B", b)
    done = desk.call("compare", "A", "B")
    assert (done.code, done.out.split(":")[0], done.err) == (codes[0], word, "")
    assert desk.call("compare", "A", "B/run.json", "--fail-on", "regression").code == codes[1]


@pytest.mark.parametrize("word", ["PASS", "REGRESSION", "INCONCLUSIVE", "MISSING"])
@pytest.mark.parametrize("fail_on", [None, "regression", "inconclusive"])
def test_only_what_was_compared_whole_passes_a_gate(word: Word, fail_on: FailOn | None) -> None:
    code = exit_code(word, fail_on)
    assert (code == 0) == (word == "PASS" or (word == "INCONCLUSIVE" and fail_on == "regression"))
    assert code in {0, 1, 3, 5}


def test_a_margin_allows_what_is_within_it(desk: Desk) -> None:
    put_run(desk, "A", "+" * 40)
    put_run(desk, "B", "+" * 39 + "-")
    assert desk.call("compare", "A", "B").code == 5
    assert desk.call("compare", "A", "B", "--margin", "0.1").code == 0
    for margin in ("1", "-0.1", "nan", "inf", "x"):
        refused = desk.call("compare", "A", "B", "--margin", margin)
        assert (refused.code, len(refused.lines)) == (2, 1), margin


def test_json_and_the_page_go_to_files_and_json_to_stdout(desk: Desk) -> None:
    put_run(desk, "A", "+" * 9)
    put_run(desk, "B", "-" * 9)
    done = desk.call("compare", "A", "B", "--json", "c.json", "--html", "sub/c.html")
    assert done.out.startswith("REGRESSION")
    value = json.loads((desk.path / "c.json").read_bytes())
    assert [flip["task"] for flip in value["comparisons"][0]["flips"]] == [f"t{n}" for n in range(9)]
    assert value["comparisons"][0]["baseline"] == "A:a/x"
    assert_safe((desk.path / "sub/c.html").read_text(encoding="utf-8"))


def test_what_is_compared_is_never_written_over(desk: Desk) -> None:
    put_run(desk, "A", "+")
    before = (desk.path / "A/run.json").read_bytes()
    for option in ("--json", "--html"):
        done = desk.call("compare", "A", "A", option, "A/run.json")
        assert (done.code, "is what is compared" in done.err) == (2, True)
    assert (desk.path / "A/run.json").read_bytes() == before
    shown = desk.call("compare", "A", "A", "--json", "-")
    assert shown.code == 0


def test_models_of_one_run_are_compared_within(desk: Desk) -> None:
    put_run(desk, "A", "+-", "a/x", "b/y", "c/z")
    done = desk.call("compare", "A")
    assert done.code == 0
    assert done.out.endswith("PASS: of 2 comparisons, p values after Holm\n")
    assert desk.call("compare", "A:x", "A:b/y").out.split("\n")[1:3] == ["  A  a/x", "  B  b/y"]


def test_what_cannot_be_compared_is_one_line(desk: Desk) -> None:
    put_run(desk, "A", "+")
    for words in (["compare", "A"], ["compare", "A", "nowhere"], ["compare", "A", "A:other"], ["compare"]):
        done = desk.call(*words)
        assert (done.code, len(done.lines), done.out) == (2, 1, ""), words


@pytest.mark.slow
def test_a_run_is_compared_by_what_it_left(desk: Desk) -> None:
    desk.run("--quiet")
    desk.write("task.yaml", "prompt: Go.\nworkspace: {isolation: none}\nverify: ['false']\n")
    desk.call("run", "task.yaml", *MODEL, "--output", "after", "--quiet")
    done = desk.call("compare", "out", "after")
    assert done.code == 3
    assert "task: the task has changed (another digest)" in done.out


def test_a_leaderboard_is_written_in_each_form(desk: Desk) -> None:
    put_run(desk, "A", "++-", "a/x", "b/y")
    put_run(desk, "B", "+--", "a/x")
    files = [word for name in ("l.html", "l.csv", "l.json", "l.txt") for word in ("--leaderboard", name)]
    done = desk.call("report", "A", "B:x", *files, "--leaderboard", "-")
    assert done.code == 0
    assert done.out == (desk.path / "l.txt").read_text(encoding="utf-8")
    page = assert_safe((desk.path / "l.html").read_text(encoding="utf-8"))
    assert "3 models on 3 tasks" in page.text
    lines = (desk.path / "l.csv").read_text(encoding="utf-8").split("\n")
    names = [row["name"] for row in csv.DictReader(lines)]
    assert names == ["A:a/x", "b/y", "B:a/x"]
    assert [one["name"] for one in json.loads((desk.path / "l.json").read_bytes())["standings"]] == names


@pytest.mark.slow
def test_a_leaderboard_beside_another_report_ends_as_the_run_did(desk: Desk) -> None:
    desk.write("task.yaml", "prompt: Go.\nworkspace: {isolation: none}\nverify: ['false']\n")
    desk.run("--quiet")
    assert desk.call("report", "out", "--leaderboard", "l.csv").code == 0
    assert desk.call("report", "out", "--leaderboard", "l.csv", "--markdown", "m.md").code == 1


def test_a_leaderboard_in_no_known_form_and_reports_of_several_runs_are_refused(desk: Desk) -> None:
    put_run(desk, "A", "+")
    for words in (["A", "--leaderboard", "x.pdf"], ["A", "A"], ["A", "A", "--html", "x.html"]):
        done = desk.call("report", *words)
        assert (done.code, len(done.lines)) == (2, 1), words
    assert not (desk.path / "x.pdf").exists()
