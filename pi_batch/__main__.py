"""`pi-batch` and `python -m pi_batch`: parse, run, and turn every error into one line and an exit code."""

from __future__ import annotations

import gc
import sys

from pi_batch.cli.main import cli, show_defect, show_error, show_usage_error
from pi_batch.errors import LogWriteError, PiBatchError
from pi_batch.standard_streams import finish

READER_LEFT = 141
"""What a shell says of a program that SIGPIPE ended."""
COLLECT_EVERY = 100_000
"""New objects between two looks for circles of garbage: after Python's 700, loading alone makes hundreds."""


def main() -> None:
    """Run the command line and exit with its documented code."""
    import click

    gc.set_threshold(COLLECT_EVERY, 20, 100)
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
    except SystemExit as stop:  # click's own way out when the reader of our output has left
        code = READER_LEFT if stop.code == 1 else stop.code
    except OSError as error:
        code = show_error(_written(error))
    except KeyboardInterrupt:
        code = 130
    except Exception as error:  # noqa: BLE001 -- a defect outside any task: exit code 1 would say "failed"
        code = show_defect(error)
    try:
        finish()
    except PiBatchError as error:
        code = code or show_error(error)
    gc.freeze()  # or the interpreter looks through all that was loaded once more before it ends: 90 ms
    sys.exit(code if isinstance(code, int) else 0)


def _written(error: OSError) -> LogWriteError:
    """An error that no room has mapped: a write, and without a name that of standard output."""
    where = error.filename or "standard output"
    return LogWriteError(f"{where}: cannot be written: {error.strerror or error}")


if __name__ == "__main__":
    main()
