"""`pi-batch` and `python -m pi_batch`: parse, run, and turn every error into one line and an exit code."""

from __future__ import annotations

import sys

from pi_batch.cli.main import cli, show_defect, show_error, show_usage_error
from pi_batch.errors import PiBatchError


def main() -> None:
    """Run the command line and exit with its documented code."""
    import click

    try:
        code = cli.main(prog_name="pi-batch", standalone_mode=False)
    except click.exceptions.Exit as stop:
        code = stop.exit_code
    except click.Abort:
        code = 130
    except click.ClickException as error:
        code = show_usage_error(error)
    except PiBatchError as error:
        code = show_error(error)
    except BrokenPipeError:
        code = _broken_pipe()
    except KeyboardInterrupt:
        code = 130
    except Exception as error:  # noqa: BLE001 -- a defect outside any task: exit code 1 would say "failed"
        code = show_defect(error)
    sys.exit(code if isinstance(code, int) else 0)


def _broken_pipe() -> int:
    """Whoever read our output left: nothing more can be said on stdout."""
    import os

    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return 141


if __name__ == "__main__":
    main()
