"""A project for each test."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cases.project import Project


@pytest.fixture
def project(tmp_path: Path) -> Project:
    """A new one."""
    return Project(tmp_path)
