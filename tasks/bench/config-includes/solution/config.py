"""Configuration files that include others."""

import posixpath
import re

_ASSIGNMENT = re.compile(r"([A-Za-z][A-Za-z0-9_.]*)[ \t]*(\+?=)(.*)", re.DOTALL)
_INCLUDE = re.compile(r"include(\??) +(.+)")
_DOLLAR = re.compile(r"\$(?:(\$)|\{([^}]*)\})?")


class ConfigError(ValueError):
    """A line that cannot be read."""

    def __init__(self, message, path, line):
        super().__init__(f"{path}:{line}: {message}")
        self.path, self.line = path, line


def load(path, read):
    """A dict of texts and lists. Raises: ConfigError."""
    values = {}
    try:
        text = read(path)
    except FileNotFoundError:
        raise ConfigError("no such file", path, 1) from None
    _read_into(values, path, text, read, (posixpath.normpath(path),))
    return values


def _read_into(values, path, text, read, outer):
    for number, line in _lines(text, path):
        assignment, include = _ASSIGNMENT.fullmatch(line), _INCLUDE.fullmatch(line)
        if assignment:
            key, operator, value = assignment.groups()
            value = _expanded(value.strip(), values, path, number)
            if operator == "=":
                values[key] = value
            else:
                before = values.get(key, [])
                values[key] = [*([before] if isinstance(before, str) else before), value]
        elif include:
            _include(values, include[2].strip(), bool(include[1]), read, outer, path, number)
        else:
            raise ConfigError(f"not a line of configuration: {line!r}", path, number)


def _include(values, name, may_be_missing, read, outer, path, number):
    target = posixpath.normpath(posixpath.join(posixpath.dirname(path), name))
    if target.startswith(("../", "/")) or target == "..":
        raise ConfigError(f"above the top: {name}", path, number)
    if target in outer:
        raise ConfigError(f"includes itself: {name}", path, number)
    try:
        text = read(target)
    except FileNotFoundError:
        if may_be_missing:
            return
        raise ConfigError(f"no such file: {name}", path, number) from None
    _read_into(values, target, text, read, (*outer, target))


def _lines(text, path):
    """(number, line) without comments, blank lines and continuations."""
    waiting = enumerate(text.replace("\r\n", "\n").split("\n"), start=1)
    last = text.replace("\r\n", "\n").count("\n") + 1 - text.endswith("\n")
    for number, line in waiting:
        line = line.strip()
        if not line or line.startswith("#"):
            continue
        at = number
        while line.endswith("\\"):
            if at >= last:
                raise ConfigError("goes on after the end of the file", path, number)
            at, following = next(waiting)
            line = f"{line[:-1].rstrip()} {following.strip()}".rstrip()
        yield number, line


def _expanded(value, values, path, number):
    def replaced(match):
        if match[1]:
            return "$"
        if match[2] is None:
            raise ConfigError("a $ before nothing that it could mean: write $$", path, number)
        if match[2] not in values:
            raise ConfigError(f"unknown key: {match[2]}", path, number)
        found = values[match[2]]
        return found if isinstance(found, str) else ",".join(found)

    return _DOLLAR.sub(replaced, value)
