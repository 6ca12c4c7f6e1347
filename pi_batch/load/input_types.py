"""What a declared input takes: a text from the command line or a YAML value, by the declared type."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any, Final, assert_never

from pi_batch.load.nodes import Node, Scalar, got
from pi_batch.load.problems import Problems, Where
from pi_batch.load.scalars import as_boolean, as_integer, as_number
from pi_batch.load.yaml import MAX_BYTES
from pi_batch.spec import InputSpec
from pi_batch.wording import listed, nearest, quoted

INPUT_NAME: Final = re.compile(r"[A-Za-z][A-Za-z0-9_]{0,63}")
"""What `{{ inputs.NAME }}` and `-i NAME=VALUE` can spell."""


class BadInput(ValueError):
    """A text that is no value of the type; says `got ..., need ...`."""


def from_text(text: str, declared: InputSpec) -> Any:
    """A text as a value; for `file` still the path. Raises: BadInput."""
    value: Any = text
    need = ""
    match declared.type:
        case "string" | "file" | "command":
            pass
        case "integer":
            value, need = as_integer(text), "a whole number"
        case "number":
            value, need = as_number(text), "a finite number"
        case "boolean":
            value, need = as_boolean(text), "true or false"
        case "enum":
            value = text if text in declared.values else None
            need = f"one of {listed(declared.values)}{nearest(text, declared.values)}"
        case _:
            assert_never(declared.type)
    if value is None:
        raise BadInput(f"got {quoted(text)}, need {need}")
    if "\0" in text or not is_unicode(text):
        raise BadInput(f"got {quoted(text)}, need UTF-8 text without NUL")
    return value


def from_node(node: Node, declared: InputSpec, where: Where, problems: Problems) -> Any:
    """A YAML value as a value of the type; None with a problem noted where it is none."""
    if not isinstance(node, Scalar) or node.is_null:
        problems.add(node, where, f"got {got(node)}, need one value of type {declared.type}")
        return None
    try:
        value = from_text(node.text, declared)
    except BadInput as error:
        problems.add(node, where, str(error))
        return None
    if node.style != "plain" and not isinstance(value, str):
        problems.add(node, where, f"got {got(node)}, need a value of type {declared.type} without quotes")
        return None
    return value


def file_content(name: str, directory: Path) -> str:
    """The text of a file that an input names. Raises: BadInput."""
    path = directory / name
    try:
        if not path.is_file():
            raise BadInput(f"got {quoted(name)}, need a file: {path} is none")
        with path.open("rb") as file:
            content = file.read(MAX_BYTES + 1)
    except (OSError, ValueError) as error:
        if isinstance(error, BadInput):
            raise
        raise BadInput(f"got {quoted(name)}, need a file that can be read: {error}") from error
    if len(content) > MAX_BYTES:
        raise BadInput(f"got {quoted(name)}, need a file of at most {MAX_BYTES} bytes")
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise BadInput(f"got {quoted(name)}, need a file in UTF-8: byte {error.start} is not") from error
    if "\0" in text:
        raise BadInput(f"got {quoted(name)}, need a text file: it holds a NUL")
    return text


def is_unicode(text: str) -> bool:
    """Whether a text has no lone surrogate (bytes of the command line that were not UTF-8)."""
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return False
    return True
