"""A desk for each test."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.cases.project import Project
from tests.cli.calling import Desk, plain_environment


@pytest.fixture
def desk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Desk:
    """A directory to be in, with a spec and a recording, in a plain environment."""
    plain_environment(monkeypatch, list(os.environ))
    work = tmp_path / "work"
    work.mkdir()
    monkeypatch.chdir(work)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    return Desk(work, monkeypatch, capsys)


@pytest.fixture
def project(tmp_path: Path) -> Project:
    """A project for the program in a process of its own."""
    return Project(tmp_path)
