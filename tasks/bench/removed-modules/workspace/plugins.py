"""Loads plugins, compares their versions, and writes what they did."""

import cgi
import imp
import pipes
from distutils.util import strtobool
from distutils.version import LooseVersion


def load(name, path):
    """The module in the file `path`, under the name `name`."""
    return imp.load_source(name, path)


def newest(versions):
    """The highest version, as distutils compares: '1.10' is above '1.9', '1.0b2' above '1.0'."""
    return max(versions, key=LooseVersion)


def is_on(word):
    """True for y, yes, t, true, on, 1; False for n, no, f, false, off, 0. Raises: ValueError for others."""
    return bool(strtobool(word))


def command(words):
    """Words as one line of shell."""
    return " ".join(pipes.quote(word) for word in words)


def charset(content_type):
    """The charset in a Content-Type header, in lower case; utf-8 where it has none."""
    _, parameters = cgi.parse_header(content_type)
    return parameters.get("charset", "utf-8").lower()
