"""Every form of a command that a deny pattern is held against."""

from __future__ import annotations

import pytest

from pi_batch.command_forms import MAX_COMMANDS, CommandForms, normal
from pi_batch.command_line import split_command_line


def forms(command: str) -> set[str]:
    return CommandForms(command, split_command_line(command)).texts


@pytest.mark.parametrize(
    ("command", "expected"),
    [
        ("a  b", {"a b"}),
        ("X=1 a", {"X=1 a", "a"}),
        ("/bin/a b", {"/bin/a b", "a b"}),
        ("sudo a b", {"sudo a b", "a b", "b"}),
        ("git -C d push", {"git -C d push", "git push"}),
        ("if a; then b; fi", {"if a; then b; fi", "if a", "a", "then b", "b", "fi"}),
        ("sh -c 'a; b'", {"sh -c 'a; b'", "sh -c a; b", "a", "b"}),
        ("eval a b", {"eval a b", "a b"}),
        ("trap 'a b' EXIT", {"trap 'a b' EXIT", "trap a b EXIT", "a b"}),
    ],
)
def test_forms_of_a_command(command: str, expected: set[str]) -> None:
    assert forms(command) == expected


def test_an_unclosed_line_is_also_cut_at_every_separator() -> None:
    assert "git push" in forms("echo 'x; git push")
    assert "git push" in forms('$(a; git push | "')


def test_arguments_of_ordinary_commands_are_no_commands() -> None:
    assert "git push" not in forms("echo git push")
    assert "git push" not in forms("grep 'git push' file")


def test_what_a_shell_reads_from_others_counts() -> None:
    assert "git push" in forms("echo git push | sh")
    assert "git push" in forms("sh <<E\ngit push\nE")
    assert "git push" not in forms("echo git push | sh script.sh")
    assert "git push" not in forms("echo git push | cat")


def test_work_is_bounded_and_the_bound_is_said() -> None:
    few = CommandForms("a; b", split_command_line("a; b"))
    assert few.is_complete
    text = ";".join(f"c{number}" for number in range(MAX_COMMANDS + 1))
    assert not CommandForms(text, split_command_line(text)).is_complete


@pytest.mark.parametrize(("text", "expected"), [("a  b\t\nc", "a b c"), (" a ", "a"), ("", "")])
def test_blanks_are_made_single(text: str, expected: str) -> None:
    assert normal(text) == expected
