from importlib.resources import files
from string import Template


def render(kind, **values):
    text = files("letters").joinpath("templates", kind + ".txt").read_text(encoding="utf-8")
    return Template(text).substitute(values)
