"""What the words of `compare` name, and how they are paired."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from pi_batch.errors import UsageError
from pi_batch.fold import fold
from pi_batch.reports.json import Json
from pi_batch.results import BatchResult
from pi_batch.statistics.trials import Entrant
from pi_batch.wiring.entrants import Source, pairs_of, read_run, read_source
from tests.streams import Stream, planned


def batch(*models: str, outcome: bool = True) -> BatchResult:
    """A run of one task by each model."""
    stream = Stream(
        *(planned(f"t-{number}", task_id="t", model=model) for number, model in enumerate(models))
    )
    for number in range(len(models)):
        key = f"t-{number}"
        stream.start(key, has_checks=True).agent(key).check(key, passed=outcome).end(key)
    return fold(stream.finish().records)


def write_run(path: Path, *models: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(Json().render(batch(*models)), encoding="utf-8")
    return path


def test_a_run_json_and_the_directory_that_holds_it_are_the_same(tmp_path: Path) -> None:
    write_run(tmp_path / "out/run.json", "a/x", "b/y")
    for word in (str(tmp_path / "out"), str(tmp_path / "out/run.json")):
        source = read_source(word)
        assert [one.model for one in source.entrants] == ["a/x", "b/y"]
        assert source.entrants[0].trials[0].state == "passed"


def test_a_model_is_named_behind_a_colon_whole_or_by_its_last_part(tmp_path: Path) -> None:
    path = write_run(tmp_path / "out:1/run.json", "ollama/qwen3:8b", "b/y")
    for model in ("ollama/qwen3:8b", "qwen3:8b"):
        for run in (path, path.parent):
            (one,) = read_source(f"{run}:{model}").entrants
            assert one.model == "ollama/qwen3:8b"


def test_a_model_that_is_not_there_is_said_with_those_that_are(tmp_path: Path) -> None:
    path = write_run(tmp_path / "run.json", "a/one", "b/one")
    with pytest.raises(
        UsageError, match=r"no model of that name, did you mean 'a/one'\?; the run has a/one, b/one"
    ):
        read_source(f"{path}:a/on")
    with pytest.raises(UsageError, match="several models of that name; the run has a/one, b/one"):
        read_source(f"{path}:one")


@pytest.mark.parametrize("word", ["nowhere", "nowhere:model", ":x", "", "x" * 3000, "a\x00b"])
def test_a_word_that_names_no_run_is_one_line(word: str) -> None:
    with pytest.raises(UsageError) as caught:
        read_source(word)
    assert "\n" not in str(caught.value)
    assert "no such run" in str(caught.value)


@pytest.mark.parametrize(
    ("content", "complaint"),
    [
        (b"", "no JSON"),
        (b"{", "no JSON"),
        (b"\xff\xfe\x00", "no JSON"),
        (b"[" * 100_000, "no JSON"),
        (b"[]", "no run.json of pi-batch"),
        (b"{}", "no run.json of pi-batch"),
        (b'{"planned": [], "results": [], "schema_version": 99}', "got schema_version 99, need 1"),
        (b'{"planned": [], "results": [], "schema_version": 1}', "lacks"),
        (b'{"planned": 3, "results": [], "schema_version": 1}', "lacks"),
    ],
)
def test_a_file_that_is_no_run_is_one_line(tmp_path: Path, content: bytes, complaint: str) -> None:
    path = tmp_path / "run.json"
    path.write_bytes(content)
    with pytest.raises(UsageError) as caught:
        read_run(path)
    assert complaint in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_directory_without_a_run_is_one_line(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"no run\.json and no events\.jsonl there"):
        read_run(tmp_path)


def test_a_run_without_results_is_one_line(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="no results and planned none"):
        read_source(str(write_run(tmp_path / "run.json")))


def test_a_result_of_another_type_names_its_place(tmp_path: Path) -> None:
    path = write_run(tmp_path / "run.json", "a/x")
    value = json.loads(path.read_bytes())
    value["results"][0]["num_turns"] = "many"
    path.write_text(json.dumps(value), encoding="utf-8")
    with pytest.raises(UsageError, match=r"results\[0\]\.num_turns: got 'many', need int"):
        read_run(path)


def test_a_cost_that_is_no_number_is_an_unknown_cost(tmp_path: Path) -> None:
    path = write_run(tmp_path / "run.json", "a/x")
    path.write_text(
        path.read_text().replace('"total_cost_usd": 0.25', '"total_cost_usd": NaN'), encoding="utf-8"
    )
    assert read_source(str(path)).entrants[0].trials[0].is_scored


def source(word: str, *models: str) -> Source:
    return Source(word, tuple(Entrant(model, model, word, ()) for model in models))


def named(*sources: Source) -> list[tuple[str, str]]:
    return [(f"{a.run}:{a.model}", f"{b.run}:{b.model}") for a, b in pairs_of(sources)]


def test_two_runs_of_one_model_each_are_a_pair() -> None:
    assert named(source("A", "x"), source("B", "y")) == [("A:x", "B:y")]


def test_runs_of_the_same_models_are_paired_model_by_model() -> None:
    assert named(source("A", "x", "y"), source("B", "y", "x")) == [("A:y", "B:y"), ("A:x", "B:x")]


def test_a_run_alone_is_compared_within_and_its_first_model_is_the_baseline() -> None:
    assert named(source("A", "x", "y", "z")) == [("A:x", "A:y"), ("A:x", "A:z")]


def test_the_first_of_several_runs_is_the_baseline_of_all() -> None:
    assert named(source("A", "x"), source("B", "x"), source("C", "y")) == [("A:x", "B:x"), ("A:x", "C:y")]


def test_what_is_not_clear_says_how_to_say_it() -> None:
    with pytest.raises(UsageError, match="one model alone: name a second run"):
        pairs_of([source("A", "x")])
    with pytest.raises(UsageError, match=r"A and B have not the same models: say which, as B:MODEL, of x, y"):
        pairs_of([source("A", "x"), source("B", "x", "y")])
    with pytest.raises(UsageError, match="as A:MODEL, of x, y"):
        pairs_of([source("A", "x", "y"), source("B", "x", "z")])
