"""Values in shell commands: one word each where that can be had, an error where it cannot."""

from __future__ import annotations

import shlex
import subprocess
from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from pi_batch.shell_words import Misplaced, mark, place_words, quote

V = mark(0)
EVIL = "x'; touch owned; $(touch owned) `touch owned` \"; touch owned #\ntouch owned"


def output(command: str, directory: Path) -> str:
    done = subprocess.run(
        ["bash", "-c", command],
        capture_output=True,
        check=False,
        cwd=directory,
        stdin=subprocess.DEVNULL,
        timeout=20,
    )
    return done.stdout.decode("utf-8", "replace")


def place(command: str) -> str:
    with pytest.raises(Misplaced) as caught:
        place_words(command, [EVIL])
    assert caught.value.number == 0
    return caught.value.place


# --- places where a value is a word ---------------------------------------------------------------


@pytest.mark.parametrize(
    "command",
    [
        f"printf %s {V}",
        f'x={V}; printf %s "$x"',
        f"printf %s {V} # a comment",
        f"# a comment\nprintf %s {V}",
        f"echo ${{#PATH}} >/dev/null; printf %s {V}",
        f"echo $# >/dev/null; printf %s {V}",
        f"echo a#b >/dev/null; printf %s {V}",
        f"echo 'it'\\''s' >/dev/null; printf %s {V}",
        f'echo "a \\" b ${{HOME}} `echo x`" >/dev/null; printf %s {V}',
        f"echo $'a\\'b' >/dev/null; printf %s {V}",
        f'printf %s "$(printf %s {V})"',
        f'printf %s "$( (printf %s {V}) )"',
        f"(printf %s {V})",
        f"{{ printf %s {V}; }}",
        f"cat <(printf %s {V})",
        f"cat <<EOF >/dev/null\na 'b\nEOF\nprintf %s {V}",
        f"cat <<'E F' >/dev/null\na \"b\nE F\nprintf %s {V}",
        f"cat <<-EOF >/dev/null\n\ta 'b\n\tEOF\nprintf %s {V}",
        f"cat <<A <<B >/dev/null\n'\nA\n\"\nB\nprintf %s {V}",
        f"if (( 1 < 2 )); then printf %s {V}; fi",
        f"echo $(( (1 + 2) * 3 )) >/dev/null; printf %s {V}",
        f"echo $((1<<2)) >/dev/null; printf %s {V}",
        f"case {V} in *) printf %s {V};; esac",
        f'for i in {V}; do printf %s "$i"; done',
        f'a=({V}); printf %s "${{a[0]}}"',
        f"[[ -n {V} ]] && printf %s {V}",
        f"echo ${{x:-'}}'}} >/dev/null; printf %s {V}",
        f"true \\\n  && printf %s {V}",
        f"printf '%s' {V}",
        f'printf "%s" {V}',
    ],
)
def test_a_value_is_one_word_that_bash_hands_on_unchanged(command: str, tmp_path: Path) -> None:
    assert output(place_words(command, [EVIL]), tmp_path) == EVIL
    assert not (tmp_path / "owned").exists()


def test_values_side_by_side_are_one_word(tmp_path: Path) -> None:
    assert output(place_words(f"printf '<%s>' {V}{mark(1)}-x", ["a b", "c'd"]), tmp_path) == "<a bc'd-x>"


def test_a_here_string_takes_a_value(tmp_path: Path) -> None:
    assert output(place_words(f"cat <<< {V}", [EVIL]), tmp_path) == EVIL + "\n"


def test_a_command_without_values_is_not_looked_at() -> None:
    command = "echo 'never closed"
    assert place_words(command, []) == command


@pytest.mark.timeout(30)
def test_a_long_command_is_scanned_in_strides() -> None:
    words = " ".join(["word"] * 50_000)
    assert place_words(f"echo '{'x' * 1_000_000}' {words} {V}", ["a b"]).endswith(" 'a b'")


def test_an_empty_value_is_an_empty_word(tmp_path: Path) -> None:
    assert output(place_words(f"printf '<%s>' a {V} b", [""]), tmp_path) == "<a><><b>"


# --- places where quoting would not hold ----------------------------------------------------------


@pytest.mark.parametrize(
    ("command", "where"),
    [
        (f"echo '{V}'", "inside single quotes"),
        (f'echo "{V}"', "inside double quotes"),
        (f'echo "a $x {V}"', "inside double quotes"),
        (f'bash -c "echo {V}"', "inside double quotes"),
        (f"bash -c 'echo {V}'", "inside single quotes"),
        (f"echo $'{V}'", "inside $'...' quotes"),
        (f'echo $"{V}"', "inside double quotes"),
        (f"echo `cat {V}`", "inside backticks"),
        (f'echo "`cat {V}`"', "inside backticks"),
        (f"echo ${{x:-{V}}}", "inside ${...}"),
        (f'echo "${{x:-{V}}}"', "inside ${...}"),
        (f"echo $(( 1 + {V} ))", "inside arithmetic"),
        (f"echo $(( (1 + {V}) ))", "inside arithmetic"),
        (f"echo $[ {V} ]", "inside arithmetic"),
        (f"echo $[ (1) )) {V} ]", "inside arithmetic"),
        (f"(( x = {V} ))", "inside arithmetic"),
        (f"true # {V}", "inside a comment"),
        (f"# {V}", "inside a comment"),
        (f"true;#{V}", "inside a comment"),
        (f"cat <<EOF\n{V}\nEOF", "inside a here-document"),
        (f"cat <<'EOF'\n{V}\nEOF", "inside a here-document"),
        (f"cat <<-EOF\n\tx\n\t{V}\n\tEOF", "inside a here-document"),
        (f"cat <<EOF; echo x\na\nb {V}", "inside a here-document"),
        (f"cat <<E{V}\nx", "in the end word of a here-document"),
        (f"echo ${V}", "behind a $"),
        (f"echo \\{V}", "behind a backslash"),
        (f'echo "\\{V}"', "behind a backslash"),
        (f'echo "$(case x in x) echo "{V}";; esac)"', "inside $(...) with a case in it"),
    ],
)
def test_a_value_is_refused_where_quoting_would_not_hold(command: str, where: str) -> None:
    assert place(command) == where


