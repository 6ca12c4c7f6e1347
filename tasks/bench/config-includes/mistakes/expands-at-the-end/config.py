"""Configuration files that include others."""

import posixpath
import re


class ConfigError(ValueError):
    """A line that cannot be read."""

    def __init__(self, message, path, line):
        super().__init__(f"{path}:{line}: {message}")
        self.path, self.line = path, line


def load(path, read):
    """A dict of texts and lists. Raises: ConfigError."""
    values = {}
    _load(path, read, values, [], path, 1)
    for key, value in values.items():
        if isinstance(value, str):
            values[key] = _expand(value, values, path)
    return values


def _expand(value, values, path):
    def one(match):
        if match[0] == "$$":
            return "$"
        if match[1] not in values:
            raise ConfigError("unknown", path, 1)
        found = values[match[1]]
        return ",".join(found) if isinstance(found, list) else found

    return re.sub(r"\$\$|\$\{(.*?)\}", one, value)


def _load(path, read, values, seen, by, at):
    if path in seen:
        raise ConfigError("circle", by, at)
    try:
        lines = read(path).split("\n")
    except FileNotFoundError:
        raise ConfigError("missing", by, at) from None
    number = 0
    while number < len(lines):
        line, first = lines[number].strip(), number + 1
        number += 1
        while line.endswith("\\") and number < len(lines):
            line = line[:-1].rstrip() + " " + lines[number].strip()
            number += 1
        if not line or line.startswith("#"):
            continue
        if line.startswith("include"):
            name = line.split(None, 1)[1]
            target = posixpath.normpath(posixpath.join(posixpath.dirname(path), name))
            _load(target, read, values, [*seen, path], path, first)
            continue
        match = re.fullmatch(r"([A-Za-z][\w.]*)\s*(\+?=)(.*)", line)
        if not match:
            raise ConfigError("bad", path, first)
        if match[2] == "=":
            values[match[1]] = match[3].strip()
        else:
            old = values.get(match[1], [])
            values[match[1]] = ([old] if isinstance(old, str) else old) + [match[3].strip()]
