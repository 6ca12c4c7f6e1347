"""Letters from templates."""

import os
from string import Template


def render(kind, **values):
    path = os.path.join(os.path.dirname(__file__), "templates", kind + ".txt")
    with open(path, encoding="utf-8") as file:
        return Template(file.read()).substitute(values)
