"""The desk of the command line, for parts that only a whole run shows."""

from __future__ import annotations

from tests.cli.conftest import desk

__all__ = ["desk"]
