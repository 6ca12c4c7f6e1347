"""Start-up time is a feature: what a command does not need is not imported. Nothing here is timed."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.cases.turns import say, write_session

HEAVY = ("httpx", "rich", "jinja2", "jsonschema", "yaml", "pydantic", "asyncio", "junit_xml", "ssl", "psutil")
PROGRAM = """
import sys
sys.argv = ["pi-batch", *sys.argv[1:]]
from pi_batch.__main__ import main
try:
    main()
finally:
    print("\\nLOADED", *(name for name in {heavy!r} if name in sys.modules), file=sys.stderr)
"""


def loaded(cwd: Path, *words: str) -> set[str]:
    """Which of the heavy packages a command imports."""
    program = PROGRAM.format(heavy=HEAVY)
    done = subprocess.run(
        [sys.executable, "-c", program, *words],
        cwd=cwd,
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    last = done.stderr.strip().split("\n")[-1]
    assert last.startswith("LOADED"), done.stderr
    return set(last.split()[1:])


@pytest.mark.parametrize("words", [["--version"], ["--help"], ["run", "--help"], ["resume"]])
def test_help_and_version_import_nothing_heavy(tmp_path: Path, words: list[str]) -> None:
    assert loaded(tmp_path, *words) == set()


def test_validating_a_spec_needs_no_service_no_template_and_no_terminal(tmp_path: Path) -> None:
    (tmp_path / "t.yaml").write_text("id: t\nprompt: hi\n")
    assert not loaded(tmp_path, "validate", "t.yaml") & {
        "httpx",
        "rich",
        "jinja2",
        "jsonschema",
        "junit_xml",
        "pydantic",
    }


def test_a_replayed_run_loads_no_client_no_template_and_no_colours(tmp_path: Path) -> None:
    (tmp_path / "t.yaml").write_text("id: t\nprompt: hi\nworkspace: {isolation: none}\n")
    write_session(tmp_path / "s.jsonl", [say("hello")])
    found = loaded(tmp_path, "run", "t.yaml", "-m", "replay/s.jsonl")
    assert not found & {"httpx", "rich", "jinja2", "jsonschema", "psutil", "pydantic"}
    assert "asyncio" in found
