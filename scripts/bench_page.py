"""Measure how long pages of a run with 1,000 results take to make, and to open in headless Chromium.

    python -m scripts.bench_page

Each result has a failing check with a long log, an answer and, for as many as the page holds, a story.
"""

# ruff: noqa: INP001, T201 - a script, no package; it prints what it measures

from __future__ import annotations

import tempfile
import time
from pathlib import Path

from pi_batch.reports.html.run_page import Html
from pi_batch.reports.html.story import story
from pi_batch.session import parse_session
from pi_batch.wiring.reporting import STORIES_MAX_CHARS
from tests.reports.batches import many
from tests.reports.html.browser import Browser
from tests.reports.test_export import WHOLE

ROUNDS = 5
LOADED = "performance.getEntriesByType('navigation')[0].loadEventEnd"


def main() -> None:
    """Print the size and the median times."""
    batch = many(1_000, "An answer of some length. " * 40)
    session = parse_session(WHOLE)
    one = len(story(session, "", "s1-"))
    keys = [result.key for result in batch.results[: STORIES_MAX_CHARS // one]]
    stories = {key: story(session, "", f"{key}-") for key in keys}
    started_s = time.perf_counter()
    document = Html(lambda _: "a line of a log of a check that did not pass\n" * 2_000, {}, stories).render(
        batch
    )
    made_s = time.perf_counter() - started_s
    with tempfile.TemporaryDirectory(prefix="pi-batch-page-") as name:
        path = Path(name, "run.html")
        path.write_text(document, encoding="utf-8")
        browser = Browser(Path(name, "profile"))
        try:
            times_ms = []
            for width in (1200, 400) * ROUNDS:
                browser.open(path, width=width)
                times_ms.append(browser.value(LOADED))
        finally:
            browser.close()
    times_ms.sort()
    print(f"{len(document) / 1e6:.1f} MB, {len(stories)} stories, made in {made_s:.1f} s")
    median = times_ms[len(times_ms) // 2]
    print(f"opened in {median:.0f} ms (of {len(times_ms)}: {times_ms[0]:.0f} to {times_ms[-1]:.0f})")


if __name__ == "__main__":
    main()
