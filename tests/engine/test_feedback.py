"""Tests of what the model reads when its work did not pass."""

from __future__ import annotations

from pathlib import Path

import pytest

from pi_batch.engine.feedback import MAX_OUTPUT_BYTES, feedback, log_tail
from pi_batch.protocols import Judgement
from pi_batch.results import VerificationResult


def result(name: str, *, passed: bool = False, log: str | None = None, command: str = "make x") -> Judgement:
    message = "" if passed else f"{name} went wrong"
    return Judgement(VerificationResult(name, command, 1, passed, 0.1, 1, log=log, message=message))


def test_only_what_failed_is_spoken_of(tmp_path: Path) -> None:
    text = feedback([result("a", passed=True), result("b")], tmp_path, (), is_clean=False)
    assert text == (
        "Your work was checked and did not pass.\n\nCheck 'b' failed: b went wrong\n$ make x\n\n"
        "Find the cause, fix it, and finish again."
    )


def test_a_check_without_a_command_has_no_command_line(tmp_path: Path) -> None:
    assert "$" not in feedback([result("output.files", command="")], tmp_path, (), is_clean=False)


def test_the_fence_around_an_output_is_longer_than_any_in_it(tmp_path: Path) -> None:
    (tmp_path / "x.log").write_text("a\n````\nb\n")
    text = feedback([result("a", log="tasks/t/x.log")], tmp_path, (), is_clean=False)
    assert "\n`````\na\n````\nb\n`````\n" in text


def test_an_empty_or_missing_log_leaves_no_fence(tmp_path: Path) -> None:
    (tmp_path / "empty.log").write_text("\n\n")
    for log in ("tasks/t/empty.log", "tasks/t/missing.log"):
        assert "```" not in feedback([result("a", log=log)], tmp_path, (), is_clean=False)


def test_paths_that_were_put_back_are_listed_and_cut_when_many(tmp_path: Path) -> None:
    text = feedback([result("a")], tmp_path, [f"t{number}.py" for number in range(30)], is_clean=False)
    assert "- t0.py\n" in text
    assert "- and 10 more" in text
    assert "tests/**" not in text


def test_what_a_clean_copy_lacks_is_said_where_a_command_failed_in_one(tmp_path: Path) -> None:
    assert "Files that git ignores are not in it" in feedback([result("a")], tmp_path, (), is_clean=True)
    for judgements, is_clean in (([result("a")], False), ([result("output.files", command="")], True)):
        assert "clean copy" not in feedback(judgements, tmp_path, (), is_clean=is_clean)


def test_an_answer_of_the_wrong_form_is_asked_for_again(tmp_path: Path) -> None:
    answer = result("output.schema", command="")
    alone = feedback([result("a", passed=True), answer], tmp_path, (), is_clean=True)
    assert alone.endswith("Reply again with JSON and nothing else, valid by the schema that you were given.")
    assert "Find the cause" not in alone
    both = feedback([result("a"), answer], tmp_path, (), is_clean=True)
    assert "Find the cause, fix it, and finish again, with JSON and nothing else" in both
    named_so = feedback([result("output.schema")], tmp_path, (), is_clean=True)
    assert "JSON" not in named_so, "a check may have any name"


@pytest.mark.parametrize("line", ["x" * 79, "é" * 40])
def test_a_tail_is_whole_lines_of_limited_size(tmp_path: Path, line: str) -> None:
    (tmp_path / "x.log").write_text(f"{line}\n" * 1000, encoding="utf-8")
    tail = log_tail(tmp_path / "x.log")
    assert len(tail.encode()) <= MAX_OUTPUT_BYTES
    assert set(tail.strip().split("\n")) == {line}


def test_the_end_of_one_long_line_is_kept(tmp_path: Path) -> None:
    (tmp_path / "x.log").write_text("é" * 20_000 + "end")
    tail = log_tail(tmp_path / "x.log")
    assert tail.endswith("éend")
    assert "\ufffd" not in tail
