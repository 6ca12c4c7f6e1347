"""Puts values into shell commands as quoted words, and refuses the places where quoting would not hold.

`shlex.quote` makes a value one word only where the shell expects a word. Inside quotes that the author
wrote, in a here-document, a comment, backticks or arithmetic, the quotes it adds end the author's, and
the value runs. So the command is scanned as bash reads it, and such a place is an error.

Source: the shell grammar of POSIX.1-2024, XCU 2, and bash's manual, sections 3.1.2 and 3.5.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Sequence
from typing import Literal

Context = Literal[
    "plain",
    "paren",
    "single",
    "ansi",
    "double",
    "brace",
    "arithmetic",
    "square",
    "group",
    "backtick",
    "comment",
]

MARK = re.compile(r"\0(\d+)\0")
"""Where a value goes: its number between NULs, which no command holds otherwise."""

_REFUSED: dict[Context, str] = {
    "single": "inside single quotes",
    "ansi": "inside $'...' quotes",
    "double": "inside double quotes",
    "brace": "inside ${...}",
    "arithmetic": "inside arithmetic",
    "square": "inside arithmetic",
    "group": "inside arithmetic",
    "backtick": "inside backticks",
    "comment": "inside a comment",
}
_WORD_BREAKS = " \t\n;&|()<>"
_HERE_DOCUMENT = re.compile(r"<<(-?)[ \t]*((?:\\.|'[^'\n]*'|\"[^\"\n]*\"|[^\s;&|()<>'\"\\])+)")
_ORDINARY = re.compile(r"""[^\0\\'"`$(){}\[\]<>#;&| \t\n]+""")
_CASE = re.compile(r"case\b")


class Misplaced(ValueError):
    """A value stands where quoting it would not make it one word."""

    def __init__(self, number: int, place: str) -> None:
        super().__init__(place)
        self.number = number
        """Of the value."""
        self.place = place
        """`inside double quotes`."""


def mark(number: int) -> str:
    """What to write into a command where the value of that number goes."""
    return f"\0{number}\0"


def quote(value: str) -> str:
    """One word that the shell takes as it is; never an assignment."""
    word = shlex.quote(value)
    return f"'{word}'" if word == value and "=" in word else word


def place_words(command: str, values: Sequence[str]) -> str:
    """A command with every mark replaced by its value, quoted. Raises: Misplaced."""
    return _Scan(command, values).run() if values else command


class _Scan:
    """One pass over a command, knowing at each character how bash reads it."""

    def __init__(self, command: str, values: Sequence[str]) -> None:
        self._text = command
        self._values = values
        self._at = 0
        self._done: list[str] = []
        self._contexts: list[Context] = ["plain"]
        self._here_documents: list[tuple[str, bool]] = []
        """End words of those that start at the next line, and whether tabs before them are dropped."""
        self._is_intricate = False

    def run(self) -> str:
        """Scan to the end."""
        while self._at < len(self._text):
            marked = MARK.match(self._text, self._at)
            if marked:
                self._place(int(marked[1]), marked.end())
            else:
                self._step(self._contexts[-1])
        return "".join(self._done)

    def _place(self, number: int, end: int) -> None:
        place = _REFUSED.get(self._contexts[-1])
        if self._at and self._text[self._at - 1] == "$":
            place = "behind a $"
        elif self._is_intricate and place is None:
            place = "inside $(...) with a case in it"
        if place:
            raise Misplaced(number, place)
        self._done.append(quote(self._values[number]))
        self._at = end

    def _copy(self, length: int = 1) -> None:
        self._done.append(self._text[self._at : self._at + length])
        self._at += length

    def _copy_run(self) -> None:
        """Take this character and those behind it that mean nothing anywhere."""
        run = _ORDINARY.match(self._text, self._at)
        self._copy(run.end() - self._at if run else 1)

    def _sees(self, *starts: str) -> bool:
        return self._text.startswith(starts, self._at)

    def _step(self, context: Context) -> None:
        """Take what stands here, changing context where bash does."""
        if self._sees("\\") and context not in ("single", "comment"):
            marked = MARK.match(self._text, self._at + 1)
            if marked:
                raise Misplaced(int(marked[1]), "behind a backslash")
            self._copy(2)
        elif context in ("plain", "paren"):
            self._step_in_command(context)
        elif context == "comment":
            self._step_in_comment()
        elif self._closes(context):
            self._contexts.pop()
            self._copy(2 if context == "arithmetic" else 1)
        elif context in ("single", "ansi", "backtick") or not self._opens_expansion(context):
            self._copy_run()

    def _closes(self, context: Context) -> bool:
        ends = {
            "single": "'",
            "ansi": "'",
            "double": '"',
            "brace": "}",
            "arithmetic": "))",
            "square": "]",
            "group": ")",
            "backtick": "`",
        }
        return self._sees(ends[context])

    def _open(self, context: Context, length: int) -> bool:
        self._contexts.append(context)
        self._copy(length)
        return True

    def _opens_expansion(self, context: Context) -> bool:
        """Take the start of $(...), ${...}, backticks, or of quotes where they count."""
        if self._sees("$((", "$["):
            return self._open("arithmetic", 3) if self._sees("$((") else self._open("square", 2)
        if self._sees("$("):
            return self._open("paren", 2)
        if self._sees("${"):
            return self._open("brace", 2)
        if self._sees("`"):
            return self._open("backtick", 1)
        if context in ("arithmetic", "square", "group"):
            return self._sees("(") and self._open("group", 1)
        if context == "brace" and self._sees('"'):
            return self._open("double", 1)
        return (
            context == "brace"
            and "double" not in self._contexts
            and self._sees("'")
            and self._open("single", 1)
        )

    def _step_in_command(self, context: Context) -> None:
        if self._sees("$'"):
            self._open("ansi", 2)
        elif self._sees("'"):
            self._open("single", 1)
        elif self._sees('"'):
            self._open("double", 1)
        elif self._opens_expansion(context):
            pass
        elif self._sees("(("):
            self._open("arithmetic", 2)
        elif self._sees("("):
            self._open("paren", 1)
        elif self._sees(")"):
            self._close_paren(context)
        elif self._sees("<<"):
            self._start_here_document()
        elif self._sees("#") and self._is_word_start():
            self._open("comment", 1)
        elif self._sees("\n"):
            self._end_line()
        else:
            self._note_case()
            self._copy_run()

    def _close_paren(self, context: Context) -> None:
        if context == "paren":
            self._contexts.pop()
        self._copy()

    def _is_word_start(self) -> bool:
        return self._at == 0 or self._text[self._at - 1] in _WORD_BREAKS

    def _note_case(self) -> None:
        """The unpaired ) of a case in $(...) inside quotes: from there on nothing is sure."""
        is_quoted = "double" in self._contexts or "brace" in self._contexts
        if is_quoted and self._is_word_start() and _CASE.match(self._text, self._at):
            self._is_intricate = True

    def _step_in_comment(self) -> None:
        if self._sees("\n"):
            self._contexts.pop()
        else:
            self._copy_run()

    def _start_here_document(self) -> None:
        if self._sees("<<<"):
            self._copy(3)
            return
        start = _HERE_DOCUMENT.match(self._text, self._at)
        if start is None:
            self._copy(2)
            return
        marked = MARK.search(start[2])
        if marked:
            raise Misplaced(int(marked[1]), "in the end word of a here-document")
        self._here_documents.append((re.sub(r"[\\'\"]", "", start[2]), bool(start[1])))
        self._copy(len(start[0]))

    def _end_line(self) -> None:
        """Take the line's end and the here-documents that start behind it."""
        self._copy()
        for end_word, drops_tabs in self._here_documents:
            while self._at < len(self._text):
                line_end = self._text.find("\n", self._at)
                line = self._text[self._at : line_end if line_end >= 0 else None]
                marked = MARK.search(line)
                if marked:
                    raise Misplaced(int(marked[1]), "inside a here-document")
                self._copy(len(line) + 1)
                if (line.lstrip("\t") if drops_tabs else line) == end_word:
                    break
        self._here_documents.clear()
