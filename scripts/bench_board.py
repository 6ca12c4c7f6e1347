"""Measure how long a leaderboard of 1,000 results takes to make, and to open in headless Chromium.

python -m scripts.bench_board
"""

# ruff: noqa: INP001, T201 - a script, no package; it prints what it measures

from __future__ import annotations

import tempfile
import time
from pathlib import Path

from pi_batch.reports.html.leaderboard_page import leaderboard_page
from pi_batch.statistics.standing import leaderboard
from tests.reports.html.browser import Browser
from tests.statistics.making import entrant

ROUNDS = 5
LOADED = "performance.getEntriesByType('navigation')[0].loadEventEnd"
SHAPES = ((1, 1_000, 1), (5, 67, 3), (10, 100, 1), (10, 1_000, 1))
"""Models, tasks, repeats."""


def main() -> None:
    """Print for each shape the size and the median times."""
    for models, tasks, repeats in SHAPES:
        signs = "++-+--+"
        entrants = [
            entrant(
                f"provider/model-{model}",
                {
                    f"task-{task:04}": (signs[(task * (model + 1)) % 7 :] + signs)[:repeats]
                    for task in range(tasks)
                },
                cost=0.01 * 2**model,
            )
            for model in range(models)
        ]
        started_s = time.perf_counter()
        document = leaderboard_page(leaderboard(entrants))
        made_s = time.perf_counter() - started_s
        times_ms = opened(document)
        size = f"{models} models x {tasks} tasks x {repeats}: {len(document) / 1e3:.0f} kB"
        median = times_ms[len(times_ms) // 2]
        times = f"opened in {median:.0f} ms ({times_ms[0]:.0f} to {times_ms[-1]:.0f})"
        print(f"{size}, made in {made_s:.2f} s, {times}")


def opened(document: str) -> list[float]:
    """Milliseconds until the page was loaded, wide and narrow, sorted."""
    with tempfile.TemporaryDirectory(prefix="pi-batch-board-") as name:
        path = Path(name, "board.html")
        path.write_text(document, encoding="utf-8")
        browser = Browser(Path(name, "profile"))
        try:
            times_ms = []
            for width in (1200, 400) * ROUNDS:
                browser.open(path, width=width)
                times_ms.append(float(browser.value(LOADED)))
        finally:
            browser.close()
    return sorted(times_ms)


if __name__ == "__main__":
    main()
