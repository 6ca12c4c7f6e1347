"""Letters from templates."""

import pkgutil
from string import Template


def render(kind, **values):
    text = pkgutil.get_data("letters", f"templates/{kind}.txt").decode("utf-8")
    return Template(text).substitute(values)
