"""The group of all commands; each is imported only when it is called."""

from __future__ import annotations

import difflib
import logging
import traceback
from importlib import import_module
from typing import NamedTuple

import click

from pi_batch import __version__
from pi_batch.errors import PiBatchError, SpecError
from pi_batch.standard_streams import tell


class CommandEntry(NamedTuple):
    """A row of the table: where a command lives, and its line in --help."""

    module: str
    help: str


COMMANDS = {
    "run": CommandEntry("pi_batch.cli.run", "Run task specs and judge the results."),
    "exec": CommandEntry("pi_batch.cli.exec", "Run one ad-hoc prompt in the current directory."),
    "resume": CommandEntry("pi_batch.cli.resume", "Go on with an interrupted run."),
    "validate": CommandEntry("pi_batch.cli.validate", "Check spec files; nothing is run."),
    "plan": CommandEntry("pi_batch.cli.plan", "Show what would run, without running it."),
    "report": CommandEntry("pi_batch.cli.report", "Make the reports of a finished run again."),
    "merge": CommandEntry("pi_batch.cli.merge", "Make one run of the shards of a plan."),
    "compare": CommandEntry("pi_batch.cli.compare", "Compare runs or models; a gate for CI."),
    "hook": CommandEntry("pi_batch.cli.hook", "Check what is staged, as a pre-commit hook."),
    "apply": CommandEntry("pi_batch.cli.apply", "Publish the patches of a run."),
    "suite": CommandEntry("pi_batch.cli.suite", "Prove and import benchmark suites."),
    "export": CommandEntry("pi_batch.cli.export", "Make a session readable: one HTML page, or text."),
    "tools": CommandEntry("pi_batch.cli.tools", "List the tools that a model gets."),
    "schema": CommandEntry("pi_batch.cli.schema", "Print the JSON Schema of a file format."),
    "models": CommandEntry("pi_batch.cli.models", "Show model services, or what is known of models."),
    "init": CommandEntry("pi_batch.cli.init", "Write files to begin with: workflows, hooks, a suite."),
    "doctor": CommandEntry("pi_batch.cli.doctor", "Check what this machine offers to runs."),
    "completion": CommandEntry("pi_batch.cli.completion", "Print a script that completes words in a shell."),
}
"""What this version has."""

RESERVED = ("rpc",)
"""Names that later versions give a meaning: known, and refused as such."""


class LazyGroup(click.Group):
    """A group that knows its commands' names and lines without importing them."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """The commands in the table's order."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import one command. Raises: UsageError for a name that is reserved or unknown."""
        entry = COMMANDS.get(cmd_name)
        if entry is not None:
            command: click.Command = import_module(entry.module).command
            return command
        if ctx.resilient_parsing:
            return None  # a shell asks while somebody types: there is nothing to complete
        if cmd_name in RESERVED:
            raise click.UsageError(f"{cmd_name}: not available in this version", ctx)
        near = difflib.get_close_matches(cmd_name, COMMANDS, n=1)
        hint = f" Did you mean {near[0]}?" if near else ""
        raise click.UsageError(f"no such command: {cmd_name!r}.{hint}", ctx)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """The list in --help, from the table alone."""
        with formatter.section("Commands"):
            formatter.write_dl([(name, entry.help) for name, entry in COMMANDS.items()])


@click.command(
    cls=LazyGroup,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    epilog="Exit codes: 0 all passed or skipped, 1 some failed, 2 usage or spec, 3 some error, "
    "4 nothing selected, 130 SIGINT, 143 SIGTERM or SIGHUP.",
)
@click.version_option(__version__, "-V", "--version", prog_name="pi-batch", message="%(prog)s %(version)s")
def cli() -> None:
    """Run coding-agent tasks with nobody watching.

    Specs say what to do and how it is judged; budgets are hard; the report is what happened.

    Example: pi-batch run task.yaml -m replay/session.jsonl
    """


def show_usage_error(error: click.ClickException) -> int:
    """Print what is wrong with the command line in one line, and where its help is; without any, the help."""
    context = getattr(error, "ctx", None)
    if isinstance(error, click.exceptions.NoArgsIsHelpError):
        tell(error.format_message())
        return 2
    path = context.command_path if context is not None else "pi-batch"
    text = " ".join(error.format_message().split()).rstrip(".")
    tell(f"pi-batch: {text}{'' if text.endswith('?') else '.'} See: {path} --help")
    return 2


def show_error(error: PiBatchError) -> int:
    """Print an error for a person; the exit code it stands for.

    A spec's problems stand as `file:line: message` at the beginning of their lines, as editors parse them.
    """
    prefix = "" if isinstance(error, SpecError) else "pi-batch: "
    for line in str(error).split("\n"):
        tell(f"{prefix}{line}")
    return error.exit_code


def show_defect(error: Exception) -> int:
    """Say that this program is at fault; the traceback is shown to who asks for it."""
    text = " ".join(str(error).split())
    tell(f"pi-batch: internal error: {type(error).__name__}: {text}")
    if logging.getLogger("pi_batch").isEnabledFor(logging.DEBUG):
        traceback.print_exception(error)
    return 3
