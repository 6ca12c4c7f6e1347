"""Files below a directory, for strangers."""

import os


class Refused(Exception):
    """Not to be had."""


def read(top, name):
    top = os.path.abspath(top)
    path = os.path.abspath(os.path.join(top, name))
    if "\0" in name or os.path.isabs(name) or not path.startswith(top + os.sep) or os.path.isdir(path):
        raise Refused(name)
    with open(path, "rb") as file:
        return file.read()
