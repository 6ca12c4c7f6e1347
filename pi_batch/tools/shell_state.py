"""What a shell leaves for the next one: variables, functions, working directory.

Each call of a task has a bash of its own. BASH_ENV gives it a prelude, which brings back what the last
completed call left and saves again in an EXIT trap. What was saved is checked and then kept in memory: a
file that is damaged later harms nobody, and a state that stops a shell from starting is dropped.

Source: the Bash reference manual, 6.2 (BASH_ENV); 4.2, `declare -p` and `declare -f` as reusable input.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Mapping

from msgspec import Struct, field

MAX_STATE_BYTES = 4 * 1024 * 1024
"""What is larger is not kept: every call would write it and read it back."""

# Bash's own variables, set anew in every shell, and this program's. OPTIND: a second getopts would fail.
_NOT_KEPT = (
    "_", "BASH*", "COMP_*", "DIRSTACK", "EPOCH*", "EUID", "FUNCNAME", "GROUPS", "HISTCMD", "LINENO", "OPTIND",
    "PI_BATCH_*", "PIPESTATUS", "POSIXLY_CORRECT", "PPID", "PWD", "RANDOM", "SECONDS", "SHELLOPTS", "SHLVL",
    "SRANDOM", "UID", "__pi_batch_*",
)  # fmt: skip
_NOT_KEPT_PATTERN = re.compile("|".join(name.replace("*", ".*") for name in _NOT_KEPT))
_IDENTIFIER = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_QUOTED = rb""""[^"\\]*+(?:\\.[^"\\]*+)*+"|\$'[^'\\]*+(?:\\.[^'\\]*+)*+'"""
_DECLARATION = re.compile(
    rb"declare -[A-Za-z-]+ ([A-Za-z_][A-Za-z0-9_]*)(?:=(?:" + _QUOTED + rb"|[^\"'\n])*+)?(?:\n|\Z)", re.DOTALL
)
"""One variable as `declare -p` prints it; its value may hold line breaks within its quotes."""

# Comes after the state, so that functions named like builtins are there already: hence `builtin`. A function
# named `builtin` is never kept; only POSIX mode, where special builtins come first, can take it off.
_SAVE = r"""
__pi_batch_save() {
  __pi_batch_code=$?
  POSIXLY_CORRECT=1; unset -f builtin unset; unset -v POSIXLY_CORRECT
  builtin set +eufnvxTE
  builtin trap '' PIPE XFSZ
  builtin trap - DEBUG ERR RETURN
  builtin shopt -u nocasematch
  builtin unset -f trap __pi_batch_save
  {
    builtin printf '%s\0' @READY@
    builtin pwd
    builtin printf '\0'
    builtin declare -p
    builtin printf '\0'
    builtin declare -f
    builtin printf '\0'
    builtin declare -F
    builtin printf '\0%s' @COMPLETE@
  } >|@OUT@
  builtin return "$__pi_batch_code"
}
builtin trap '{ __pi_batch_save; } 2>/dev/null' EXIT
{ builtin printf '%s\0' @READY@ >|@OUT@; } 2>/dev/null
"""
# The command's own EXIT trap must not take the place of ours, so `trap` is wrapped; only where the command
# speaks of traps at all, and not for RETURN, which a wrapper would set for itself.
_TRAP = r"""
trap() {
  if (( BASH_SUBSHELL > 0 || $# < 2 )) || [[ $1 == -[lpP]* ]]; then
    builtin trap "$@"
    return
  fi
  [[ $1 == -- ]] && shift
  local __pi_batch_action=$1 __pi_batch_name __pi_batch_result=0
  shift
  for __pi_batch_name; do
    case $__pi_batch_name in
      EXIT|exit|SIGEXIT|0)
        [[ $__pi_batch_action == - ]] && __pi_batch_action=
        builtin trap -- "{ __pi_batch_save; } 2>/dev/null"$'\n'"$__pi_batch_action" EXIT ;;
      *) builtin trap -- "$__pi_batch_action" "$__pi_batch_name" ;;
    esac || __pi_batch_result=$?
  done
  return "$__pi_batch_result"
}
"""


class ShellState(Struct, frozen=True):
    """What the last completed call left."""

    cwd: str
    """As the shell spells it; it may be gone by now."""
    script: bytes = b""
    """Brings variables and functions back."""
    names: frozenset[str] = field(default_factory=frozenset)
    """The variables in it."""


class Saved(Struct, frozen=True):
    """What a call's shell wrote down."""

    is_ready: bool
    """True when the old state came back and the command was started."""
    state: ShellState | None
    """None when the shell did not come to its end, or left too much."""
    too_large: bool = False


def prelude(
    state: ShellState | None, command: str, out_path: str, token: str, env: Mapping[str, str]
) -> bytes:
    """What a shell runs before a command; it writes to `out_path`, marked with the call's token.

    What the environment brings is exported: the state exports again what still is.
    """
    script = state.script if state is not None else b""
    exported = _bytes_of(" ".join(name for name in env if state is not None and name in state.names))
    bash_env = env.get("BASH_ENV")
    restored = b"shopt -s extglob\n{ export -n %b; eval %b; } >/dev/null 2>&1\nbuiltin shopt -u extglob" % (
        exported,
        _quoted(script),
    )
    save = _filled(
        _SAVE,
        READY=shlex.quote(f"ready {token}"),
        COMPLETE=shlex.quote(f"complete {token}"),
        OUT=shlex.quote(out_path),
    )
    speaks_of_traps = "trap" in command or b"trap" in script
    sets_return = "RETURN" in command or b"RETURN" in script
    return b"\n".join(
        [
            b"unset -v BASH_ENV" if bash_env is None else b"BASH_ENV=" + _quoted(_bytes_of(bash_env)),
            restored if script else b"",
            _bytes_of(save),
            _TRAP.encode() if speaks_of_traps and not sets_return else b"",
        ]
    )


def parse_saved(raw: bytes, token: str) -> Saved:
    """What a shell wrote down; whatever does not carry the call's token at both ends counts as nothing."""
    parts = raw.split(b"\0")
    is_ready = parts[0] == f"ready {token}".encode()
    if len(raw) > MAX_STATE_BYTES:
        return Saved(is_ready, None, too_large=is_ready)
    if not is_ready or len(parts) != 6 or parts[5] != f"complete {token}".encode():
        return Saved(is_ready, None)
    _, cwd, variables, bodies, functions, _ = parts
    kept = _kept(variables)
    if kept is None:
        return Saved(is_ready, None)
    exported = [
        b"builtin " + line for line in functions.split(b"\n") if line and not line.startswith(b"declare -f ")
    ]
    script = b"".join([*kept.values(), bodies])
    return Saved(
        True, ShellState(_text_of(cwd.removesuffix(b"\n")), b"\n".join([script, *exported]), frozenset(kept))
    )


def _kept(variables: bytes) -> dict[str, bytes] | None:
    """What `declare -p` printed, by name, without what is not kept; None for what cannot be taken apart."""
    kept = {}
    at = 0
    while at < len(variables):
        found = _DECLARATION.match(variables, at)
        if found is None:
            return None
        name = found[1].decode("ascii")
        if not _NOT_KEPT_PATTERN.fullmatch(name):
            kept[name] = found[0]
        at = found.end()
    return kept


def environment(
    env: Mapping[str, str], state: ShellState | None, cwd: str, prelude_path: str
) -> dict[str, str]:
    """A shell's environment: without what was unset, with the prelude."""
    unset = {
        name
        for name in env
        if state is not None
        and name not in state.names
        and _IDENTIFIER.fullmatch(name)
        and not _NOT_KEPT_PATTERN.fullmatch(name)
    }
    kept = {name: value for name, value in env.items() if name not in unset}
    return {**kept, "PWD": cwd, "BASH_ENV": prelude_path}


def _filled(template: str, **values: str) -> str:
    """A template with each @NAME@ replaced."""
    return re.sub(r"@([A-Z_]+)@", lambda match: values[match[1]], template)


def _quoted(raw: bytes) -> bytes:
    """Bytes as one word of a shell."""
    return b"'" + raw.replace(b"'", b"'\\''") + b"'"


def _bytes_of(text: str) -> bytes:
    return text.encode("utf-8", "surrogateescape")


def _text_of(raw: bytes) -> str:
    return raw.decode("utf-8", "surrogateescape")
