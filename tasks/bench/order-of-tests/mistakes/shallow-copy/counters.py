"""Counters with limits and labels."""

_REGISTRY = {}
_DEFAULTS = {"limit": 10, "labels": []}


class Full(Exception):
    """No more can be counted."""


class Counter:
    def __init__(self, name, options=_DEFAULTS, history=None):
        self.name = name
        self.options = dict(options)
        self.history = history or []
        self.total = 0
        self.seen = set()
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
    return _REGISTRY.get(name) or Counter(name)


def reset():
    _REGISTRY.clear()
    _DEFAULTS["labels"].clear()


def snapshot():
    return {name: _REGISTRY[name].total for name in sorted(_REGISTRY)}
