"""What doctor says of scripts."""

from __future__ import annotations

import pytest

from pi_batch.wiring.script_findings import script_findings
from pi_batch.wiring.scripting import Scripting
from tests.codemode.worker.rigs import needs_isolation


def test_linux_without_a_filter_runs_no_script() -> None:
    (finding,) = script_findings(lambda: Scripting(is_isolated=lambda: False, platform="linux"))
    assert (finding.state, finding.name) == ("note", "codemode")
    assert "no script is run" in finding.text


@needs_isolation
def test_the_layers_that_hold_scripts_are_named() -> None:
    (finding,) = script_findings()
    assert finding.state == "ok"
    assert "seccomp" in finding.text


@pytest.mark.slow
def test_elsewhere_it_says_what_scripts_are_not_held_by() -> None:
    (finding,) = script_findings(lambda: Scripting(is_isolated=lambda: False, platform="darwin"))
    assert finding.state == "note"
    assert "no system-call filter" in finding.text
