"""Loads plugins, compares their versions, and writes what they did."""

import importlib.machinery
import importlib.util
import re
import shlex
import sys

_PART = re.compile(r"(\d+|[a-z]+|\.)")
_WORDS = {**dict.fromkeys(("y", "yes", "t", "true", "on", "1"), True), **dict.fromkeys(("n", "no", "f", "false", "off", "0"), False)}


def load(name, path):
    """The module in the file `path`, under the name `name`."""
    loader = importlib.machinery.SourceFileLoader(name, path)
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader(name, loader))
    sys.modules[name] = module
    try:
        loader.exec_module(module)
    except BaseException:
        sys.modules.pop(name, None)
        raise
    return sys.modules[name]


def _parts(version):
    found = [part for part in _PART.split(version) if part and part != "."]
    return [int(part) if part.isdigit() else part for part in found]


def newest(versions):
    """The highest version: '1.10' is above '1.9', '1.0b2' above '1.0'."""
    return max(versions, key=_parts)


def is_on(word):
    """True for y, yes, t, true, on, 1; False for n, no, f, false, off, 0. Raises: ValueError for others."""
    if word.lower() not in _WORDS:
        raise ValueError(f"invalid truth value {word!r}")
    return _WORDS[word.lower()]


def command(words):
    """Words as one line of shell."""
    return " ".join(shlex.quote(word) for word in words)


def charset(content_type):
    """The charset in a Content-Type header, in lower case; utf-8 where it has none."""
    for name, value in re.findall(r';\s*([^=;"\s]+)\s*=\s*("(?:[^"\\]|\\.)*"|[^;]*)', content_type):
        if name.lower() == "charset":
            value = value.strip()
            if value.startswith('"'):
                value = re.sub(r"\\(.)", r"\1", value[1:-1])
            return value.lower()
    return "utf-8"
