"""Measure what pi-batch costs and print a table; see `figures`.

    python -m scripts.bench [start|request|turns|wires|sandbox|batch|wall|codemode]...

CPU time is the whole process tree's. Programs run in turns and the least of several runs counts, so that a
busy machine changes the ratios little; wall times need a quiet one. The exit code is 0 whatever comes out.
"""

from __future__ import annotations

import os
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from scripts.bench.figures import GROUPS, Figure
from scripts.bench.measuring import model_server
from scripts.bench.programs import Programs


def main(names: Sequence[str]) -> int:
    """Measure the named groups, or all, and print each figure as it comes."""
    unknown = [name for name in names if name not in GROUPS]
    if unknown:
        print(f"no such group: {unknown[0]}; there are: {', '.join(GROUPS)}", file=sys.stderr)  # noqa: T201
        return 2
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    with tempfile.TemporaryDirectory(prefix="pi-batch-bench-") as name, model_server() as base_url:
        programs = Programs(Path(name).resolve(), base_url)
        programs.prepare()
        for warm_up in (programs.run("mixed-3"), programs.replay(), programs.bare("mixed-3")):
            warm_up.run()  # writes byte code and fills the file cache
        print(_row("", "ours", "bare", "ratio", "bar", ""))  # noqa: T201
        for group in names or GROUPS:
            for figure in GROUPS[group](programs):
                print(line(figure), flush=True)  # noqa: T201
    return 0


def line(figure: Figure) -> str:
    """A figure as a line of the table."""
    bare = "" if figure.bare is None else f"{figure.bare:.1f}"
    ratio = "" if figure.bare is None else f"{figure.ours / figure.bare:.2f} ×"
    bar = "" if figure.bar is None else f"≤ {figure.bar:g}{' ×' if figure.is_ratio else ''}"
    verdict = {True: "yes", False: "NO", None: ""}[figure.is_reached]
    return _row(figure.name, f"{figure.ours:.1f} {figure.unit}", bare, ratio, bar, verdict)


def _row(*cells: str) -> str:
    widths = (-48, 16, 9, 10, 9, -5)
    padded = (
        f"{cell:{'<' if width < 0 else '>'}{abs(width)}}" for cell, width in zip(cells, widths, strict=True)
    )
    return " ".join(padded).rstrip()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
