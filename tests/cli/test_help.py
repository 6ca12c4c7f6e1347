"""Help: of every command, current in the docs, with an example that can be typed."""

from __future__ import annotations

import re
import runpy
import shlex
from pathlib import Path

import pytest

from pi_batch import __version__
from pi_batch.cli.main import COMMANDS, RESERVED
from tests.cli.calling import Desk
from tests.workspaces.repositories import git

ROOT = Path(__file__).parents[2]
EXAMPLE = re.compile(r"^ *Example: (pi-batch .*)$", re.MULTILINE)


def test_the_docs_copy_of_all_help_is_current() -> None:
    """If not: python scripts/cli_docs.py."""
    written = runpy.run_path(str(ROOT / "scripts/cli_docs.py"))["cli_docs"]()
    assert (ROOT / "docs/cli.md").read_text(encoding="utf-8") == written


@pytest.mark.parametrize("command", ["", *COMMANDS])
def test_help_begins_with_one_short_sentence_and_ends_with_an_example(desk: Desk, command: str) -> None:
    done = desk.call(*command.split(), "--help")
    usage, _, first, *_ = done.out.split("\n")
    assert done.code == 0
    assert usage.startswith(f"Usage: pi-batch {command}".rstrip())
    assert len(first.strip()) < 60
    assert first.endswith(".")
    assert len(EXAMPLE.findall(done.out)) == 1
    assert desk.call(*command.split(), "-h").out == done.out


@pytest.mark.parametrize("command", COMMANDS)
def test_the_list_of_commands_says_what_the_commands_say(desk: Desk, command: str) -> None:
    first = desk.call(command, "--help").out.split("\n")[2].strip()
    assert re.search(rf"^  {command} +{re.escape(first)}$", desk.call("--help").out, re.MULTILINE)


@pytest.mark.parametrize("command", ["run", "exec", "validate", "plan"])
def test_options_say_their_unit_and_default(desk: Desk, command: str) -> None:
    text = " ".join(desk.call(command, "--help").out.split())
    for option in ("--max-turns", "--max-tokens", "--max-cost-usd", "--max-wall-s", "--sandbox"):
        _, _, said = text.partition(f" {option} ")
        assert "Default:" in said[:120], option


def test_every_example_can_be_typed(desk: Desk) -> None:
    """Where files of those names are there; real models want a key first, and say so."""
    desk.write("tasks/fix.yaml", "prompt: Go.\nworkspace: {path: .., isolation: none}\n")
    desk.call("run", "tasks/fix.yaml", "-m", "replay/session.jsonl", "--output", ".pi-batch/runs/RUN")
    for n in "12":
        shard = ("--shard", f"{n}/2", "--output", f"shard-{n}")
        desk.call("run", "tasks/fix.yaml", "-m", "replay/session.jsonl", *shard)
    (desk.path / ".pi-batch/runs/LATEST").symlink_to("RUN")
    git(desk.path, "init", "-q")
    for command in ("", *COMMANDS):
        (example,) = EXAMPLE.findall(desk.call(*command.split(), "--help").out)
        words = shlex.split(example.partition(" > ")[0])[1:]
        done = desk.call(*words)
        assert done.code == (3 if command in ("run", "exec") else 0), done.err
        assert done.code == 0 or "key" in done.err


def test_the_version_is_the_packages(desk: Desk) -> None:
    for flag in ("--version", "-V"):
        assert desk.call(flag).out == f"pi-batch {__version__}\n"


def test_without_a_word_the_help_is_shown_and_nothing_was_done(desk: Desk) -> None:
    done = desk.call()
    assert done.code == 2
    assert done.out == ""
    assert done.err == desk.call("--help").out


def test_reserved_names_stand_in_no_help(desk: Desk) -> None:
    listed = desk.call("--help").out
    assert not [name for name in RESERVED if re.search(rf"^  {name} ", listed, re.MULTILINE)]
