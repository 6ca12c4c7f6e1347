"""Reads YAML into nodes: no types, no aliases, no tags, no key twice; each problem has its line.

Works on PyYAML's event stream, not on its trees: nothing recurses, nothing is constructed, and reading
ends at the first event beyond a bound.
"""

from __future__ import annotations

import bisect
import hashlib
import re
import stat
from pathlib import Path
from typing import Any

from msgspec import Struct, field

from pi_batch.load.nodes import Entry, Fields, Items, Node, Scalar, Source, Style
from pi_batch.load.problems import Problems
from pi_batch.wording import printable, quoted

MAX_BYTES = 1024 * 1024
MAX_DEPTH = 50
MAX_NODES = 20_000

_UNREADABLE = re.compile("[\0-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff\ufffe\uffff]")
"""Control characters, and line ends that editors and YAML count differently (U+0085, U+2028, U+2029).

What is allowed would span all of Unicode, and take 4 ms to compile.
"""
_SURROGATE = re.compile("[\ud800-\udfff]")
_STYLES: dict[str | None, Style] = {"|": "literal", ">": "folded", "'": "quoted", '"': "quoted"}


def read_file(path: Path, name: str, problems: Problems) -> bytes | None:
    """A regular file's bytes, within the cap; None with a problem noted otherwise."""
    shown = printable(name)
    try:
        status = path.stat()
        if not stat.S_ISREG(status.st_mode):
            problems.add_plain(shown, "not a regular file")
            return None
        if status.st_size <= MAX_BYTES:
            return path.read_bytes()
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else str(error)
        problems.add_plain(shown, f"cannot be read: {reason or error}")
        return None
    problems.add_plain(shown, f"got {status.st_size} bytes, need at most {MAX_BYTES}")
    return None


def read_yaml(path: Path, name: str, directory: Path, problems: Problems) -> Node | None:
    """A file's one document; None when there is none, with a problem noted."""
    content = read_file(path, name, problems)
    if content is None:
        return None
    source = Source(printable(name), path, hashlib.sha256(content).hexdigest(), directory)
    text = _decoded(content, source, problems)
    return None if text is None else parse(text, source, problems)


def parse(text: str, source: Source, problems: Problems) -> Node | None:
    """A text's one document; None when there is none, with a problem noted."""
    import yaml  # 20 ms of CPU

    build = _Build(source, text, problems)
    try:
        for event in yaml.parse(text, Loader=yaml.SafeLoader):
            if not build.take(event):
                return None
    except yaml.MarkedYAMLError as error:
        problems.add_plain(source.name, _syntax(error), line=build.line(error.problem_mark))
        return None
    except (yaml.YAMLError, ValueError):  # ValueError: an escape beyond Unicode in double quotes
        message = "bad escape in double quotes, need a Unicode character"
        problems.add_plain(source.name, message, line=build.last_line)
        return None
    if build.root is None:
        problems.add_plain(source.name, "the file is empty, need a task or a suite", line=1)
    return None if build.is_broken else build.root


def _decoded(content: bytes, source: Source, problems: Problems) -> str | None:
    """The text, without a byte order mark."""
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        got = f"byte 0x{content[error.start]:02x}"
        problems.add_plain(source.name, f"got {got}, need UTF-8", line=line)
        return None
    strange = _UNREADABLE.search(text)
    if strange is None:
        return text
    line = text.count("\n", 0, strange.start()) + 1
    what = "a NUL" if strange[0] == "\0" else f"the character U+{ord(strange[0]):04X}"
    problems.add_plain(
        source.name, f'got {what}, need plain text (or an escape in "double quotes")', line=line
    )
    return None


def _with_pairs(text: str) -> str:
    """JSON spells characters beyond U+FFFF as two escapes: one character again."""
    if not _SURROGATE.search(text):
        return text
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "surrogatepass")


def _syntax(error: Any) -> str:
    """PyYAML's complaint on one line."""
    problem = str(error.problem or "")
    if "'\\t'" in problem:
        return "got a tab, need spaces: YAML takes no tabs outside of text"
    if "cannot start any token" in problem:
        return f"not YAML: {problem}; put the text in quotes"
    if problem == "mapping values are not allowed here":
        return "not YAML: a second ': ' on the line, or wrong indentation; put the text in quotes"
    context = f" {error.context}" if error.context else ""
    return printable(f"not YAML: {problem}{context}".replace("\n", " "))


class _Open(Struct):
    """A list or mapping that is being read."""

    line: int
    is_mapping: bool
    nodes: list[Node] = field(default_factory=list)
    entries: dict[str, Entry] = field(default_factory=dict)
    key: Scalar | None = None
    """The key whose value comes next."""
    is_in_key: bool = False
    """A key is expected."""


