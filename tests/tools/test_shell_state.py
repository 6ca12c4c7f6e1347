"""The text that carries a shell's state: what is believed, what is passed on."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pi_batch.tools.shell_state import MAX_STATE_BYTES, Saved, ShellState, environment, parse_saved, prelude

WHOLE = (
    b'ready t\0/d\n\0declare -- A="1"\ndeclare -ir BASHPID="2"\ndeclare -x B\n\0'
    b"g () { :; }\n\0declare -f f\ndeclare -fx g\n\0complete t"
)


def test_a_whole_state_is_believed() -> None:
    assert parse_saved(WHOLE, "t") == Saved(
        True,
        ShellState(
            "/d",
            b'declare -- A="1"\ndeclare -x B\ng () { :; }\n\nbuiltin declare -fx g',
            frozenset({"A", "B"}),
        ),
    )


@pytest.mark.parametrize(
    ("raw", "is_ready"),
    [
        (b"", False),
        (b"ready t\0", True),
        (WHOLE[:-1], True),
        (WHOLE + b"\n", True),
        (WHOLE.replace(b"ready t", b"ready u"), False),
        (WHOLE.replace(b"complete t", b"complete u"), True),
        (WHOLE.replace(b"\0g", b"\0\0g"), True),
        (WHOLE.replace(b'"1"', b'"1'), True),
        (WHOLE.replace(b"declare -x B", b"B=1"), True),
    ],
)
def test_a_state_that_is_not_whole_or_not_this_calls_own_is_not(raw: bytes, is_ready: bool) -> None:
    assert parse_saved(raw, "t") == Saved(is_ready, None)


def test_a_state_that_is_too_large_is_told() -> None:
    assert parse_saved(b"ready t\0" + b"x" * MAX_STATE_BYTES, "t") == Saved(True, None, too_large=True)


@given(st.binary(max_size=200))
def test_any_bytes_at_all_are_read_without_an_error(raw: bytes) -> None:
    assert parse_saved(raw, "t").state is None


VALUES = {
    "plain": "x",
    "lines": 'a\ndeclare -- forged="1"\nb',
    "quotes": 'it\'s "so" `here` $(there) \\',
    "control": "\x01\t\x1b[0m'\\'",
    "bytes": "\udcff\udcfe",
    "empty": "",
}


@pytest.mark.parametrize("value", VALUES.values(), ids=VALUES.keys())
def test_a_value_comes_back_as_it_was_whatever_is_in_it(tmp_path: Path, value: str) -> None:
    """As a variable, in a list, and as key and value of a table."""
    state: ShellState | None = None
    env = {"PATH": os.environ["PATH"], "VALUE": value}
    set_all = 'one=$VALUE; list=(1 "$VALUE"); declare -A table=(["k$VALUE"]="$VALUE")'
    tell_all = 'printf "%s\\0" "$one" "${list[1]}" "${!table[@]}" "${table[@]}" "${forged-}"'
    for command in (set_all, tell_all):
        file, out = tmp_path / "prelude", tmp_path / "out"
        file.write_bytes(prelude(state, command, str(out), "t", env))
        told = subprocess.run(
            ["bash", "--noprofile", "--norc", "-c", command],
            env=environment(env, state, "/", str(file)),
            capture_output=True,
            check=True,
        ).stdout
        state = parse_saved(out.read_bytes(), "t").state
        assert state is not None
    raw = os.fsencode(value)
    assert told.split(b"\0") == [raw, raw, b"k" + raw, raw, b"", b""]


def test_only_what_the_shell_had_and_lost_is_taken_out_of_the_environment() -> None:
    env = {"KEPT": "1", "GONE": "2", "not-a-name": "3", "PI_BATCH_X": "4", "SHLVL": "5", "PWD": "/old"}
    state = ShellState("/d", b"", frozenset({"KEPT"}))
    kept = {"KEPT": "1", "not-a-name": "3", "PI_BATCH_X": "4", "SHLVL": "5", "PWD": "/d", "BASH_ENV": "/p"}
    assert environment(env, state, "/d", "/p") == kept
    assert environment(env, None, "/d", "/p") == {**kept, "GONE": "2"}


@pytest.mark.parametrize("bash_env", [None, "/etc/x 'y'\n"])
def test_a_prelude_gives_bash_env_back_and_quotes_every_path(tmp_path: Path, bash_env: str | None) -> None:
    out = tmp_path / "o'u t\n$(x)"
    state = ShellState("/", b"greeting='it'\\''s'", frozenset({"greeting"}))
    file = tmp_path / "prelude"
    command = 'printf "%s|" "$greeting" "${BASH_ENV-unset}"'
    file.write_bytes(
        prelude(state, command, str(out), "t", {} if bash_env is None else {"BASH_ENV": bash_env})
    )
    shown = subprocess.run(
        ["bash", "-c", command], env={"BASH_ENV": str(file)}, stdout=subprocess.PIPE, check=True
    )
    assert shown.stdout.decode() == f"it's|{'unset' if bash_env is None else bash_env}|"
    saved = parse_saved(out.read_bytes(), "t").state
    assert saved is not None
    assert "greeting" in saved.names
    assert b"it's" in saved.script
