"""What the doctor says of sandboxes."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from pi_batch.sandboxes.bwrap import find_bwrap
from pi_batch.wiring.sandbox_findings import _engines, apparmor_advice, apparmor_forbids, sandbox_findings
from pi_batch.wiring.surroundings import Surroundings
from tests.cases.turns import bash, say, turn, write_session
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


def test_an_engine_is_named_and_tried_only_with_an_image(tmp_path: Path) -> None:
    (tmp_path / "docker").write_text("#!/bin/sh\necho no daemon >&2; exit 1\n", encoding="ascii")
    (tmp_path / "docker").chmod(0o755)
    environ = {"PATH": f"{tmp_path}:/bin", "HOME": str(tmp_path)}
    for more, text in (({}, "name an image"), ({"PI_BATCH_SANDBOX_IMAGE": "x:1"}, "no daemon")):
        around = Surroundings(tmp_path, {**environ, **more})
        found = {finding.name: finding for finding in _engines(around)}
        assert found["sandbox docker"].state == "note"
        assert text in found["sandbox docker"].text


def test_apparmor_is_asked_and_not_guessed(tmp_path: Path) -> None:
    for text, forbids in (("1\n", True), ("0\n", False)):
        (tmp_path / "setting").write_text(text, encoding="ascii")
        assert apparmor_forbids(tmp_path / "setting") == forbids
    assert not apparmor_forbids(tmp_path / "absent")


@pytest.mark.slow
@pytest.mark.skipif(not works("bwrap") or not works("landlock"), reason="not both are here")
def test_where_namespaces_are_forbidden_the_doctor_says_so_and_a_run_falls_back_or_refuses(
    tmp_path: Path,
) -> None:
    """What GitHub's Ubuntu and many containers are like."""
    outer = [
        *(find_bwrap() or "bwrap", "--unshare-user", "--disable-userns", "--dev-bind", "/", "/", "--"),
        *(sys.executable, "-m", "pi_batch"),
    ]
    options: dict[str, Any] = {"cwd": tmp_path, "capture_output": True, "text": True}
    doctor = subprocess.run([*outer, "doctor"], check=False, **options).stdout
    line = {row.split()[2].rstrip(":"): row for row in doctor.split("\n") if " sandbox " in row}
    assert line["bwrap"].split()[0] == "note"
    assert line["landlock"].split()[0] == "ok"
    assert "is landlock here" in line["auto"]
    write_session(tmp_path / "s.jsonl", [turn(bash("cat /etc/shadow; echo done")), say("done")])
    spec = "prompt: Go.\nworkspace: {isolation: copy}\nverify: ['true']\n"
    (tmp_path / "t.yaml").write_text(spec, encoding="utf-8")
    (tmp_path / "b.yaml").write_text(f"{spec}sandbox: bwrap\n", encoding="utf-8")
    run = ["run", "-m", "replay/s.jsonl", "--sandbox-required"]
    for name, code in (("t.yaml", 0), ("b.yaml", 3)):
        done = subprocess.run([*outer, *run, name, "--output", name[0]], check=False, **options)
        assert done.returncode == code, done.stderr
    result = json.loads((tmp_path / "t" / "run.json").read_bytes())["results"][0]
    assert result["sandbox"]["name"] == "landlock"
