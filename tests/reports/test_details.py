"""Why a task came to its outcome, within a size."""

from __future__ import annotations

from msgspec.structs import replace

from pi_batch.encoders import utf8_bytes
from pi_batch.reports.details import LIST_MAX_ITEMS, details
from pi_batch.reports.rows import Row, rows
from pi_batch.results import ChangedFile, CodemodeCounts, VerificationResult
from tests.reports.batches import one_of_everything, read_log

RED = VerificationResult("tests", "pytest -q", 1, False, 1.0, 1, None, "x.log", "exit code 1")


def row(name: str, **fields: object) -> Row:
    [found] = [row for row in rows(one_of_everything()) if row.name == name]
    if found.result is None:
        return found
    return replace(found, result=replace(found.result, **fields))


def test_each_failing_check_shows_the_end_of_its_log() -> None:
    text = details(row("red"), read_log, 10_000)
    assert "second-line" in text
    assert "E501" in text


def test_only_the_last_attempts_logs_are_shown() -> None:
    asked: list[str] = []

    def reader(name: str) -> str:
        asked.append(name)
        return "log"

    old, new = replace(RED, log="old.log"), replace(RED, attempt=2, log="new.log")
    text = details(row("red", verification=(old, new)), reader, 10_000)
    assert asked == ["new.log"]
    assert "attempt 1: FAILED  tests: exit code 1" in text


def test_many_failing_checks_share_the_space_and_each_keeps_its_end() -> None:
    checks = tuple(replace(RED, name=f"check-{number}", log=f"{number}.log") for number in range(5))

    def reader(name: str) -> str:
        return "noise\n" * 5_000 + f"end of {name}"

    text = details(row("red", verification=checks), reader, 8_000)
    assert utf8_bytes(text) <= 8_000
    for number in range(5):
        assert f"end of {number}.log" in text


def test_long_lists_are_cut_with_a_count() -> None:
    files = tuple(ChangedFile(f"f{number}.py", "added", 1, 0) for number in range(100))
    text = details(row("red", changed_files=files), read_log, 100_000)
    assert f"f{LIST_MAX_ITEMS - 1}.py" in text
    assert f"f{LIST_MAX_ITEMS}.py" not in text
    assert "… and 70 more" in text


def test_a_check_without_a_log_shows_its_line() -> None:
    text = details(row("red", verification=(replace(RED, log=None),)), read_log, 1_000)
    assert "attempt 1: FAILED  tests: exit code 1  $ pytest -q" in text
    assert "---" not in text


def test_a_task_without_a_result_has_its_reason_alone() -> None:
    assert details(row("never"), read_log, 1_000) == "not run: the run was interrupted"


def test_a_stop_that_was_no_completion_and_an_error_are_named() -> None:
    text = details(row("cut"), read_log, 1_000)
    assert "stop: model_error" in text
    assert "error: length" in text


def test_however_little_room_there_is_it_is_kept() -> None:
    for max_bytes in range(60, 600, 7):
        assert utf8_bytes(details(row("red"), read_log, max_bytes)) <= max_bytes


def test_what_held_scripts_is_said() -> None:
    held = CodemodeCounts(1, 2, 3, ("process", "seccomp"))
    assert "scripts held by: process, seccomp" in details(row("red", codemode=held), read_log, 10_000)
    assert "held by" not in details(row("red"), read_log, 10_000)


def test_the_digest_of_a_benchmark_task_is_said() -> None:
    assert f"digest: {'d' * 64}" in details(row("red", digest="d" * 64), read_log, 10_000)
    assert "digest" not in details(row("red"), read_log, 10_000)
