"""Foreign text on its way out: one encoder per place where it could be read as something else.

Text from a model, a tool, a check or a spec is data. These functions decide what of it a terminal, an
XML parser, a Markdown renderer or a CI runner gets to see. The rest of the program never escapes by hand.
"""

from __future__ import annotations

import html
import re
from collections.abc import Callable, Mapping

from pi_batch.text import one_line, readable

Measure = Callable[[str], int]
"""How many bytes a text takes where it is going."""

REST_LEFT_OUT = "\n… (the rest was left out)"
BEGINNING_LEFT_OUT = "(the beginning was left out) …\n"

# XML 1.0 §2.2 allows more (U+007F to U+009F, U+FDD0 to U+FDEF) and discourages it. What is left out is named,
# not what is kept: a set that spans all of Unicode takes 4 ms to compile.
_NOT_XML = re.compile("[\0-\x08\x0b-\x1f\x7f-\x84\x86-\x9f\ud800-\udfff\ufdd0-\ufdef\ufffe\uffff]")
_DIRECTION = re.compile("[\u202a-\u202e\u2066-\u2069]")
"""Embeddings, overrides and isolates: they reorder what follows. Plain marks (U+200E, U+200F) do not."""
_BACKTICKS = re.compile("`+")
_PIPE = re.compile(r"(\\*)\|")
_COMMAND = re.compile(r"^(\s*)::", re.MULTILINE)
_MARKED = re.compile(r"##(?=\w{0,40}\[)")


def plain(text: str) -> str:
    """Readable lines: no escape codes, no controls, nothing that reorders what stands beside it."""
    return _DIRECTION.sub(lambda mark: f"\\u{ord(mark[0]):04x}", readable(text))


def plain_line(text: str, max_chars: int = 300) -> str:
    """The same as one line of at most `max_chars` characters."""
    return one_line(plain(text[: 100 * max_chars]), max_chars)  # megabytes need not be looked at for one line


# --- XML ------------------------------------------------------------------------------------------


OBEYED = re.compile("(?<=#)#(?=\\[)|[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")
"""Whatever a terminal acts on instead of showing it, a carriage return above all: it can hide a command."""


def visible(text: str) -> str:
    r"""Text whose control characters are spelled out (`\x1b`); a CRLF is a newline."""
    return OBEYED.sub(_spelled, text.replace("\r\n", "\n"))


def path_line(path: str, max_chars: int = 300) -> str:
    """A path as one line: a carriage return in it is shown, and hides nothing of what stands before it."""
    return plain_line(path.replace("\r", "\\x0d"), max_chars)


def _spelled(found: re.Match[str]) -> str:
    code = ord(found[0])
    return f"\\x{code:02x}" if code < 256 else f"\\u{code:04x}"


def xml_text(text: str) -> str:
    """Only characters that XML 1.0 allows; the XML writer escapes markup itself."""
    return _NOT_XML.sub("\ufffd", plain(text))


def xml_line(text: str, max_chars: int = 300) -> str:
    """The same as one line, for attributes."""
    return _NOT_XML.sub("\ufffd", plain_line(text, max_chars))


def xml_bytes(text: str) -> int:
    """Bytes of a text node once markup is escaped (`&amp;`, `&lt;`, `&gt;`)."""
    return utf8_bytes(text) + 4 * text.count("&") + 3 * text.count("<") + 3 * text.count(">")


# --- Markdown (GitHub flavoured) ------------------------------------------------------------------


def markdown_fence(text: str) -> str:
    """A code block that nothing inside can close: its fence outgrows every run of backticks."""
    inside = plain(text)
    fence = _backticks(inside, at_least=3)
    return f"{fence}text\n{inside.strip(chr(10))}\n{fence}\n"


def markdown_code(text: str, max_chars: int = 300, *, in_table: bool = True) -> str:
    """A code span: no markup, HTML, mention or link in it is alive; fit for a table's cell or without."""
    inside = plain_line(text, max_chars)
    if not inside.strip():
        return ""
    fence = _backticks(inside, at_least=1)
    padding = " " if inside.startswith("`") or inside.endswith("`") else ""
    shown = _PIPE.sub(_escaped_pipe, inside) if in_table else inside
    return f"{fence}{padding}{shown}{padding}{fence}"


def html_line(text: str, max_chars: int = 300) -> str:
    """One line inside an HTML element."""
    return html.escape(plain_line(text, max_chars))


