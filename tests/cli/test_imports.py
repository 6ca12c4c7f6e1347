"""Start-up: what is not needed for --help is not imported."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

HEAVY = (
    "asyncio",
    "pydantic",
    "httpx",
    "rich",
    "jinja2",
    "yaml",
    "jsonschema",
    "psutil",
    "pathspec",
    "junit_xml",
)


def loaded_after(code: str) -> set[str]:
    """Which of the heavy modules a piece of code loads."""
    script = f"import sys, json, io\n{code}\nprint(json.dumps(sorted(sys.modules)), file=sys.__stdout__)"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    return {name.partition(".")[0] for name in json.loads(done.stdout.split("\n")[-2])} & set(HEAVY)


def test_the_command_line_loads_nothing_heavy() -> None:
    assert loaded_after("import pi_batch.cli.main, pi_batch.__main__") == set()


@pytest.mark.parametrize("words", [["--help"], ["--version"], ["run", "--help"], ["exec", "--help"]])
def test_neither_does_help(words: list[str]) -> None:
    code = (
        "from pi_batch.cli.main import cli\nsys.stdout = io.StringIO()\n"
        f"cli.main({words!r}, standalone_mode=False)"
    )
    assert loaded_after(code) == set()


def test_importing_the_package_does_nothing() -> None:
    code = "before = set(sys.modules)\nimport pi_batch\nassert set(sys.modules) - before == {'pi_batch'}"
    assert loaded_after(code) == set()


def test_reports_and_looking_load_no_network_and_no_loop() -> None:
    for words in (["tools"], ["schema", "task"]):
        code = (
            "from pi_batch.cli.main import cli\nsys.stdout = io.StringIO()\n"
            f"cli.main({words!r}, standalone_mode=False)"
        )
        assert loaded_after(code).isdisjoint({"httpx", "rich", "jinja2"}), words
