"""Every form in which a command of a command line may be known: as written, unwrapped, and what it runs."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from posixpath import basename

from pi_batch.command_line import CommandLine, SimpleCommand, split_command_line

MAX_UNWRAPPINGS = 6
"""Commands within commands (`sudo sh -c "eval …"`) that are looked into."""
MAX_WORDS = 64
"""Words of one command that may begin a wrapped command."""
MAX_COMMANDS = 2000
"""Simple commands of one line that are looked at; a line that holds more is refused."""

RESERVED = frozenset(
    [
        "if",
        "then",
        "else",
        "elif",
        "do",
        "while",
        "until",
        "!",
        "{",
        "}",
        "fi",
        "done",
        "esac",
    ]
)
HEADERS = frozenset(["for", "case", "select"])
_SHELLS = frozenset(["sh", "bash", "dash", "ash", "zsh", "ksh", "mksh", "busybox"])
_WRAPPERS = frozenset(
    [
        "sudo",
        "doas",
        "env",
        "command",
        "builtin",
        "exec",
        "nohup",
        "time",
        "coproc",
        "function",
        "nice",
        "ionice",
        "timeout",
        "stdbuf",
        "setsid",
        "xargs",
        "parallel",
        "chroot",
        "watch",
        "strace",
        "ltrace",
        "flock",
        "su",
        "runuser",
        "script",
        "unshare",
        "nsenter",
        "find",
        "busybox",
        "chronic",
        "unbuffer",
    ]
)
_GIT_OPTIONS_WITH_VALUE = frozenset(
    [
        "-C",
        "-c",
        "--git-dir",
        "--work-tree",
        "--namespace",
        "--super-prefix",
        "--config-env",
        "--attr-source",
        "--exec-path",
    ]
)
_ASSIGNMENT = re.compile(r"[A-Za-z_]\w*(\[[^]]*\])?\+?=")


def normal(text: str) -> str:
    """With single blanks only."""
    return " ".join(text.split())


class CommandForms:
    """Every text that a deny pattern is held against, each command looked at once."""

    def __init__(self, command: str, line: CommandLine) -> None:
        self.texts = {normal(command)}
        self._seen: set[tuple[str, ...]] = set()
        if not line.is_whole:
            self.texts.update(map(normal, re.split(r"[;&|(){}`\n]+", command)))
        self._add_line(line, MAX_UNWRAPPINGS)

    @property
    def is_complete(self) -> bool:
        """False when the line holds more commands within commands than were looked at."""
        return len(self._seen) < MAX_COMMANDS

    def _add_line(self, line: CommandLine, depth: int) -> None:
        for command in line.commands:
            self._add_command(command.words, depth)
        if depth and any(_reads_commands(command) for command in line.commands):
            for text in (*line.inputs, *(" ".join(command.words[1:]) for command in line.commands)):
                self._add_line(split_command_line(text), depth - 1)

    def _add_command(self, words: tuple[str, ...], depth: int) -> None:
        """A simple command as written, without what stands before it, and what it would run in turn."""
        if words in self._seen or not self.is_complete:
            return
        self._seen.add(words)
        self.texts.add(normal(" ".join(words)))
        words = _without_prefixes(words)
        if not words:
            return
        program = basename(words[0])
        self.texts.update((normal(" ".join(words)), normal(" ".join((program, *words[1:])))))
        if program == "git":
            self.texts.add(normal(" ".join(("git", *_without_git_options(words[1:])))))
        if depth:
            for text in _nested_texts(program, words):
                self._add_line(split_command_line(text), depth - 1)
        if program in _WRAPPERS:
            for start in range(1, min(len(words), MAX_WORDS)):
                self._add_command(words[start:], depth)


def _nested_texts(program: str, words: Sequence[str]) -> Iterator[str]:
    """Command lines that are arguments of this command."""
    if program == "eval":
        yield " ".join(words[1:])
    elif program == "trap":
        yield from words[1:2]
    elif program == "alias":
        yield from (word.partition("=")[2] for word in words[1:])
    elif program in _SHELLS and _has_command_option(words):
        yield from (word for word in words[1:] if not word.startswith("-"))
    elif program in _WRAPPERS:
        yield from (word for word in words[1:] if " " in word or "\n" in word)
    elif program == "git":
        yield from (word.partition("=!")[2] for word in words if word.startswith("alias.") and "=!" in word)


def _has_command_option(words: Sequence[str]) -> bool:
    return any(re.fullmatch(r"-[A-Za-z]*c[A-Za-z]*", word) for word in words[1:])


def _reads_commands(command: SimpleCommand) -> bool:
    """Whether it is a shell that takes its commands from standard input."""
    words = _without_prefixes(command.words)
    while words and basename(words[0]) in _WRAPPERS:
        words = words[1:]
    if not words or basename(words[0]) not in _SHELLS or _has_command_option(words):
        return False
    operands = [word for word in words[1:] if not word.startswith(("-", "+"))]
    return not operands or "-s" in words or operands[0] == "/dev/stdin"


def _without_prefixes(words: tuple[str, ...]) -> tuple[str, ...]:
    """Without reserved words and assignments at the front."""
    for position, word in enumerate(words):
        if word not in RESERVED and not _ASSIGNMENT.match(word):
            return words[position:]
    return ()


def _without_git_options(words: Sequence[str]) -> Sequence[str]:
    position = 0
    while position < len(words) and words[position].startswith("-"):
        position += 2 if words[position] in _GIT_OPTIONS_WITH_VALUE else 1
    return words[position:]