def _backticks(inside: str, *, at_least: int) -> str:
    longest = max((len(run) for run in _BACKTICKS.findall(inside)), default=0)
    return "`" * max(longest + 1, at_least)


def _escaped_pipe(match: re.Match[str]) -> str:
    """A pipe behind an odd number of backslashes: readers of tables disagree about even ones."""
    slashes = match[1]
    return slashes + ("\\\\|" if len(slashes) % 2 else "\\|")


# --- spreadsheets ---------------------------------------------------------------------------------


def csv_cell(text: str) -> str:
    """One line that a spreadsheet takes for text, not for a formula; the CSV writer quotes it itself.

    Source: OWASP, CSV Injection.
    """
    line = plain_line(text)
    return f"'{line}" if line.startswith(("=", "+", "-", "@")) else line


# --- CI runners -----------------------------------------------------------------------------------


def workflow_safe(text: str) -> str:
    """Lines that no CI runner obeys: `::name::` at a line's start, `##[name]` and `##vso[name]` anywhere.

    Source: actions/runner, `ActionCommand.TryParseV2` (trims, then wants `::`) and `TryParse` (`##[`); Azure
    Pipelines' logging commands; TeamCity's service messages.
    """
    return _COMMAND.sub(r"\1: :", _MARKED.sub("## ", text))


def json_safe(document: str) -> str:
    """The same JSON, spelled so that no runner finds a command in it. Only strings can hold one."""
    return _MARKED.sub(r"#\\u0023", document)


def xml_safe(document: str) -> str:
    """The same XML, spelled so that no runner finds a command in it."""
    return _COMMAND.sub(r"\1&#58;:", _MARKED.sub("#&#35;", document))


def workflow_command(name: str, message: str, properties: Mapping[str, str] | None = None) -> str:
    """A command that GitHub's runner obeys, one line: `::error file=a.py,line=3::message`.

    Foreign text in the message or a property ends neither. Source: actions/toolkit, `command.ts`.
    """
    pairs = ((key, value) for key, value in (properties or {}).items() if value)
    head = ",".join(f"{key}={_command_property(value)}" for key, value in pairs)
    return f"::{name}{' ' if head else ''}{head}::{_command_message(plain(message))}"


def _command_message(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _command_property(text: str) -> str:
    return _command_message(plain_line(text)).replace(":", "%3A").replace(",", "%2C")


def output_entry(name: str, value: str, word: str) -> str:
    """One entry of GITHUB_OUTPUT in its form for any text.

    `word` ends the value: a random one, that the value must not hold. Raises: ValueError when it does.
    Source: actions/toolkit, `file-command.ts`.
    """
    if word in value or word in name:
        raise ValueError("the value holds its own end word")
    return f"{name}<<{word}\n{value}\n{word}\n"


# --- sizes ----------------------------------------------------------------------------------------


def utf8_bytes(text: str) -> int:
    """Bytes of a text in UTF-8."""
    return len(text.encode("utf-8", "replace"))


def keep_head(text: str, max_bytes: int, measure: Measure = utf8_bytes) -> str:
    """The beginning of a text, with a last line that says that more was left out; whole if it fits."""
    if measure(text) <= max_bytes:
        return text
    return _shrunk(text, max_bytes - utf8_bytes(REST_LEFT_OUT), measure, from_end=False) + REST_LEFT_OUT


def keep_tail(text: str, max_bytes: int, measure: Measure = utf8_bytes) -> str:
    """The end of a text, with a first line that says that more was left out; whole if it fits.

    Begins with a whole line where one fits.
    """
    if measure(text) <= max_bytes:
        return text
    room = max_bytes - utf8_bytes(BEGINNING_LEFT_OUT)
    kept = _shrunk(text, room, measure, from_end=True)
    whole_lines = kept.partition("\n")[2]
    return BEGINNING_LEFT_OUT + (whole_lines if whole_lines.strip() else kept)


def _shrunk(text: str, max_bytes: int, measure: Measure, *, from_end: bool) -> str:
    """As much of one end as fits, never half a character."""
    kept = max(max_bytes, 0)
    content = (text[-kept:] if from_end else text[:kept]).encode("utf-8", "replace") if kept else b""
    while True:
        part = (content[-kept:] if from_end else content[:kept]) if kept else b""
        shrunk = part.decode("utf-8", "ignore")
        size = measure(shrunk)
        if size <= max_bytes or not kept:
            return shrunk
        kept = min(kept * max_bytes // size, kept - 1)
