"""Counters with limits and labels."""

_REGISTRY = {}
_DEFAULTS = {"limit": 10, "labels": []}


class Full(Exception):
    """No more can be counted."""


class Counter:
    total = 0
    seen = set()

    def __init__(self, name, options=_DEFAULTS, history=[]):
        self.name = name
        self.options = options
        self.history = history
        _REGISTRY[name] = self

    def label(self, *labels):
        self.options["labels"] += labels
        return self

    def limit_to(self, limit):
        self.options["limit"] = limit
        return self

    def add(self, what, amount=1):
        if self.total + amount > self.options["limit"]:
            raise Full(self.name)
        self.total += amount
        self.seen.add(what)
        self.history.append((what, amount))
        return self.total


def counter(name):
    """The counter of that name, made when it is first asked for."""
    return _REGISTRY.get(name) or Counter(name)


def reset():
    """Forget all counters."""
    _REGISTRY.clear()


def snapshot():
    """Every counter's total by name, sorted."""
    return {name: _REGISTRY[name].total for name in sorted(_REGISTRY)}
