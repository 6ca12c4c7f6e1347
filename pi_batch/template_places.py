"""Where values stand in commands: found without values where a template runs straight through."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from pi_batch.shell_words import Misplaced, mark, place_words
from pi_batch.template_grammar import ROOTS, Names, TemplateProblem, inputs_in

if TYPE_CHECKING:  # 70 ms of CPU, only for templates
    from jinja2 import nodes

_LENGTH: Final = "${#"
"""`${#name}` counts characters in a shell; to jinja2 a comment would begin in it."""
_LENGTH_MARK: Final = "$\0#\0"


def hide_lengths(text: str) -> str:
    """A text in which no shell length looks like a comment."""
    return text.replace(_LENGTH, _LENGTH_MARK)


def show_lengths(text: str) -> str:
    """The text as it was."""
    return text.replace(_LENGTH_MARK, _LENGTH)


def misplaced_value(tree: nodes.Template, names: Names) -> TemplateProblem | None:
    """The first value that stands where quoting would not hold, if no branch or loop decides that."""
    if any(type(part).__name__ != "Output" for part in tree.body):
        return None
    printed: list[Any] = []
    text = ""
    for part in (part for output in tree.body for part in getattr(output, "nodes", ())):
        if type(part).__name__ == "TemplateData":
            text += part.data
        elif not names.commands.intersection(inputs_in(part)):
            text += mark(len(printed))
            printed.append(part)
    try:
        place_words(show_lengths(text), ["x"] * len(printed))
    except Misplaced as error:
        node = printed[error.number]
        return TemplateProblem(node.lineno, refusal(expression_text(node), error.place))
    return None


def expression_text(node: Any) -> str:
    """`{{ inputs.x }}` for an expression as plain as that; `a value` for others."""
    root = getattr(getattr(node, "node", None), "name", "")
    key = getattr(node, "attr", None)
    return f"{{{{ {root}.{key} }}}}" if root in ROOTS and key else "a value"


def refusal(what: str, place: str) -> str:
    """What is said of a value that cannot be quoted where it stands."""
    return (
        f"{what} stands {place}, where it cannot be quoted safely: take those away, or assign it first "
        '(x={{ ... }}) and write "$x"'
    )
