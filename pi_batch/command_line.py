"""Splits a shell command line into the simple commands that it would run.

Quote-aware, and careful rather than complete: quotes, escapes, comments, separators, grouping,
redirections, here-documents, and every kind of substitution. Nothing is expanded; a variable stays a
variable. Source: the Shell Command Language of POSIX.1-2017 (section 2), and bash's manual for <(…), $'…',
&> and <<<.
"""

from __future__ import annotations

import re

from msgspec import Struct, field

_ANSI_C = re.compile(r"\\(x[0-9A-Fa-f]{1,2}|u[0-9A-Fa-f]{1,4}|U[0-9A-Fa-f]{1,8}|[0-7]{1,3}|.)", re.DOTALL)
_ANSI_C_LETTERS = {"n": "\n", "t": "\t", "r": "\r", "a": "\a", "b": "\b", "f": "\f", "v": "\v", "e": "\x1b"}
_PLAIN = re.compile(r"[^\s'\"`\\$#<>&;|()]+")
_PLAIN_IN_QUOTES = re.compile(r'[^"`\\$]+')
_REDIRECTIONS = re.compile(r"&>>|&>|<<<|<<-|<<|<>|<&|<|>>|>&|>\||>")
_OPEN = re.compile(r"[*?\[]|\{(?!\}$)")
"""What is expanded to other text without a `$`."""
_PLAIN_EXPANSION = re.compile(r"\$\{(?:#?\w+|[@*#?!$-])(?:\}|:?[-+?]|[#%/^,]|:\s?-?\d+(?::\s?-?\d+)?\})")
"""Puts in a value, or a part of it."""
_NAME_OR_VALUE = re.compile(r"[A-Za-z_$`]")
MAX_DEPTH = 8
"""Substitutions within substitutions that are followed."""


_NETWORK = ("/dev/tcp/", "/dev/udp/")  # to bash, connections in both directions


class SimpleCommand(Struct, frozen=True):
    """One command as the shell would see it, quotes removed."""

    words: tuple[str, ...]
    written_to: tuple[str, ...] = ()
    """Targets of its output redirections."""
    doubtful: tuple[int, ...] = ()
    """Which words may turn out to be options: what they begin with is expanded first."""


class CommandLine(Struct, frozen=True):
    """What a command line holds."""

    commands: tuple[SimpleCommand, ...]
    """In the order in which they end; those in substitutions too."""
    inputs: tuple[str, ...]
    """Texts of here-documents and here-strings."""
    expansions: tuple[str, ...]
    """Those that do more than put in a value: `${x@P}`, `${x:=y}`, arithmetic over names."""
    is_whole: bool
    """False where a quote, substitution or here-document never ends: then nothing here is certain."""


def split_command_line(text: str) -> CommandLine:
    """Split; never raises."""
    splitter = _Splitter(text)
    splitter.run()
    return CommandLine(
        tuple(splitter.commands), tuple(splitter.inputs), tuple(splitter.expansions), splitter.is_whole
    )


class _HereDocument(Struct):
    delimiter: str
    strips_tabs: bool
    is_quoted: bool


