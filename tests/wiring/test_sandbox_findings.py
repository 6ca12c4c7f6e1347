"""What the doctor says of sandboxes."""

from __future__ import annotations

from pathlib import Path

from pi_batch.wiring.sandbox_findings import apparmor_advice, sandbox_findings
from pi_batch.wiring.surroundings import Surroundings
from tests.sandboxes.rigs import works


def test_every_sandbox_is_tried_and_the_choice_is_named(tmp_path: Path) -> None:
    around = Surroundings(tmp_path, {"PATH": "/usr/bin:/bin", "HOME": str(tmp_path)})
    found = {finding.name: finding for finding in sandbox_findings(around)}
    for name in ("bwrap", "landlock"):
        assert found[f"sandbox {name}"].state == ("ok" if works(name) else "note")
    chosen = next((name for name in ("bwrap", "landlock") if works(name)), "none")
    assert f"is {chosen} here" in found["sandbox auto"].text
    if chosen != "none":
        assert "the same in" in found["tools"].text


def test_the_profile_for_apparmor_allows_namespaces_to_one_program() -> None:
    advice = apparmor_advice("/usr/bin/bwrap")
    assert "profile bwrap /usr/bin/bwrap flags=(unconfined) {\n  userns,\n}" in advice
    assert "sudo apparmor_parser -r" in advice
