"""Files below a directory, for strangers."""

from pathlib import Path, PurePosixPath


class Refused(Exception):
    """Not to be had."""


def read(top, name):
    """The bytes of the file `name` below the directory `top`. Raises: Refused, FileNotFoundError."""
    if "\0" in name or PurePosixPath(name).is_absolute():
        raise Refused(name)
    base = Path(top).resolve()
    try:
        path = (base / name).resolve()
    except (OSError, RuntimeError):
        raise Refused(name) from None
    if base not in path.parents or path.is_dir():
        raise Refused(name)
    try:
        return path.read_bytes()
    except OSError:
        raise FileNotFoundError(name) from None
