"""Options that several commands share, and what becomes of them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from pi_batch.errors import UsageError

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

    from pi_batch.wiring.options import RunOptions

Decorated = TypeVar("Decorated", bound=Callable[..., Any])


def _variable(name: str) -> dict[str, Any]:
    """What makes an option without a setting of its own read PI_BATCH_NAME, and say so in its help."""
    return {"envvar": f"PI_BATCH_{name}", "show_envvar": True}


def complete_spec(_context: click.Context, _parameter: click.Parameter, typed: str) -> list[CompletionItem]:
    """A built-in task's name where one begins like that; else files, which the shell knows."""
    from click.shell_completion import CompletionItem

    from pi_batch.load.specs import builtin_directory, builtin_names

    names = [name for name in builtin_names(builtin_directory()) if typed and name.startswith(typed)]
    return [CompletionItem(name) for name in names] or [CompletionItem(typed, type="file")]


LIMITS = (
    click.option(
        "--max-turns",
        type=click.IntRange(1),
        metavar="N",
        help="Replies per task. Default: PI_BATCH_MAX_TURNS, then 50.",
    ),
    click.option(
        "--max-tokens",
        type=click.IntRange(1),
        metavar="N",
        help="Tokens per task. Default: PI_BATCH_MAX_TOKENS, then no limit.",
    ),
    click.option(
        "--max-cost-usd",
        type=click.FloatRange(0),
        metavar="X",
        help="USD per task. Default: PI_BATCH_MAX_COST_USD, then no limit.",
    ),
    click.option(
        "--max-wall-s",
        type=click.FloatRange(0, min_open=True),
        metavar="S",
        help="Seconds of agent work per task. Default: PI_BATCH_MAX_WALL_S, then 1800.",
    ),
    click.option(
        "--sandbox",
        metavar="NAME",
        help="auto, bwrap, landlock, docker, podman or none. Default: PI_BATCH_SANDBOX, then auto.",
    ),
    click.option(
        "--sandbox-image",
        metavar="IMAGE",
        help="What docker or podman make a container of; podman takes a directory, too. "
        "Default: PI_BATCH_SANDBOX_IMAGE, then none.",
    ),
    click.option(
        "--sandbox-required",
        is_flag=True,
        help="Refuse to run without a sandbox. Default: PI_BATCH_SANDBOX_REQUIRED, then run, and warn.",
    ),
    click.option(
        "--thinking",
        metavar="LEVEL",
        help="How much models think: off, minimal, low, medium, high, xhigh or max; a level behind a "
        "model's name wins. Default: PI_BATCH_THINKING, then the model's own.",
    ),
    click.option(
        "--codemode",
        metavar="MODE",
        help="Scripts that call tools: on, only or off. Default: the spec's, PI_BATCH_CODEMODE, then on.",
    ),
)
"""How far a task may go."""

SELECTION = (
    click.option(
        "-m",
        "--model",
        "models",
        multiple=True,
        metavar="MODEL",
        help="Model as provider/model[:level], router/NAME, or replay/SESSION.jsonl; several make a matrix. "
        "Default: the spec's, then PI_BATCH_MODEL.",
    ),
    click.option(
        "-i",
        "--input",
        "inputs",
        multiple=True,
        metavar="KEY=VALUE",
        help="Set an input of the specs. Default: the spec's own.",
    ),
    click.option(
        "--repeat",
        type=click.IntRange(1),
        metavar="N",
        help="Run each task N times. Default: PI_BATCH_REPEAT, then 1.",
    ),
    click.option(
        "--filter",
        "filters",
        multiple=True,
        **_variable("FILTER"),
        metavar="GLOB",
        help="Only tasks whose id matches, or tag:GLOB; repo:GLOB: only in these repositories. Default: all.",
    ),
    *LIMITS,
    click.option(
        "--jobs", type=click.IntRange(1), metavar="N", help="Tasks at once. Default: PI_BATCH_JOBS, then 1."
    ),
)
"""What is planned: models, inputs, filters, limits."""


def selection_options(function: Decorated) -> Decorated:
    """What is planned: models, inputs, filters, limits."""
    return _with_options(function, SELECTION)


