"""Files below a directory, for strangers."""

import os


class Refused(Exception):
    """Not to be had."""


def read(top, name):
    """The bytes of the file `name` below the directory `top`. Raises: Refused, FileNotFoundError."""
    if "\0" in name or os.path.isabs(name):
        raise Refused(name)
    top = os.path.realpath(top)
    path = os.path.realpath(os.path.join(top, name))
    if os.path.commonpath([top, path]) != top or os.path.isdir(path):
        raise Refused(name)
    if not os.path.isfile(path):
        raise FileNotFoundError(name)
    with open(path, "rb") as file:
        return file.read()
