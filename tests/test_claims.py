"""What a worker is told of a trial."""

from __future__ import annotations

import json

import pytest
from msgspec.structs import replace

from pi_batch.claims import Claim
from pi_batch.errors import UsageError
from pi_batch.results import BudgetAmounts

CLAIM = Claim(BudgetAmounts(turns=3, cost_usd=0.5), 7, rerun=("failed", "error"), is_forced=True)


def test_a_claim_comes_back_from_its_line() -> None:
    assert "\n" not in CLAIM.to_text()
    assert Claim.parse(CLAIM.to_text()) == CLAIM


def test_a_claim_holds_limits_and_flags_and_nothing_else() -> None:
    assert set(json.loads(CLAIM.to_text())) == {
        "limit",
        "records",
        "rerun",
        "is_reverify",
        "is_forced",
        "pi_batch_version",
    }


@pytest.mark.parametrize("text", ["", "{}", "[1]", '{"limit": {}, "records": "x"}', "no JSON"])
def test_what_is_no_claim_is_one_line(text: str) -> None:
    with pytest.raises(UsageError, match="a trial's claim cannot be read"):
        Claim.parse(text)


def test_a_worker_with_another_version_is_told_which_one_is_wanted() -> None:
    text = replace(CLAIM, pi_batch_version="99.0").to_text()
    with pytest.raises(UsageError, match=r"this worker has pi-batch .*, and the run 99\.0: install the same"):
        Claim.parse(text)