class _Build:
    """Turns events into nodes; `take` says whether to go on."""

    def __init__(self, source: Source, text: str, problems: Problems) -> None:
        self.root: Node | None = None
        self.is_broken = False
        """Something was left out that makes the tree useless."""
        self.last_line = 1
        self._source = source
        self._problems = problems
        self._open: list[_Open] = []
        self._nodes = 0
        self._documents = 0
        self._line_ends = [match.start() for match in re.finditer("\n", text)]

    def line(self, mark: Any) -> int:
        """The line as editors count: by LF alone."""
        return bisect.bisect_left(self._line_ends, mark.index) + 1 if mark else self.last_line

    def take(self, event: Any) -> bool:
        """Take one event; False ends the reading."""
        import yaml

        self.last_line = self.line(event.start_mark)
        match event:
            case yaml.DocumentStartEvent():
                self._documents += 1
                return self._documents == 1 or self._stop("a second document starts here, need one")
            case yaml.AliasEvent():
                self._note(f"*{printable(str(event.anchor))}: aliases are not supported, write the value out")
                return self._add(Scalar(self._source, self.last_line, "", "refused"))
            case yaml.ScalarEvent():
                return self._is_plain_node(event) and self._add(self._scalar(event))
            case yaml.SequenceStartEvent() | yaml.MappingStartEvent():
                return self._is_plain_node(event) and self._start(isinstance(event, yaml.MappingStartEvent))
            case yaml.SequenceEndEvent() | yaml.MappingEndEvent():
                return self._add(self._closed(self._open.pop()))
        return True

    def _note(self, message: str) -> None:
        self._problems.add_plain(self._source.name, message, line=self.last_line)

    def _stop(self, message: str) -> bool:
        self._note(message)
        self.is_broken = True
        return False

    def _is_plain_node(self, event: Any) -> bool:
        """Note anchors and tags; False only beyond the bound."""
        self._nodes += 1
        if event.anchor is not None:
            self._note(f"&{printable(str(event.anchor))}: anchors are not supported, write the value out")
        if event.tag is not None:
            tag = event.tag.replace("tag:yaml.org,2002:", "!!")
            self._note(f"{printable(tag)}: tags are not supported, the field decides the type")
        return self._nodes <= MAX_NODES or self._stop(f"more than {MAX_NODES} values in one file")

    def _scalar(self, event: Any) -> Scalar:
        text = _with_pairs(event.value)
        if "\0" in text or _SURROGATE.search(text):
            self._note(f"got {quoted(text)}, need text without NUL and lone surrogates")
            text = re.sub("[\0\ud800-\udfff]", "?", text)
        return Scalar(self._source, self.last_line, text, _STYLES.get(event.style, "plain"))

    def _start(self, is_mapping: bool) -> bool:
        """Open a list or mapping."""
        if len(self._open) >= MAX_DEPTH:
            return self._stop(f"nested more than {MAX_DEPTH} deep")
        if self._open and self._open[-1].is_in_key:
            return self._stop("a key must be text, got a list or mapping")
        self._open.append(_Open(self.last_line, is_mapping, is_in_key=is_mapping))
        return True

    def _closed(self, done: _Open) -> Node:
        if done.is_mapping:
            return Fields(self._source, done.line, tuple(done.entries.values()))
        return Items(self._source, done.line, tuple(done.nodes))

    def _add(self, node: Node) -> bool:
        """Put a finished node where it belongs: root, list item, key, or value."""
        if not self._open:
            self.root = node
            return True
        parent = self._open[-1]
        if not parent.is_mapping:
            parent.nodes.append(node)
        elif parent.key is None and isinstance(node, Scalar):
            parent.key, parent.is_in_key = node, False
        elif parent.key is not None:
            self._add_entry(parent, parent.key, node)
            parent.key, parent.is_in_key = None, True
        return True

    def _add_entry(self, parent: _Open, key: Scalar, node: Node) -> None:
        """Keep the first of two values; note the second, and merge keys."""
        name = self._path(key.text)
        if key.text == "<<" and key.style == "plain":
            message = "merge keys are not supported, use a suite's defaults:"
            self._problems.add_plain(self._source.name, f"{name}: {message}", line=key.line)
        elif key.text in parent.entries:
            first = parent.entries[key.text].line
            message = f"{name}: duplicate key, already on line {first}"
            self._problems.add_plain(self._source.name, message, line=key.line)
        else:
            parent.entries[key.text] = Entry(key.text, key.line, node)

    def _path(self, key: str) -> str:
        """The way to a key of the innermost open mapping."""
        text = ""
        for outer in self._open[:-1]:
            if not outer.is_mapping:
                text += f"[{len(outer.nodes)}]"
            elif outer.key:
                text += f".{outer.key.text}" if text else outer.key.text
        return printable(f"{text}.{key}" if text else key)
