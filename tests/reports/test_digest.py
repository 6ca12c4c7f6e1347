"""The digest: what a maintainer reads in the morning."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import pytest
from msgspec.structs import replace

from pi_batch.fold import fold
from pi_batch.published import Publication
from pi_batch.reports.digest import DigestJson, DigestMarkdown
from pi_batch.results import BatchResult, RunResult
from tests.publishing.runs import result_of
from tests.streams import Stream, planned

A, B = "https://github.com/me/a", "/srv/b.git"


def result(key: str, outcome: str = "passed", **fields: Any) -> RunResult:
    """One of a night's results."""
    patch = f"tasks/{key}/changes.patch" if outcome == "passed" else None
    values = {"outcome": outcome, "repo": A, "patch": patch, "reason": f"why {key}", "total_cost_usd": 0.25}
    return replace(result_of(key), key=key, task_id=key, **{**values, **fields})


def night(*results: RunResult) -> BatchResult:
    """A run with these results."""
    keys = [one.key for one in results]
    batch = fold(Stream(*(planned(key, repo=A) for key in keys)).finish().records)
    return replace(batch, results=results)


def markdown(batch: BatchResult, published: Mapping[str, Publication] | None = None) -> str:
    return DigestMarkdown(lambda: published or {}).render(batch)


def lines(batch: BatchResult, *published: Publication) -> list[str]:
    """The list items of a page."""
    text = markdown(batch, {one.key: one for one in published})
    return [line for line in text.split("\n") if line.startswith("- ")]


FULL = night(
    result("fixed"),
    result("broken", "failed", repo=B),
    result("down", "error", total_cost_usd=None),
    result("idle", "skipped", skipped_by="only_if", num_turns=0),
    result("thrice", "skipped", skipped_by="left_alone", num_turns=0),
    result("poor", "skipped", skipped_by="budget", num_turns=0),
    result("fine", patch=None),
)


def test_what_asks_for_somebody_comes_first_and_every_task_has_its_line() -> None:
    headings = [line for line in markdown(FULL).split("\n") if line.startswith("## ")]
    assert headings == [
        "## Changed (1)",
        "## Failed (1)",
        "## Errors (1)",
        "## Left alone, as it failed too often (1)",
        "## Not run (1)",
        "## Passed without a change (1)",
        "## Skipped (1)",
        "## Repositories",
    ]
    assert len(lines(FULL)) == 7
    assert "- **`broken`** in `/srv/b.git`: `why broken` · $0.2500" in lines(FULL)
    assert "- **`thrice`** in `https://github.com/me/a`: `why thrice`" in lines(FULL)


def test_repositories_are_summed_up_where_there_are_several() -> None:
    text = markdown(FULL)
    assert "| `https://github.com/me/a` | 6 | 1 | 1 | cost unknown |" in text
    assert "| `/srv/b.git` | 1 | 0 | 1 | $0.2500 |" in text
    assert "## Repositories" not in markdown(night(result("a"), result("b")))


@pytest.mark.parametrize(
    ("publication", "end"),
    [
        (None, "· patch `tasks/t/changes.patch`, not applied"),
        (
            Publication("t", "applied", "x", url="https://github.com/me/a/pull/7"),
            "· <https://github.com/me/a/pull/7>",
        ),
        (Publication("t", "unchanged", "x", url="https://h/1"), "· <https://h/1>, as it was"),
        (Publication("t", "applied", "branch", branch="pi-batch/t"), "· `pi-batch/t`"),
        (Publication("t", "refused", "conflict: a.txt"), "· **not published**: `conflict: a.txt`"),
        (Publication("t", "applied", "x", url="https://h/x>\n# y"), "· `https://h/x> # y`"),
        (Publication("t", "applied", "x", url="javascript:alert(1)"), "· `javascript:alert(1)`"),
    ],
)
def test_where_a_change_is_to_be_seen(publication: Publication | None, end: str) -> None:
    (line,) = lines(night(result("t")), *([publication] if publication else []))
    assert line.endswith(end)
    assert "1 file, +1 −1" in line


def test_foreign_text_does_nothing_on_the_page() -> None:
    evil = "`</details>`\n# heading\n@everyone [x](javascript:1) <img src=x> | ``` "
    text = markdown(night(result("t", "failed", reason=evil, repo=f"https://h/{evil}")))
    assert [line for line in text.split("\n") if line.startswith("#")][1:] == ["## Failed (1)"]
    (line,) = (line for line in text.split("\n") if line.startswith("- "))
    assert "````" in line


def test_a_page_is_bounded_and_counts_what_it_left_out() -> None:
    many = night(*(result(f"t{number}", "failed", reason="x" * 500) for number in range(700)))
    text = markdown(many)
    assert len(text.encode()) <= 60_000
    assert "## Failed (700)" in text
    assert "- and " in text
    small = DigestMarkdown(max_bytes=300).render(many)
    assert len(small.encode()) <= 300


def test_json_says_the_same_for_programs() -> None:
    published = {"fixed": Publication("fixed", "applied", "x", "pi-batch/fixed", "https://h/1", "c" * 40)}
    found = json.loads(DigestJson(lambda: published).render(FULL))
    assert found["digest_version"] == 1
    assert found["counts"] == {
        **dict.fromkeys(("changed", "failed", "error", "left_alone", "not_run", "unchanged", "skipped"), 1)
    }
    tasks = {one["key"]: one for one in found["tasks"]}
    assert tasks["fixed"]["published"]["url"] == "https://h/1"
    assert (tasks["thrice"]["state"], tasks["thrice"]["reason"]) == ("left_alone", "why thrice")
    assert tasks["idle"]["skipped_by"] == "only_if"
    assert [one["repo"] for one in found["repositories"]] == [A, B]


def test_an_unverified_change_and_an_unfinished_run_are_said() -> None:
    text = markdown(replace(night(result("t", verified=False)), status="interrupted"))
    assert "· unverified ·" in text
    assert "**interrupted**" in text