class _Splitter(Struct):
    """One pass over the text; a substitution is a pass of its own over the same text."""

    text: str
    at: int = 0
    closer: str = ""
    depth: int = 0
    commands: list[SimpleCommand] = field(default_factory=list)
    inputs: list[str] = field(default_factory=list)
    expansions: list[str] = field(default_factory=list)
    is_whole: bool = True
    words: list[str] = field(default_factory=list)
    written_to: list[str] = field(default_factory=list)
    doubtful: list[int] = field(default_factory=list)
    word: str | None = None
    word_is_doubtful: bool = False
    word_is_quoted: bool = False
    redirection: str = ""
    here_documents: list[_HereDocument] = field(default_factory=list)

    def run(self) -> None:
        """Read up to the end, or to the parenthesis that closes this substitution."""
        open_parentheses = 0
        while self.at < len(self.text):
            char = self.text[self.at]
            if char == ")" and self.closer and not open_parentheses:
                if (
                    "case" in self.words
                ):  # a pattern's end, not the substitution's: what follows is not followed
                    self.is_whole = False
                self._end_command()
                return
            open_parentheses += {"(": 1, ")": -1}.get(char, 0)
            self._step(char)
        self._end_command()
        if self.closer or self.here_documents:
            self.is_whole = False

    def _step(self, char: str) -> None:
        following = self.text[self.at + 1 : self.at + 2]
        redirection = _REDIRECTIONS.match(self.text, self.at) if char in "<>&" else None
        if char in " \t":
            self._end_word()
            self.at += 1
        elif char in "'\"`\\$":
            self._quoting(char, following)
        elif char == "#" and self.word is None:
            end = self.text.find("\n", self.at)
            self.at = len(self.text) if end < 0 else end
        elif char in "<>" and following == "(":
            self.word = self.word or ""
            self._substitution(2)
        elif redirection:
            self._redirect(redirection.group())
        elif char in ";&|()\n":
            self._end_command()
            self.at += 1
            if char == "\n":
                self._read_here_documents()
        else:
            plain = _PLAIN.match(self.text, self.at)
            run = plain.group() if plain else char
            if (open_at := _OPEN.search(run)) is not None:
                self._doubt((self.word or "") + run[: open_at.start()])
            self.word = (self.word or "") + run
            self.at += len(run)

    def _doubt(self, beginning: str) -> None:
        """Something is expanded here: behind nothing, or in an option, it may become any option."""
        if not beginning or beginning.startswith("-"):
            self.word_is_doubtful = True

    # --- quotes and substitutions -----------------------------------------------------------------

    def _quoting(self, char: str, following: str) -> None:
        if char == "\\":
            if following != "\n":
                self.word = (self.word or "") + (following or "\\")
                self.word_is_quoted = True
            self.at += 2
        elif char == "'":
            self._append_quoted(self._until("'", 1))
        elif char == '"':
            self.at += 1
            self._double_quoted()
        elif char == "`":
            self._backticks()
        elif following == "'":
            body = re.compile(r"((?:[^'\\]|\\.)*)(')?", re.DOTALL).match(self.text, self.at + 2)
            self._append_quoted(_ANSI_C.sub(_ansi_c, body.group(1) if body else ""))
            self.is_whole = self.is_whole and bool(body and body.group(2))
            self.at = body.end() if body else len(self.text)
        elif following == "(":
            self.word = self.word or ""
            self._substitution(2)
        else:
            self._parameter()
            self.word = (self.word or "") + char
            self.at += 1

    def _parameter(self) -> None:
        """Note what begins with the `$` here; the text after it is read on as any other."""
        self._doubt(self.word or "")
        if self.text[self.at + 1 : self.at + 2] in ("{", "[") and not _PLAIN_EXPANSION.match(
            self.text, self.at
        ):
            self.expansions.append(self.text[self.at : self.at + 40])

    def _append_quoted(self, text: str) -> None:
        self.word = (self.word or "") + text
        self.word_is_quoted = True

    def _until(self, end: str, skip: int) -> str:
        """The text up to an end mark, which is passed."""
        start = self.at + skip
        found = self.text.find(end, start)
        self.is_whole = self.is_whole and found >= 0
        self.at = len(self.text) if found < 0 else found + 1
        return self.text[start : self.at - (found >= 0)]

    def _double_quoted(self, *, is_to_end: bool = False) -> None:
        """Up to the closing quote, or a here-document's text, in which quotes mean nothing."""
        self._append_quoted("")
        while self.at < len(self.text):
            char, following = self.text[self.at], self.text[self.at + 1 : self.at + 2]
            if char == '"' and not is_to_end:
                self.at += 1
                return
            if char == "`":
                self._backticks()
            elif char == "$" and following == "(":
                self._substitution(2)
            elif char == "$":
                self._parameter()
                self._append_quoted(char)
                self.at += 1
            elif char == "\\" and following in '$`"\\\n':
                self._append_quoted("" if following == "\n" else following)
                self.at += 2
            else:
                plain = _PLAIN_IN_QUOTES.match(self.text, self.at)
                run = plain.group() if plain else char
                self._append_quoted(run)
                self.at += len(run)
        self.is_whole = self.is_whole and is_to_end

    def _substitution(self, skip: int) -> None:
        """$(…), <(…) or >(…): its commands count; the word keeps a mark for its unknown text."""
        if self.text[self.at] == "$":
            self._doubt(self.word or "")
        if self.text.startswith("$((", self.at):
            end = _arithmetic_end(self.text, self.at + 3)
            if end is not None:  # runs nothing but the substitutions in it, and those in the values of names
                inside = self.text[self.at + 3 : end]
                if _NAME_OR_VALUE.search(inside):
                    self.expansions.append(self.text[self.at : end + 2][:40])
                self._append_quoted(f"$(({inside}))")
                self.at = end + 2
                self._nested_in_text(inside)
                return
        inner = self._deeper(self.text, self.at + skip, ")")
        inner.run()
        self._take(inner)
        self._append_quoted(self.text[self.at : inner.at + 1])
        self.at = inner.at + 1

    def _backticks(self) -> None:
        self._doubt(self.word or "")
        body = re.compile(r"((?:[^`\\]|\\.)*)(`)?", re.DOTALL).match(self.text, self.at + 1)
        inside = re.sub(r"\\([`\\$])", r"\1", body.group(1)) if body else ""
        self.is_whole = self.is_whole and bool(body and body.group(2))
        self._append_quoted(f"`{inside}`")
        self.at = body.end() if body else len(self.text)
        self._split_apart(inside)

    def _nested_in_text(self, text: str) -> None:
        """Substitutions within text that is otherwise no command."""
        if "$" in text or "`" in text:
            inner = self._deeper(text)
            inner._double_quoted(is_to_end=True)
            self._take(inner)

    def _split_apart(self, text: str) -> None:
        inner = self._deeper(text)
        inner.run()
        self._take(inner)

    def _deeper(self, text: str, at: int = 0, closer: str = "") -> _Splitter:
        """A pass over a substitution; over nothing, and the line is not whole, when it is too deep."""
        if self.depth < MAX_DEPTH:
            return _Splitter(text, at, closer, self.depth + 1)
        return _Splitter(text, len(text), closer, self.depth + 1, is_whole=False)

    def _take(self, inner: _Splitter) -> None:
        self.commands.extend(inner.commands)
        self.inputs.extend(inner.inputs)
        self.expansions.extend(inner.expansions)
        self.is_whole = self.is_whole and inner.is_whole

    # --- words and redirections -------------------------------------------------------------------

    def _redirect(self, operator: str) -> None:
        if self.word is not None and self.word.isdigit() and not self.word_is_quoted:
            self.word = None  # the number of a file descriptor
        self._end_word()
        self.redirection = operator
        self.at += len(operator)

    def _end_word(self) -> None:
        if self.word is None:
            return
        word, operator = self.word, self.redirection
        is_quoted, self.word_is_quoted = self.word_is_quoted, False
        is_doubtful, self.word_is_doubtful = self.word_is_doubtful, False
        self.word, self.redirection = None, ""
        if not operator:
            if is_doubtful and word != "{":
                self.doubtful.append(len(self.words))
            self.words.append(word)
        elif operator == "<<<":
            self.inputs.append(word)
        elif operator in ("<<", "<<-"):
            self.here_documents.append(_HereDocument(word, operator == "<<-", is_quoted))
        elif word.startswith(_NETWORK) or (
            ">" in operator and not (operator == ">&" and (word.isdigit() or word == "-"))
        ):
            self.written_to.append(word)

    def _end_command(self) -> None:
        self._end_word()
        self.redirection = ""
        if self.words or self.written_to:
            command = SimpleCommand(tuple(self.words), tuple(self.written_to), tuple(self.doubtful))
            self.commands.append(command)
        self.words, self.written_to, self.doubtful = [], [], []

    def _read_here_documents(self) -> None:
        """Bodies start on the line after the one that names them, in order."""
        for document in self.here_documents:
            lines: list[str] = []
            while True:
                if self.at >= len(self.text):
                    self.is_whole = False
                    break
                end = self.text.find("\n", self.at)
                end = len(self.text) if end < 0 else end
                line = self.text[self.at : end]
                self.at = min(end + 1, len(self.text))
                if (line.lstrip("\t") if document.strips_tabs else line) == document.delimiter:
                    break
                lines.append(line)
            body = "\n".join(lines)
            self.inputs.append(body)
            if not document.is_quoted:
                self._nested_in_text(body)
        self.here_documents = []


def _arithmetic_end(text: str, start: int) -> int | None:
    """Where the `))` of arithmetic stands; None when it is a substitution that begins with a subshell."""
    is_open = 0
    for at in range(start, len(text)):
        if text[at] == "(":
            is_open += 1
        elif text[at] == ")":
            if not is_open:
                return at if text.startswith("))", at) else None
            is_open -= 1
    return None


def _ansi_c(match: re.Match[str]) -> str:
    """One escape of $'…'."""
    escape = match.group(1)
    if escape[0] in "xuU" and len(escape) > 1:
        code = int(escape[1:], 16)
    elif escape[0] in "01234567":
        code = int(escape, 8)
    else:
        return _ANSI_C_LETTERS.get(escape, escape)
    return chr(code) if code < 0x110000 else ""
