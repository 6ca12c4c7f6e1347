"""Write docs/cli.md: the help of every command, as the program prints it.

Run it after a change to the command line: python scripts/cli_docs.py
"""

# ruff: noqa: INP001 - a script, no package

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import click

from pi_batch.cli.main import cli

PAGE = Path(__file__).parents[1] / "docs" / "cli.md"
WIDTH = 78
"""What click takes where there is no terminal."""
INTRODUCTION = """\
# Command line

What `pi-batch --help` and `pi-batch COMMAND --help` print. Written by `python scripts/cli_docs.py`.
"""


def cli_docs() -> str:
    """The whole page."""
    return "\n".join([INTRODUCTION, *_sections()])


def _sections() -> Iterator[str]:
    top = _context(cli, "pi-batch")
    yield _section(top)
    for name in cli.list_commands(top):
        command = cli.get_command(top, name)
        if command is None:
            continue
        context = _context(command, name, top)
        yield _section(context)
        for below in command.commands.values() if isinstance(command, click.Group) else ():
            yield _section(_context(below, str(below.name), context))


def _context(command: click.Command, name: str, parent: click.Context | None = None) -> click.Context:
    return command.make_context(name, [], parent, resilient_parsing=True, terminal_width=WIDTH)


def _section(context: click.Context) -> str:
    return f"## {context.command_path}\n\n```text\n{context.get_help()}\n```\n"


if __name__ == "__main__":
    PAGE.parent.mkdir(exist_ok=True)
    PAGE.write_text(cli_docs(), encoding="utf-8")
