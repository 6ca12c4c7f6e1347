"""The program's own `main`, called in this process."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from pi_batch.__main__ import main
from tests.cases.turns import Turn, say, write_session

SPEC = "prompt: Go.\nworkspace: {isolation: none}\nverify: ['true']\n"
MODEL = ("-m", "replay/session.jsonl")


@dataclass(frozen=True)
class Called:
    """What a call came to."""

    code: int
    out: str
    err: str

    @property
    def lines(self) -> list[str]:
        """Lines of standard error."""
        return self.err.rstrip("\n").split("\n")


class Desk:
    """A directory with a spec and a recording, and the program at hand."""

    def __init__(
        self, path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
    ) -> None:
        self.path = path
        self._monkeypatch = monkeypatch
        self._capsys = capsys
        self.write("task.yaml", SPEC)
        self.record(say("done"))

    def write(self, name: str, text: str) -> Path:
        """Write a file."""
        path = self.path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        return path

    def record(self, *turns: Turn, name: str = "session.jsonl") -> Path:
        """Write a recording."""
        return write_session(self.path / name, turns)

    def setenv(self, name: str, value: str) -> None:
        """Set a variable of the program."""
        self._monkeypatch.setenv(name, value)

    def call(self, *words: str) -> Called:
        """Run the program."""
        self._monkeypatch.setattr(sys, "argv", ["pi-batch", *words])
        with pytest.raises(SystemExit) as stop:
            main()
        out, err = self._capsys.readouterr()
        assert "Traceback" not in err
        return Called(_code(stop.value.code), out, err)

    def run(self, *words: str) -> Called:
        """Run the spec on the recording, into `out`."""
        return self.call("run", "task.yaml", *MODEL, "--output", "out", *words)


def _code(code: Any) -> int:
    assert isinstance(code, int)
    return code


def plain_environment(monkeypatch: pytest.MonkeyPatch, names: Iterable[str]) -> None:
    """Take away what a developer's or a CI's environment says to the program."""
    for name in names:
        if name.startswith(("PI_BATCH_", "GITHUB_")) or name.endswith(("_KEY", "_TOKEN", "_BASE_URL")):
            monkeypatch.delenv(name)
    for name in ("CI", "NO_COLOR", "COLUMNS"):
        monkeypatch.delenv(name, raising=False)
