"""Children get what is allowed by name, and nobody is ever asked anything."""

from __future__ import annotations

import subprocess

from pi_batch.environment import FALLBACK_PATH, PINNED, child_environment

SECRETS = {"OPENAI_API_KEY": "sk-1", "GITHUB_TOKEN": "ghs_1", "ACTIONS_ID_TOKEN_REQUEST_TOKEN": "t"}


def test_only_allowed_variables_pass() -> None:
    child = child_environment({"PATH": "/bin", "FOO": "1", **SECRETS}, ["PATH", "FOO"], "/s")
    assert child["PATH"] == "/bin"
    assert child["FOO"] == "1"
    assert not set(SECRETS) & set(child)


def test_a_variable_passed_by_name_wins_over_what_is_pinned() -> None:
    assert child_environment({"TERM": "xterm"}, ["TERM"], "/s")["TERM"] == "xterm"
    assert child_environment({"TERM": "xterm"}, [], "/s")["TERM"] == "dumb"


def test_what_a_shell_needs_is_there_even_if_nothing_is_allowed() -> None:
    child = child_environment({}, [], "/scratch")
    assert child["PATH"] == FALLBACK_PATH
    assert (child["HOME"], child["TMPDIR"], child["LANG"]) == ("/scratch", "/scratch", "C.UTF-8")


def test_git_of_the_caller_never_reaches_children() -> None:
    outer = {"GIT_DIR": "/outer/.git", "GIT_INDEX_FILE": "/outer/index", "GIT_WORK_TREE": "/outer"}
    child = child_environment({"PATH": "/bin", **outer}, ["PATH", "HOME", "LANG"], "/s")
    assert not set(outer) & set(child)


def test_git_fails_fast_instead_of_asking() -> None:
    child = child_environment({"PATH": "/usr/bin:/bin"}, ["PATH"], "/tmp")
    done = subprocess.run(
        ["git", "credential", "fill"],
        input=b"protocol=https\nhost=example.invalid\n\n",
        env=child,
        capture_output=True,
        timeout=10,
        check=False,
    )
    assert b"password=secret" not in done.stdout


def test_every_pinned_variable_is_text() -> None:
    assert all(isinstance(value, str) and value for value in PINNED.values())
