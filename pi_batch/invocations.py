"""Which programs a shell command starts, read leniently: enough to know what kind of check it is.

This is no security boundary. What cannot be read (command substitution, loops built from variables) is
left out, and whoever asks must be safe without it.
"""

from __future__ import annotations

import posixpath
import re
import shlex
from collections.abc import Collection, Iterator, Sequence

from msgspec import Struct, field

SHELLS = frozenset({"sh", "bash", "dash", "zsh", "ksh"})
PREFIXES = frozenset(
    {"env", "timeout", "time", "nice", "ionice", "nohup", "sudo", "command", "exec", "builtin", "stdbuf"}
    | {"setsid", "xvfb-run", "!", "if", "while", "until", "then", "else", "do", "{", "npx", "bunx", "uvx"}
)
"""Words that stand before a program and change nothing of what it is."""
RUN_TOOLS = frozenset({"uv", "poetry", "pipenv", "pdm", "hatch", "rye", "coverage", "pixi", "conda"})
"""`TOOL run PROGRAM`."""
EXEC_TOOLS = frozenset({"pnpm", "yarn", "npm", "bundle"})
"""`TOOL exec PROGRAM`."""
SEPARATORS = frozenset("();<>|&\n")
# Options whose value is a word of its own.
PREFIX_VALUES = frozenset({"-u", "-C", "-k", "-s", "-n", "-c"})
PYTHON_VALUES = frozenset({"-W", "-X"})
SHELL_VALUES = frozenset({"-o", "+o", "--rcfile", "--init-file"})
TOOL_VALUES = frozenset(
    {"--source", "--include", "--omit", "--rcfile", "--with", "--python", "--group", "--extra", "--project"}
    | {"--directory", "-p", "-C", "-n"}
)

_ASSIGNMENT = re.compile(r"[A-Za-z_][A-Za-z0-9_]*\+?=")
_NUMBER = re.compile(r"[\d.]+[smhd]?")
_PYTHON = re.compile(r"(?:python|pypy)[\d.]*")


class Invocation(Struct, frozen=True):
    """One program that a command starts."""

    program: str
    """Without its directory; of `python -m NAME` the NAME."""
    words: tuple[str, ...]
    """The program as written, then its arguments."""
    cwd: str = ""
    """Relative to where the command starts, after the `cd`s before it."""
    script: str | None = None
    """The file of the tree that is executed, relative to where the command starts."""
    via: tuple[str, ...] = field(default=())
    """Tools that start it: poetry, coverage, …"""


def invocations(command: str) -> tuple[Invocation, ...]:
    """The programs that a shell command starts, in order."""
    found: list[Invocation] = []
    cwd = ""
    for words in _simple_commands(command):
        if words[0] == "cd" and len(words) > 1:
            cwd = posixpath.normpath(posixpath.join(cwd, words[-1])).removeprefix("./")
            cwd = "" if cwd == "." else cwd
            continue
        found += _read(words, cwd, ())
    return tuple(found)


def _simple_commands(command: str) -> Iterator[list[str]]:
    """The command's words, cut at operators; targets of redirections are left out."""
    words: list[str] = []
    is_target = False
    for token in _tokens(command):
        if token and set(token) <= SEPARATORS:
            is_target = set(token) & {"<", ">"} != set()
            if not is_target and words:
                yield words
                words = []
        elif is_target:
            is_target = False
        else:
            words.append(token)
    if words:
        yield words


def _tokens(command: str) -> list[str]:
    lexer = shlex.shlex(command.replace("\\\n", " "), posix=True, punctuation_chars="();<>|&\n")
    lexer.whitespace = " \t\r"
    lexer.whitespace_split = True
    lexer.commenters = ""
    try:
        return list(lexer)
    except ValueError:
        return command.split()


def _read(words: Sequence[str], cwd: str, via: tuple[str, ...]) -> Iterator[Invocation]:
    """The invocation behind prefixes, run tools, interpreters and inner shells."""
    rest = list(words)
    while rest and (rest[0] in PREFIXES or _ASSIGNMENT.match(rest[0])):
        was_prefix = rest.pop(0) in PREFIXES
        rest = _without_options(rest, PREFIX_VALUES, numbers=True) if was_prefix else rest
    if not rest:
        return
    program, arguments = posixpath.basename(rest[0]), rest[1:]
    if program in SHELLS:
        yield from _read_shell(program, rest, cwd, via)
    elif (program in RUN_TOOLS and "run" in arguments[:1]) or (
        program in EXEC_TOOLS and "exec" in arguments[:1]
    ):
        yield from _read_tool(arguments, cwd, (*via, program))
    elif _PYTHON.fullmatch(program):
        yield _read_python(program, rest, cwd, via)
    elif program in {"source", "."} and arguments:
        yield Invocation(program, tuple(rest), cwd, _in_tree(arguments[0], cwd), via)
    else:
        script = _in_tree(rest[0], cwd) if "/" in rest[0] else None
        yield Invocation(program, tuple(rest), cwd, script, via)


def _read_tool(arguments: Sequence[str], cwd: str, via: tuple[str, ...]) -> Iterator[Invocation]:
    rest = _without_options(arguments[1:], TOOL_VALUES, stop_at="m")
    if rest[:1] == ["-m"] or (rest and rest[0].endswith(".py")):
        rest = ["python", *rest]
    yield from _read(rest, cwd, via)


def _read_shell(program: str, words: Sequence[str], cwd: str, via: tuple[str, ...]) -> Iterator[Invocation]:
    for at, word in enumerate(words[1:], start=1):
        if word.startswith("-") and not word.startswith("--") and word.endswith("c") and at + 1 < len(words):
            inner = f"cd {shlex.quote(cwd)}\n{words[at + 1]}" if cwd else words[at + 1]
            yield from invocations(inner)
            return
    rest = _without_options(words[1:], SHELL_VALUES)
    script = _in_tree(rest[0], cwd) if rest else None
    yield Invocation(program, tuple(words), cwd, script, via)


def _read_python(program: str, words: Sequence[str], cwd: str, via: tuple[str, ...]) -> Invocation:
    rest = _without_options(words[1:], PYTHON_VALUES, stop_at="mc")
    if len(rest) > 1 and rest[0].startswith("-") and rest[0].endswith("m"):
        module = rest[1].split(".")[0] if rest[1].startswith("unittest.") else rest[1]
        if module == "coverage" and rest[2:3] == ["run"]:
            inner = tuple(_read_tool(rest[2:], cwd, (*via, "coverage")))
            return inner[0] if inner else Invocation(module, tuple(rest[1:]), cwd, None, via)
        return Invocation(module, tuple(rest[1:]), cwd, None, via)
    script = _in_tree(rest[0], cwd) if rest and not rest[0].startswith("-") else None
    return Invocation(program, tuple(words), cwd, script, via)


def _without_options(
    words: Sequence[str], with_value: Collection[str], *, stop_at: str = "", numbers: bool = False
) -> list[str]:
    """The words from the first that is no option; short options ending in `stop_at` end the search."""
    at = 0
    while at < len(words):
        word = words[at]
        if len(word) > 1 and word[0] in "-+":
            if not word.startswith("--") and word[-1] in stop_at:
                break
            at += 2 if word in with_value else 1
        elif numbers and (_NUMBER.fullmatch(word) or _ASSIGNMENT.match(word)):
            at += 1
        else:
            break
    return list(words[at:])


def _in_tree(path: str, cwd: str) -> str | None:
    """The path relative to where the command starts; None when it leads out of there."""
    whole = posixpath.normpath(posixpath.join(cwd, path))
    return None if whole.startswith(("/", "..")) else whole