def limit_options(function: Decorated) -> Decorated:
    """How far a task may go."""
    return _with_options(function, LIMITS)


OUTPUT = click.option(
    "--output",
    type=click.Path(path_type=Path),
    metavar="DIR",
    help="Run directory; one with a run of the same plan is gone on with. Default: .pi-batch/runs/<run id>.",
)
"""Where a run's files go."""

REPORTS = (
    click.option(
        "--junit",
        **_variable("JUNIT"),
        type=click.Path(path_type=Path),
        metavar="FILE",
        help="Write junit.xml here as well.",
    ),
    click.option(
        "--json",
        "json_file",
        **_variable("JSON"),
        type=click.Path(path_type=Path),
        metavar="FILE",
        help="Write run.json here as well.",
    ),
    click.option(
        "--markdown",
        **_variable("MARKDOWN"),
        type=click.Path(path_type=Path),
        metavar="FILE",
        help="Write a Markdown report here.",
    ),
    click.option(
        "--secret",
        "secrets",
        multiple=True,
        **_variable("SECRET"),
        metavar="NAME|@FILE",
        help="Also hide the value of this variable, or a file's content. Default: the usual names.",
    ),
    click.option(
        "--events",
        is_flag=True,
        **_variable("EVENTS"),
        help="Stream events as JSONL on stdout, no table. Default: off.",
    ),
    click.option(
        "--quiet", is_flag=True, **_variable("QUIET"), help="No progress; only the summary. Default: off."
    ),
)
"""What is said of a run."""

AGAIN = (
    click.option(
        "--force",
        "is_forced",
        **_variable("FORCE"),
        is_flag=True,
        help="Go on with a run though specs or tools have changed. Default: refuse.",
    ),
    click.option(
        "--rerun",
        multiple=True,
        **_variable("RERUN"),
        type=click.Choice(["failed", "error", "all"]),
        help="Of an earlier run, also run tasks that came out so. Default: they stay.",
    ),
    click.option(
        "--reverify",
        "is_reverify",
        **_variable("REVERIFY"),
        is_flag=True,
        help="Of an earlier run, only judge the stored work again. Default: off.",
    ),
)
"""How an earlier run is gone on with."""


EXECUTOR = (
    click.option(
        "--executor",
        type=click.Choice(["local", "dask"]),
        default=None,
        **_variable("EXECUTOR"),
        help="Who carries tasks out: this process, or a Dask cluster's workers. Default: local.",
    ),
    click.option(
        "--scheduler",
        metavar="ADDRESS",
        **_variable("SCHEDULER"),
        help="With --executor dask: the cluster's scheduler, such as tcp://HOST:8786. Default: none.",
    ),
)
"""Where tasks are carried out."""


def executor_options(function: Decorated) -> Decorated:
    """Where tasks are carried out."""
    return _with_options(function, EXECUTOR)


def output_options(function: Decorated) -> Decorated:
    """Where a run's results go."""
    return _with_options(function, (OUTPUT, *REPORTS))


def report_options(function: Decorated) -> Decorated:
    """What is said of a run."""
    return _with_options(function, REPORTS)


def again_options(function: Decorated) -> Decorated:
    """How an earlier run is gone on with."""
    return _with_options(function, AGAIN)


def _with_options(function: Decorated, options: Sequence[Callable[[Any], Any]]) -> Decorated:
    for option in reversed(options):
        function = option(function)
    return function


def parse_inputs(pairs: tuple[str, ...]) -> dict[str, str]:
    """KEY=VALUE pairs as a mapping; the last of a key counts. Raises: UsageError."""
    inputs = {}
    for pair in pairs:
        key, separator, value = pair.partition("=")
        if not separator or not key:
            raise UsageError(f"-i {pair!r}: need KEY=VALUE")
        inputs[key] = value
    return inputs


def run_options(flags: Mapping[str, Any]) -> RunOptions:
    """The flags of `run` and `exec`, named like its fields, as options for the wiring. Raises: UsageError."""
    from pi_batch.wiring.options import RunOptions

    return RunOptions(**{**flags, "inputs": parse_inputs(flags.get("inputs", ()))})
