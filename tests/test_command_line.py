"""Command lines taken apart; bash is the judge of words."""

from __future__ import annotations

import shlex
import shutil
import subprocess

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from pi_batch.command_line import CommandLine, SimpleCommand, split_command_line


def words(text: str) -> list[tuple[str, ...]]:
    return [command.words for command in split_command_line(text).commands]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", []),
        ("a\\", [("a\\",)]),
        (" \t\n;;", []),
        ("a b  c", [("a", "b", "c")]),
        ("a;b&c&&d||e|f|&g\nh", [("a",), ("b",), ("c",), ("d",), ("e",), ("f",), ("g",), ("h",)]),
        ("'a b' \"c d\" e\\ f", [("a b", "c d", "e f")]),
        ("a'b'\"c\"d", [("abcd",)]),
        ("'' \"\"", [("", "")]),
        ('"a\\"b\\\\c\\$d\\e"', [('a"b\\c$d\\e',)]),
        ("'a\\'", [("a\\",)]),
        ("a\\\nb", [("ab",)]),
        ('"a\\\nb"', [("ab",)]),
        ("a # b; c\nd", [("a",), ("d",)]),
        ("a#b", [("a#b",)]),
        ("$'a\\tb\\x41\\101\\u00e9\\''", [("a\tbAAé'",)]),
        ('$"a"', [("$a",)]),
        ("a $b ${c:-d e}", [("a", "$b", "${c:-d", "e}")]),
        ("(a; b)", [("a",), ("b",)]),
        ("{ a; }", [("{", "a"), ("}",)]),
        ("$(a b) c", [("a", "b"), ("$(a b)", "c")]),
        ("x$(a)y", [("a",), ("x$(a)y",)]),
        ('"$(a "b c")"', [("a", "b c"), ('$(a "b c")',)]),
        ("$(a $(b))", [("b",), ("a", "$(b)"), ("$(a $(b))",)]),
        ("`a b`", [("a", "b"), ("`a b`",)]),
        ("`a \\`b\\``", [("b",), ("a", "`b`"), ("`a `b``",)]),
        ("a <(b c)", [("b", "c"), ("a", "<(b c)")]),
        ("$((1 + 2))", [("$((1 + 2))",)]),
        ("$(( (1) + 2 ))", [("$(( (1) + 2 ))",)]),
        ("$((a) ; b)", [("a",), ("b",), ("$((a) ; b)",)]),
        ("a > b c", [("a", "c")]),
        ("a 2>&1 >&2 2>/dev/null", [("a",)]),
        ("a 2 >b", [("a", "2")]),
        ("a '2'>b", [("a", "2")]),
        ("f() { a; }", [("f",), ("{", "a"), ("}",)]),
        ("é 日本", [("é", "日本")]),
    ],
)
def test_lines_are_split_as_a_shell_splits_them(text: str, expected: list[tuple[str, ...]]) -> None:
    line = split_command_line(text)
    assert [command.words for command in line.commands] == expected
    assert line.is_whole


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("a > b", ("b",)),
        ("a >> b", ("b",)),
        ("a >| b", ("b",)),
        ("a &> b", ("b",)),
        ("a &>> b", ("b",)),
        ("a 2> b > c", ("b", "c")),
        ("a <> b", ("b",)),
        ("a >& b", ("b",)),
        ("a >&2", ()),
        ("a 2>&-", ()),
        ("a < b", ()),
        ("a <&3", ()),
        ("> 'b c'", ("b c",)),
    ],
)
def test_targets_of_output_are_kept(text: str, written: tuple[str, ...]) -> None:
    (command,) = split_command_line(text).commands
    assert command.written_to == written


@pytest.mark.parametrize(
    ("text", "inputs", "commands"),
    [
        ("cat <<EOF\na\nb\nEOF\nc", ("a\nb",), [("cat",), ("c",)]),
        ("cat <<'EOF'\n$(x)\nEOF", ("$(x)",), [("cat",)]),
        ("cat <<EOF\n$(x)\nEOF", ("$(x)",), [("cat",), ("x",)]),
        ("cat <<\\EOF\n$(x)\nEOF", ("$(x)",), [("cat",)]),
        ("cat <<-EOF\n\ta\n\tEOF", ("\ta",), [("cat",)]),
        ("cat <<A <<B\n1\nA\n2\nB", ("1", "2"), [("cat",)]),
        ("cat <<EOF; d\na\nEOF", ("a",), [("cat",), ("d",)]),
        ("cat <<E | sort\na\nE", ("a",), [("cat",), ("sort",)]),
        ("cat <<< 'a b'", ("a b",), [("cat",)]),
        ("cat <<EOF\nit's\nEOF", ("it's",), [("cat",)]),
        ('cat <<EOF\n"$(x "y z")" "\nEOF', ('"$(x "y z")" "',), [("cat",), ("x", "y z")]),
        ("cat <<EOF\n`x` \\$(y)\nEOF", ("`x` \\$(y)",), [("cat",), ("x",)]),
    ],
)
def test_here_documents_are_inputs(
    text: str, inputs: tuple[str, ...], commands: list[tuple[str, ...]]
) -> None:
    line = split_command_line(text)
    assert line.inputs == inputs
    assert [command.words for command in line.commands] == commands
    assert line.is_whole


@pytest.mark.parametrize(
    "text",
    ["'a", '"a', "`a", "$(a", "$'a", "cat <<EOF\na", "cat <<EOF", '"$(a"', "<(a", "$(" * 20 + ")" * 20],
)
def test_what_never_ends_is_said(text: str) -> None:
    assert not split_command_line(text).is_whole


def test_the_result_is_a_value() -> None:
    assert split_command_line("a > b") == CommandLine((SimpleCommand(("a",), ("b",)),), (), (), is_whole=True)


@given(st.text("ab \n;&|()<>$`'\"\\{}#=", max_size=60))
def test_any_text_is_split(text: str) -> None:
    line = split_command_line(text)
    assert all(isinstance(word, str) for command in line.commands for word in command.words)


@given(st.lists(st.text(min_size=1, max_size=8), min_size=1, max_size=5))
def test_quoted_words_come_back_as_they_were(arguments: list[str]) -> None:
    assert words(" ".join(map(shlex.quote, arguments))) == [tuple(arguments)]


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("bash") is None, reason="bash is not installed")
@given(st.text("ab '\"\\\n", max_size=14))
def test_quotes_and_escapes_mean_what_bash_means(text: str) -> None:
    assume(not text.endswith("\\"))  # bash itself keeps such a backslash at one time and drops it at another
    line = split_command_line(f"printf '%s\\0' {text}")
    assume(line.is_whole)
    assume(len(line.commands) == 1)
    script = f"printf '%s\\0' {text}"
    done = subprocess.run(["bash", "-c", script], capture_output=True, text=True, check=False)
    assume(not done.stderr)
    expected = tuple(done.stdout.removesuffix("\0").split("\0"))
    assert line.commands[0].words[2:] == (expected if line.commands[0].words[2:] else ())