def test_the_refused_value_is_the_one_that_stands_there() -> None:
    with pytest.raises(Misplaced) as caught:
        place_words(f"echo {mark(0)} '{mark(1)}'", ["a", "b"])
    assert caught.value.number == 1


def test_quotes_end_where_bash_ends_them() -> None:
    assert place_words(f"echo 'a' {V} \"b\" {V}", ["v w"]) == "echo 'a' 'v w' \"b\" 'v w'"


# --- quoting --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("value", "word"),
    [
        ("plain", "plain"),
        ("a/b.c-d_e:f@g%h+i,j", "a/b.c-d_e:f@g%h+i,j"),
        ("", "''"),
        ("a b", "'a b'"),
        ("it's", "'it'\"'\"'s'"),
        ("A=b", "'A=b'"),
        ("-rf", "-rf"),
        ("~", "'~'"),
        ("*", "'*'"),
        ("caf\u00e9", "'caf\u00e9'"),
        ("a\nb", "'a\nb'"),
    ],
)
def test_a_quoted_value_is_readable(value: str, word: str) -> None:
    assert quote(value) == word


def test_a_value_is_never_an_assignment(tmp_path: Path) -> None:
    command = place_words(f"{V} true 2>/dev/null || printf refused", ["PATH=/nowhere"])
    assert output(command, tmp_path) == "refused"


values = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=30)


@given(values)
@example("'")
@example("a=b")
@example("\\")
@example("$'x'")
def test_quoting_is_undone_by_splitting(value: str) -> None:
    assert shlex.split(quote(value), comments=False) == [value]


@given(st.lists(values, min_size=1, max_size=3))
@settings(max_examples=25, deadline=None)
def test_bash_hands_every_value_on_unchanged(given_values: list[str]) -> None:
    command = "printf '%s\\0' " + " ".join(mark(number) for number in range(len(given_values)))
    done = subprocess.run(["bash", "-c", place_words(command, given_values)], capture_output=True, check=True)
    assert done.stdout.decode() == "".join(value + "\0" for value in given_values)


PIECES = [
    *(
        "'",
        '"',
        "`",
        "$(",
        ")",
        "(",
        "${x:-",
        "${",
        "}",
        "$((",
        "((",
        "))",
        "$[",
        "]",
        "\\",
        "#",
        " ",
        "\t",
        "\n",
    ),
    *("<<E", "<<-E", "<<'E'", "\nE\n", "<<<", "<(", ";", "|", "&&", "x", "case x in x)", ";;esac", "$", "$'"),
    *("echo ", "[[ ", " ]]", "{ ", "if ", "then ", "fi", "!", V, V, V),
]
PAYLOADS = [
    EVIL,
    "'; touch owned;'",
    '"; touch owned; "',
    "\ntouch owned\n",
    ") ; touch owned; (",
    "}; touch owned; {",
    "\nE\ntouch owned\n",
    "a[$(touch owned)]",
    "\\'; touch owned; \\'",
]


def assert_nothing_of_a_value_runs(directory: Path, command: str, value: str) -> None:
    """Whatever stands around it: either it is refused, or bash does not run what is in it."""
    try:
        placed = place_words(command, [value])
    except Misplaced:
        return
    output(placed, directory)
    assert not (directory / "owned").exists(), placed


@given(st.lists(st.sampled_from(PIECES), max_size=12), st.sampled_from(PAYLOADS))
@example(["'", V, "'"], PAYLOADS[1])
@example(["\\", "$", "$[", ")", V], PAYLOADS[0])
def test_nothing_of_a_value_runs(
    tmp_path_factory: pytest.TempPathFactory, chosen: list[str], value: str
) -> None:
    assert_nothing_of_a_value_runs(tmp_path_factory.mktemp("run"), "".join(chosen), value)


@pytest.mark.fuzz
@given(st.lists(st.sampled_from(PIECES), max_size=12), st.sampled_from(PAYLOADS))
@settings(max_examples=3000, deadline=None)
def test_nothing_of_a_value_runs_at_length(
    tmp_path_factory: pytest.TempPathFactory, chosen: list[str], value: str
) -> None:
    assert_nothing_of_a_value_runs(tmp_path_factory.mktemp("run"), "".join(chosen), value)
