"""What the doctor finds."""

from __future__ import annotations

from pathlib import Path

import pytest

from pi_batch import __version__
from pi_batch.errors import UsageError
from pi_batch.wiring.doctor import findings
from pi_batch.wiring.finding import Finding


@pytest.fixture
def bin_dir(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The only directory of PATH."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("PI_BATCH_MODEL", raising=False)
    place = tmp_path / "bin"
    place.mkdir()
    monkeypatch.setenv("PATH", str(place))
    return place


def program(bin_dir: Path, name: str, script: str) -> None:
    """Put a program on PATH."""
    path = bin_dir / name
    path.write_text(f"#!/bin/sh\n{script}\n", encoding="utf-8")
    path.chmod(0o755)


def found() -> dict[str, Finding]:
    """Findings by name."""
    return {finding.name: finding for finding in findings(tries_sandboxes=False)}


def test_programs_are_told_by_version_and_place(bin_dir: Path) -> None:
    for name in ("git", "bash", "rg"):
        program(bin_dir, name, f"echo {name} 9.8.7; echo more")
    result = found()
    assert result["git"] == Finding("ok", "git", f"git 9.8.7 at {bin_dir}/git")
    assert result["bash"].state == result["rg"].state == "ok"
    assert result["pi-batch"].text == __version__


def test_what_is_needed_and_absent_is_missing_the_rest_is_a_note(bin_dir: Path) -> None:
    result = found()
    assert (result["git"].state, result["bash"].state, result["rg"].state) == ("missing", "missing", "note")
    assert "not on PATH" in result["git"].text


def test_a_program_that_does_not_start_is_missing_too(bin_dir: Path) -> None:
    program(bin_dir, "git", "")
    (bin_dir / "git").write_bytes(b"\x7fELF no program")
    assert found()["git"].state == "missing"


def test_odd_bytes_of_a_program_are_shown_as_text(bin_dir: Path) -> None:
    program(bin_dir, "git", r"printf 'git \377 9\n'")
    assert "git \ufffd 9" in found()["git"].text


def test_the_model_of_the_environment_is_named(bin_dir: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert found()["model"].state == "note"
    monkeypatch.setenv("PI_BATCH_MODEL", "openai/gpt-4.1")
    assert found()["model"] == Finding("ok", "model", "openai/gpt-4.1 where a spec names none")


def test_nothing_is_left_where_it_was_tried(bin_dir: Path) -> None:
    before = sorted(bin_dir.parent.iterdir())
    assert found()["run directory"].state == "ok"
    assert sorted(bin_dir.parent.iterdir()) == before


def test_a_broken_config_file_is_an_error(bin_dir: Path) -> None:
    (bin_dir.parent / ".pi-batch.toml").write_text("jobs = 'many'\n", encoding="utf-8")
    with pytest.raises(UsageError, match="jobs"):
        findings()
