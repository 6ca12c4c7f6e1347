"""What a task's tools may do: path globs for files, command patterns for bash. Deny always wins.

Paths are judged as real paths relative to the workspace, so that a link is judged by where it leads.
Globs are gitignore's: `tests/**`, `*.pem` at any depth, `/setup.py` at the root; a later `!glob` in a deny
list takes an exception out. Without an allow list everything is allowed.

Command patterns are shell globs over one simple command with its blanks normalised: `git push*`. A command
line is split into the simple commands that it holds, those behind `sudo`, `env`, `xargs`, `bash -c`, `eval`
and the like included. Under sandbox `none` this is a guard rail, not a wall: whoever may run commands can
always hide one (a variable, a script, another language). What must not happen has to be impossible in the
sandbox. An allow list is strict: each simple command must match as it is written, output may be redirected
to /dev/null only, and what the shell expands may neither run what a value says nor become an option.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterable, Sequence
from fnmatch import translate
from functools import lru_cache
from posixpath import normpath
from typing import TYPE_CHECKING, Any, Protocol

from msgspec import Struct

from pi_batch.command_forms import HEADERS, RESERVED, CommandForms, normal
from pi_batch.command_line import CommandLine, SimpleCommand, split_command_line

if TYPE_CHECKING:  # the search worker needs only the rules
    from pi_batch.spec import PathRules, PermissionsSpec

_RUN_OR_WRITE = frozenset(
    {"--output", "--ext-diff", "--open-files-in-pager", "--exec", "--upload-pack", "--receive-pack"}
    | {"--exec-path", "--config-env", "--to-command", "--checkpoint-action", "--use-compress-program"}
    | {"--compress-program", "--rsh", "--pager", "--pre", "-exec", "-execdir", "-ok", "-okdir", "-delete"}
    | {"-fprint", "-fprint0", "-fprintf", "-fls"}
)
"""Options of common programs that read (git, find, tar, sort, rg) which make them run or write something."""
_ONLY_READ = frozenset(
    {"basename", "cat", "cd", "cksum", "cmp", "cut", "df", "dirname", "du", "echo", "egrep", "false", "fgrep"}
    | {"grep", "head", "ls", "md5sum", "mkdir", "nl", "pwd", "sha1sum", "sha256sum", "stat", "tail", "tr"}
    | {"true", "wc"}
)
"""Programs without an option that runs something or writes another file, whatever their words become."""
_EVALUATED = {
    **dict.fromkeys(("printf", "test", "["), frozenset({"-v"})),
    "[[": frozenset({"-v", "-eq", "-ne", "-lt", "-le", "-gt", "-ge"}),
}
"""Words with which the shell itself takes a text for a variable's name or a sum, and runs what is in it."""
_LOOP_NAME = re.compile(r"[a-z][a-z0-9_]*")
_SHORTEST_BEGINNING = 4
_HARMLESS_TARGETS = frozenset({"/dev/null", "/dev/stdout", "/dev/stderr"})


class Globs(Protocol):
    """Allow and deny lists: `spec.PathRules`, or the search worker's copy of one."""

    @property
    def allow(self) -> Sequence[str] | None:
        """None: everything is allowed."""
        ...

    @property
    def deny(self) -> Sequence[str]:
        """Wins over `allow`."""
        ...


class Denial(Struct, frozen=True):
    """Why a call is refused."""

    rule: str
    """`permissions.write.deny: tests/**`"""
    reason: str
    """For the model."""


def check_path(rules: Globs, path_relative: str) -> str | None:
    """The rule that forbids a path, as `deny: GLOB` or `allow: GLOBS`; None when it is allowed.

    path_relative: POSIX path relative to the workspace. A path outside (absolute, or up through ..) is
    matched by deny globs that name no directory, and by no allow list: whether it may be reached at all is
    the workspace's own rule.
    """
    path = normpath(path_relative)
    is_outside = path.startswith(("/", "../")) or path == ".."
    for glob in reversed(rules.deny):
        is_match, is_exception = _glob_match(glob, path, is_outside)
        if is_match:
            if is_exception:
                break
            return f"deny: {glob}"
    if rules.allow is None or is_outside:
        return None
    if any(_glob_match(glob, path, is_outside=False) == (True, False) for glob in rules.allow):
        return None
    return f"allow: {', '.join(rules.allow) or 'nothing'}"


def check_command(rules: PathRules, command: str) -> str | None:
    """The rule that forbids a command line, as `deny: PATTERN` or `allow: …`; None when it is allowed."""
    line = split_command_line(command)
    if rules.deny:
        forms = CommandForms(command, line)
        for pattern in rules.deny:
            if any(_command_regex(pattern).match(text) for text in forms.texts):
                return f"deny: {pattern}"
        if not forms.is_complete:
            return "deny: too many commands within commands to judge them all"
    return None if rules.allow is None else _outside_allow_list(rules.allow, line)


def check_call(
    permissions: PermissionsSpec, tool: str, arguments: Any, resolved_paths: Sequence[str]
) -> Denial | None:
    """What the permissions say to a call whose arguments are in order.

    resolved_paths: the real paths that the call names, relative to the workspace. Read rules govern read,
    grep, find and ls; write rules govern write and edit; an edit shows the text around it, so what may not
    be read can't be edited either. For a directory that is searched or listed an allow list decides file
    by file: the tools leave out what the rules hide.
    """
    match tool:
        case "bash":
            return _command_denial(permissions.bash, arguments)
        case "read" | "grep" | "find" | "ls":
            is_search = tool != "read"
            return _path_denial("read", permissions.read, resolved_paths, is_search=is_search)
        case "write":
            return _path_denial("write", permissions.write, resolved_paths)
        case "edit":
            return _path_denial("write", permissions.write, resolved_paths) or _path_denial(
                "read", permissions.read, resolved_paths
            )
        case _:
            return None


