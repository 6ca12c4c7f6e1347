"""Our values become JSON and come back."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from pi_batch.results import BatchResult, RunError, RunResult, VerificationResult
from pi_batch.struct_json import from_json, to_json
from tests.strategies import instances


@pytest.mark.parametrize("kind", [RunError, VerificationResult, RunResult, BatchResult])
@settings(max_examples=15, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])
@given(data=st.data())
def test_results_come_back_as_they_were(kind: type[Any], data: st.DataObject) -> None:
    value = data.draw(instances(kind))
    assert from_json(kind, to_json(value), "result") == value


def test_a_number_without_a_fraction_is_a_float_and_a_fraction_is_no_count() -> None:
    check = {"name": "t", "command": "c", "exit_code": 0, "passed": True, "duration_s": 1, "attempt": 1}
    assert from_json(VerificationResult, check, "check").duration_s == 1
    with pytest.raises(ValueError, match=r"check\.attempt: got 1\.5, need int"):
        from_json(VerificationResult, {**check, "attempt": 1.5}, "check")


def test_an_error_names_the_path_to_the_field() -> None:
    check = {"name": "t", "command": "c", "exit_code": 0, "passed": True, "duration_s": 1, "attempt": 1}
    with pytest.raises(ValueError, match=r"check\.tests: lacks skipped"):
        from_json(VerificationResult, {**check, "tests": {"executed": 1}}, "check")
    with pytest.raises(ValueError, match=r"check: got \[\], need an object"):
        from_json(VerificationResult, [], "check")
