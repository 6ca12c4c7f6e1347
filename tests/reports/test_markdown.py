"""A page that foreign text cannot rearrange, in as many bytes as the page takes."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from pi_batch.events import Record
from pi_batch.fold import fold
from pi_batch.reports.markdown import STEP_SUMMARY_BYTES, Markdown
from pi_batch.results import BatchResult
from tests.reports.batches import HOSTILE, hostile, many, one_of_everything, read_log
from tests.reports.golden import assert_golden
from tests.streams import Stream, streams


def size(text: str) -> int:
    return len(text.encode("utf-8"))


def outside_fences(text: str) -> Iterator[str]:
    """The lines that are no part of a fenced block, read as GitHub reads them."""
    fence = ""
    for line in text.split("\n"):
        opening = re.match(r" {0,3}(`{3,}|~{3,})", line)
        if not fence and opening:
            fence = opening[1]
        elif fence and re.fullmatch(rf" {{0,3}}{fence[0]}{{{len(fence)},}}\s*", line):
            fence = ""
        elif not fence:
            yield line
    assert not fence


def rows(text: str) -> list[str]:
    return [line for line in outside_fences(text) if line.startswith("| ")][2:]


def without_code_spans(line: str) -> str:
    return re.sub(r"(?<!`)(`+)(?!`).*?(?<!`)\1(?!`)", "", line)


def test_the_page_is_as_it_was_looked_at() -> None:
    assert_golden("report.md", Markdown(read_log).render(one_of_everything()))


def test_every_task_has_its_line() -> None:
    lines = rows(Markdown(read_log).render(one_of_everything()))
    assert len(lines) == 11
    assert lines[2].startswith(
        "| failed | `red` | `tests: exit code 1 (and 1 more of 3 checks)` | 1 | $0.2500"
    )
    assert lines[4].startswith("| unverified | `prose` |")
    assert lines[-1] == "| not run | `never` | `not run: the run was interrupted` | | | |"


def test_only_what_went_wrong_has_details() -> None:
    text = Markdown(read_log).render(one_of_everything())
    summaries = re.findall(r"<summary>(\w+): <code>(.*?)</code>", text)
    assert summaries == [("failed", "red"), ("failed", "limit"), ("failed", "cut"), ("error", "setup")]
    assert "second-line" in text
    assert "Fixed." in text


def test_an_empty_run_says_so() -> None:
    assert Markdown().render(fold(Stream().finish().records)).startswith("## pi-batch: nothing to run\n")


def test_the_runs_own_warnings_stand_at_the_top_a_few_of_them() -> None:
    batch = replace(one_of_everything(), warnings=tuple(f"warning {number} `#1`" for number in range(25)))
    lines = [line for line in outside_fences(Markdown().render(batch)) if line.startswith("- ")]
    assert lines[0] == "- `` warning 0 `#1` ``"
    assert (len(lines), lines[-1]) == (11, "- … 15 more warnings were left out")


def test_a_sandbox_that_isolates_nothing_is_said() -> None:
    assert "sandbox none (nothing is isolated)" in Markdown().render(one_of_everything())


def test_an_unfinished_run_says_so() -> None:
    assert "**running**" in Markdown().render(fold(Stream("a").records))


# --- foreign text (gha-09 and its kind) -----------------------------------------------------------


def test_nothing_foreign_becomes_a_heading_a_cell_a_mention_or_a_tag() -> None:
    text = Markdown(lambda _: HOSTILE).render(hostile())
    outside = list(outside_fences(text))
    assert [line for line in outside if line.lstrip().startswith("#")] == [outside[0]]
    for line in rows(text):
        without_code = re.sub(r"(`+)(?!`).*?(?<!`)\1(?!`)", "", line)
        assert len(re.findall(r"(?<!\\)\|", line)) == 7
        for live in ("@", "<", "#", "[", "!"):
            assert live not in without_code
    tags = re.findall(r"<[^>]*>", "\n".join(without_code_spans(line) for line in outside))
    assert set(tags) == {"<details>", "<summary>", "<code>", "</code>", "</summary>", "</details>"}


def test_a_closing_fence_inside_stays_inside() -> None:
    stream = Stream("a").start("a", has_checks=True)
    stream.agent("a", answer="see:\n```\ninner\n```\n# not a heading").check("a", passed=False, log="x").end(
        "a"
    )
    text = Markdown(lambda _: "```\n# H1-INJECTED\n````\n~~~\n").render(fold(stream.finish().records))
    headings = [line for line in outside_fences(text) if re.match(r" {0,3}#", line)]
    assert len(headings) == 1
    assert "# H1-INJECTED" in text
    assert "# not a heading" in text


def test_no_control_character_reaches_the_page() -> None:
    text = Markdown(lambda _: HOSTILE).render(hostile())
    assert re.search("[\x00-\x08\x0b-\x1f\x7f\ud800-\udfff\u202a-\u202e]", text) is None


# --- sizes (gha-05 and its kind) ------------------------------------------------------------------


def test_sixty_long_failures_stay_under_the_limit_and_say_what_was_left_out() -> None:
    text = Markdown(lambda _: "é" * 30_000 + "\nTHE-END").render(many(60))
    assert size(text) <= STEP_SUMMARY_BYTES
    assert "left out" in text
    assert len(rows(text)) == 60
    assert text.count("THE-END") == 60
    assert text.count("<details>") == text.count("</details>") == 60


@pytest.mark.parametrize("unit", ["`", "é", "<&>|", "\n", "# x\n", "\x1b[1m", "𝄞", "\\|"])
def test_megabytes_of_anything_are_bounded(unit: str) -> None:
    batch = many(3, unit * (2_000_000 // len(unit)))
    results = tuple(
        replace(result, reason=unit * 100_000, warnings=(unit * 100_000,)) for result in batch.results
    )
    text = Markdown(lambda _: unit * 60_000, max_bytes=65_000).render(replace(batch, results=results))
    assert size(text) <= 65_000
    assert len(rows(text)) == 3
    assert text.count("<details>") == text.count("</details>")


def test_thousands_of_tasks_keep_their_lines() -> None:
    text = Markdown(max_bytes=300_000).render(many(3_000, "x"))
    assert size(text) <= 300_000
    assert len(rows(text)) == 3_000
    assert re.search(r"Details of \d+ more tasks were left out", text)


def test_where_not_even_lines_fit_what_went_wrong_goes_first() -> None:
    stream = Stream(*(f"t{number}" for number in range(200)))
    for number in range(200):
        key = f"t{number}"
        stream.start(key, has_checks=True).agent(key).check(key, passed=number != 150).end(key)
    text = Markdown(max_bytes=3_000).render(fold(stream.finish().records))
    assert size(text) <= 3_000
    assert "`t150`" in text
    assert re.search(r"\d+ more tasks were left out", text)


@given(streams(), st.integers(2_000, 8_000))
def test_no_run_outgrows_its_page(records: list[Record], max_bytes: int) -> None:
    batch: BatchResult = fold(records)
    text = Markdown(lambda _: "`log`\n" * 500, max_bytes).render(batch)
    assert size(text) <= max_bytes
    assert len(rows(text)) == len(batch.planned)
    assert text.endswith("\n")
