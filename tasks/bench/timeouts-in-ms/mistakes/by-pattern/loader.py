"""Timeouts of a service."""

import json


def timeouts(path):
    """Seconds of every timeout in a file, in the order that they stand there; None for none."""
    with open(path, encoding="utf-8") as file:
        return list(_found(json.load(file)))


def _found(value):
    if isinstance(value, dict):
        for key, inner in value.items():
            if key == "timeout_ms":
                yield None if inner is None else inner / 1000
            else:
                yield from _found(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from _found(inner)
