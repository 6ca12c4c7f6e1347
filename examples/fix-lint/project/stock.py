"""What is in the store room, and what has to be ordered."""

import json
import os
from pathlib import Path


def read(path):
    """Articles by name; none where there is no readable file."""
    try:
        return json.loads(Path(path).read_text(encoding="utf-8"))
    except:
        return {}


def add(name, count, to={}):
    """The articles with some more of one."""
    to[name] = to.get(name, 0) + count
    return to


def to_order(articles, wanted):
    """How many of each wanted article are missing."""
    missing = {}
    for name, count in wanted.items():
        if articles.get(name) == None:
            missing[name] = count
        elif articles[name] < count:
            missing[name] = count - articles[name]
    return missing


def summary(articles):
    """One line for people."""
    if not articles:
        return f"nothing in stock"
    total = sum(articles.values())
    return f"{total} pieces of {len(articles)} articles"
