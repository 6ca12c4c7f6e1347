"""What a model is told when its old text is not in the file."""

from __future__ import annotations

import pytest

from pi_batch.tools.edit_hint import MAX_LOOKED_AT, missing_hint

FILE = """import os


def first(value):
    if value:
\t\treturn "it’s — fine"
    return None


def second(value):
    return compute_the_total(value, rate=0.25)
"""


@pytest.mark.parametrize(
    ("old", "expected"),
    [
        pytest.param(
            "def first(value):\n  if value:", "indentation or blanks differ", id="wrong-indentation"
        ),
        pytest.param("        return None", "Nearest is line 7:\n    return None", id="too-much-indentation"),
        pytest.param('return "it\'s — fine"', "U+2019", id="straight-quote"),
        pytest.param('return "it’s - fine"', "U+2014 EM DASH", id="plain-dash"),
        pytest.param("1: import os\n2: \n3: \n4: def first(value):", "line numbers", id="numbered-lines"),
        pytest.param("     4\tdef first(value):", "line numbers", id="cat-n"),
        pytest.param("import os\\n\\n\\ndef first", "escaped once too often", id="escaped-newlines"),
        pytest.param('return \\"it’s', "escaped once too often", id="escaped-quote"),
        pytest.param("it\ufffds", "\ufffd", id="replacement-character"),
        pytest.param(
            "    return compute_total(value, rate=0.25)",
            "    return compute_the_total(value, rate=0.25)",
            id="near-line",
        ),
        pytest.param("if value:\n\t\treturn 'x'\n    return None", "Nearest is lines", id="near-lines"),
    ],
)
def test_the_difference_is_named(old: str, expected: str) -> None:
    assert expected in missing_hint(FILE, old)


@pytest.mark.parametrize("old", ["zzz qqq", "\n\n\n\n\n\n\n\n", "   ", "…", "}"])
def test_nothing_is_said_when_nothing_comes_near(old: str) -> None:
    assert missing_hint(FILE, old) == ""


def test_lines_of_the_file_are_shown_as_they_are() -> None:
    hint = missing_hint("a\n\tvalue = 1\nb\n", "  value = 1")
    assert "Nearest is line 2:\n\tvalue = 1\n" in hint


def test_what_is_shown_is_bounded() -> None:
    wide = "word " * 10_000
    text = "\n".join([wide] * 50)
    hint = missing_hint(text, "\n".join(["word  " * 10_000] * 50))
    assert len(hint) < 4000


def test_undecodable_bytes_are_shown_as_valid_text() -> None:
    text = b"caf\xe9  = 1\n".decode("utf-8", "surrogateescape")
    missing_hint(text, " = 1 and more caf").encode()
    missing_hint(text, "   = 1").encode()


def test_only_the_start_of_a_large_file_is_looked_at() -> None:
    text = "ordinary words\n" * MAX_LOOKED_AT + "an unusual line of text\n"
    assert missing_hint(text, "an unusual line  of text") == ""
    assert "Nearest" in missing_hint(text[15:], "an unusual line  of text")
