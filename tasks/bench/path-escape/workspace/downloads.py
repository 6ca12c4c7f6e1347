"""Files below a directory, for strangers."""

import os


class Refused(Exception):
    """Not to be had."""


def read(top, name):
    """The bytes of the file `name` below the directory `top`. Raises: Refused, FileNotFoundError."""
    path = os.path.normpath(os.path.join(top, name))
    if not path.startswith(os.path.normpath(top)):
        raise Refused(name)
    with open(path, "rb") as file:
        return file.read()