def _path_denial(
    kind: str, rules: PathRules, paths: Iterable[str], *, is_search: bool = False
) -> Denial | None:
    for path in paths:
        rule = check_path(rules, path)
        if rule is None or (is_search and rule.startswith("allow") and _may_hold(rules, path)):
            continue
        done = "written" if kind == "write" else "read"
        rule_name = f"permissions.{kind}.{rule}"
        return Denial(rule_name, f"Denied by {rule_name}. {path} may not be {done}; do the task without it.")
    return None


def _command_denial(rules: PathRules, arguments: Any) -> Denial | None:
    rule = check_command(rules, str(arguments.command))
    if rule is None:
        return None
    rule_name = f"permissions.bash.{rule}"
    return Denial(rule_name, f"Denied by {rule_name}. The command was not run; do the task without it.")


# --- paths ----------------------------------------------------------------------------------------


def _glob_match(glob: str, path: str, is_outside: bool) -> tuple[bool, bool]:
    """(matches, is an exception). Outside the workspace only globs without a directory say anything."""
    mark = "!" if glob.startswith("!") else ""
    regex, include = gitignore_regex(mark + glob.removeprefix("!").removeprefix("./"))
    if regex is None or path == "." or (is_outside and "/" in glob.rstrip("/")):
        return False, False
    return regex.search(path.lstrip("/")) is not None, not include


@lru_cache(maxsize=4096)
def gitignore_regex(line: str) -> tuple[re.Pattern[str] | None, bool]:
    """A line of an ignore file: the expression to search paths with, and False where it takes out (`!`).

    (None, True) for a line that says nothing: blank, a comment, or a pattern that makes no sense.
    """
    from pathspec import GitIgnoreSpec

    try:
        with warnings.catch_warnings():  # of `re`, about sets such as [[]
            warnings.simplefilter("ignore")
            patterns = list(GitIgnoreSpec.from_lines([line]).patterns)
    except (ValueError, re.error):
        return None, True
    for pattern in patterns:
        regex = getattr(pattern, "regex", None)
        if isinstance(regex, re.Pattern) and pattern.include is not None:
            return regex, bool(pattern.include)
    return None, True


def _may_hold(rules: PathRules, path: str) -> bool:
    """Whether a directory can hold something that the allow list names."""
    path = normpath(path)
    for glob in rules.allow or ():
        fixed = re.split(r"[*?\[]", glob.removeprefix("./").lstrip("/"), maxsplit=1)[0].rpartition("/")[0]
        if "/" not in glob.rstrip("/") or not fixed or path in (".", fixed):
            return True
        if fixed.startswith(f"{path}/") or path.startswith(f"{fixed}/"):
            return True
    return False


# --- commands -------------------------------------------------------------------------------------


@lru_cache(maxsize=512)
def _command_regex(pattern: str) -> re.Pattern[str]:
    """A shell glob over the whole command; a last ` *` also stands for no argument at all."""
    text = normal(pattern)
    if text.endswith(" *"):
        return re.compile(f"{translate(text[:-2])}|{translate(text)}")
    return re.compile(translate(text))


def _named_option(word: str) -> str | None:
    """The option of _RUN_OR_WRITE that a word gives, or a beginning that git and others complete to it."""
    name = word.partition("=")[0]
    if name in _RUN_OR_WRITE:
        return name
    if not name.startswith("--") or len(name) < _SHORTEST_BEGINNING:
        return None
    return next((option for option in sorted(_RUN_OR_WRITE) if option.startswith(name)), None)


def _outside_allow_list(allow: Sequence[str], line: CommandLine) -> str | None:
    """Why a line is not covered by the allow list; None when every command of it is."""
    if not line.is_whole:
        return "allow: the command line has an open quote, substitution or here-document"
    if line.expansions:
        return f"allow: {line.expansions[0]!r} may run what a value says; use plain $NAME or ${{NAME}}"
    patterns = [_command_regex(pattern) for pattern in allow]
    for command in line.commands:
        if (complaint := _in_doubt(allow, command)) is not None:
            return complaint
        words = [*command.words]
        while words and words[0] in RESERVED:
            del words[0]
        text = normal(" ".join(words))
        if words and words[0] not in HEADERS and not any(pattern.match(text) for pattern in patterns):
            return f"allow: {', '.join(allow) or 'nothing'} does not cover {text[:80]!r}"
        for word in words[1:]:
            option = _named_option(word)
            if option and not any(option in pattern for pattern in allow):
                return f"allow: {word[:80]!r} makes a command run or write something; allow it by name"
        for target in command.written_to:
            if target not in _HARMLESS_TARGETS:
                return f"allow: output may not be redirected to {target[:80]!r}"
    return None


def _in_doubt(allow: Sequence[str], command: SimpleCommand) -> str | None:
    """What of a command is only known once the shell has expanded it, and could be more than is allowed."""
    words = [word for word in command.words if word not in RESERVED]
    if words[:1] == ["for"] and len(words) > 1 and not _LOOP_NAME.fullmatch(words[1]):
        return f"allow: {words[1][:80]!r} may be a variable that programs go by; loop over a lower-case name"
    if not words or words[0] in HEADERS or words[0] in _ONLY_READ:
        return None
    evaluated = _EVALUATED.get(words[0], frozenset()) & {*words[1:]}
    if evaluated:
        return f"allow: {min(evaluated)!r} of {words[0]} may run what a text says; compare texts"
    for index in command.doubtful:
        word = command.words[index]
        is_path = words[0] == "git" and "--" in command.words[:index]
        if not is_path and not any(word in pattern for pattern in allow):
            return f"allow: {word[:80]!r} may become an option that runs or writes something; write it out"
    return None
