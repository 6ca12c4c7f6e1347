"""`make bench-demo`, on one task of the suite."""

from __future__ import annotations

import csv
import json
import runpy
from pathlib import Path

import pytest

from tests.reports.html.pages import assert_safe

SCRIPT = Path(__file__).parents[1] / "scripts" / "bench_demo.py"


@pytest.mark.slow
def test_four_models_stand_side_by_side_three_trials_each(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    main = runpy.run_path(str(SCRIPT))["main"]
    assert main(["--filter", "ring-buffer"], tmp_path / "demo") == 0
    out = capfd.readouterr().out
    assert out.split("\n")[0].split()[:4] == ["#", "model", "pass", "rate"]
    lines = (tmp_path / "demo/board.csv").read_text(encoding="utf-8").split("\n")
    rows = {row["model"].rpartition("/")[2]: row for row in csv.DictReader(lines)}
    assert set(rows) == {"oracle", "nop", "careful", "hasty"}
    assert (rows["oracle"]["rate"], rows["nop"]["rate"]) == ("1", "0")
    assert float(rows["careful"]["rate"]) >= float(rows["hasty"]["rate"])
    assert {row["repeats_min"] for row in rows.values()} == {"3"}
    assert float(rows["hasty"]["cost_usd_mean"]) < float(rows["careful"]["cost_usd_mean"])
    assert_safe((tmp_path / "demo/board.html").read_text(encoding="utf-8"))
    board = json.loads((tmp_path / "demo/board.json").read_bytes())
    digests = {trial["digest"] for one in board["entrants"] for trial in one["trials"]}
    assert len(digests) == 1
