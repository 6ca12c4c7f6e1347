"""Letters from templates."""

import pkgutil
from string import Template


def render(kind, **values):
    return Template(pkgutil.get_data("letters", f"templates/{kind}.txt").decode()).substitute(values)
