"""YAML as this program reads it: text stays text, and nothing but plain YAML gets in."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from pi_batch.load.nodes import Fields, Items, Node, Scalar, Source
from pi_batch.load.problems import Problems
from pi_batch.load.yaml import MAX_BYTES, MAX_DEPTH, MAX_NODES, parse, read_yaml
from tests.load.loading import problem, problems, task, write

SOURCE = Source("a.yaml", Path("/a.yaml"), "0" * 64, Path("/"))


def plain(node: Node) -> object:
    match node:
        case Scalar():
            return node.text
        case Items():
            return [plain(item) for item in node.nodes]
        case Fields():
            return {entry.key: plain(entry.node) for entry in node.entries}


def parsed(text: str) -> object:
    found = Problems()
    node = parse(text, SOURCE, found)
    found.raise_if_any()
    assert node is not None
    return plain(node)


@pytest.mark.parametrize(
    "text", ["no", "yes", "on", "off", "012", "1.10", "0x1F", "1e3", "2026-01-01", "12:30:00", "True", "NO"]
)
def test_a_plain_scalar_keeps_its_text(text: str) -> None:
    assert parsed(f"key: {text}") == {"key": text}


@pytest.mark.parametrize(
    ("yaml", "text"),
    [
        ("'it''s'", "it's"),
        ('"tab\\there"', "tab\there"),
        ("|\n  one\n  two\n", "one\ntwo\n"),
        (">\n  one\n  two\n", "one two\n"),
        ("|-\n  \tindented by a tab\n", "\tindented by a tab"),
        ("caf\u00e9 \u2603 \U0001f600", "caf\u00e9 \u2603 \U0001f600"),
    ],
)
def test_every_style_of_text_is_read(yaml: str, text: str) -> None:
    assert parsed(f"key: {yaml}") == {"key": text}


def test_keys_are_text_too() -> None:
    assert parsed("{no: 1, 012: 2, ~: 3}") == {"no": "1", "012": "2", "~": "3"}


def test_every_node_knows_its_line() -> None:
    node = parse("a: 1\n\nb:\n  - x\n  - y\n", SOURCE, Problems())
    assert isinstance(node, Fields)
    second = node.entry("b")
    assert second is not None
    assert second.line == 3
    assert isinstance(second.node, Items)
    assert [item.line for item in second.node.nodes] == [4, 5]


def test_crlf_files_have_the_same_lines(tmp_path: Path) -> None:
    assert problem(tmp_path, b"prompt: x\r\nid: a\r\nverfiy: y\r\n").startswith("a.yaml:3: verfiy: ")


def test_a_byte_order_mark_is_no_part_of_the_first_key(tmp_path: Path) -> None:
    assert task(tmp_path, {"a.yaml": b"\xef\xbb\xbfprompt: x\n"}).spec.prompt == "x"


@pytest.mark.parametrize("text", ["", "\n", "# only a comment\n", "---\n# nothing\n", "--- \n...\n"])
def test_an_empty_file_says_what_it_needs(tmp_path: Path, text: str) -> None:
    line = problem(tmp_path, text)
    assert line.startswith("a.yaml:")
    assert "need a" in line


def test_an_empty_file_has_one_line(tmp_path: Path) -> None:
    assert problem(tmp_path, "") == "a.yaml:1: the file is empty, need a task or a suite"


def test_a_duplicate_key_names_both_lines(tmp_path: Path) -> None:
    lines = problem(tmp_path, "prompt: first\nid: a\nprompt: second\n")
    assert lines == "a.yaml:3: prompt: duplicate key, already on line 1"


def test_duplicate_keys_are_found_at_every_depth(tmp_path: Path) -> None:
    """Of two blocks with one key only the last was used in Abilityai/trinity#1884."""
    text = """
        tasks:
          - id: a
            prompt: first
            prompt: second
            verify: ['false']
        tasks:
          - id: b
            prompt: third
    """
    assert problems(tmp_path, text) == [
        "a.yaml:4: tasks[0].prompt: duplicate key, already on line 3",
        "a.yaml:6: tasks: duplicate key, already on line 1",
    ]


def test_a_quoted_key_is_the_same_key(tmp_path: Path) -> None:
    line = problem(tmp_path, "prompt: x\n'prompt': y\n")
    assert line == "a.yaml:2: prompt: duplicate key, already on line 1"


def test_aliases_and_anchors_are_named(tmp_path: Path) -> None:
    text = "prompt: &p x\ntitle: *p\n"
    assert problems(tmp_path, text) == [
        "a.yaml:1: &p: anchors are not supported, write the value out",
        "a.yaml:2: *p: aliases are not supported, write the value out",
    ]


def test_a_billion_laughs_are_not_laughed(tmp_path: Path) -> None:
    rows = ["a: &a [x, x, x, x, x, x, x, x, x]"]
    rows += [
        f"{name}: &{name} [{', '.join(['*' + before] * 9)}]"
        for before, name in zip("abcdefgh", "bcdefghi", strict=True)
    ]
    lines = problems(tmp_path, "prompt: x\n" + "\n".join(rows) + "\n")
    assert "a.yaml:2: &a: anchors are not supported, write the value out" in lines


def test_merge_keys_are_named(tmp_path: Path) -> None:
    lines = problems(tmp_path, "prompt: x\nbudget:\n  <<: {turns: 3}\n")
    assert lines == ["a.yaml:3: budget.<<: merge keys are not supported, use a suite's defaults:"]


@pytest.mark.parametrize(
    ("value", "tag"),
    [
        ("!!str x", "!!str"),
        ("!mine x", "!mine"),
        ("!!python/object/apply:os.system [x]", "!!python/object/apply:os.system"),
    ],
)
def test_tags_are_named(tmp_path: Path, value: str, tag: str) -> None:
    lines = problems(tmp_path, f"prompt: x\ntitle: {value}\n")
    assert lines[0] == f"a.yaml:2: {tag}: tags are not supported, the field decides the type"


@pytest.mark.parametrize(
    "text", ["prompt: x\n\ttitle: y\n", "prompt:\tx\n", "verify: [a,\n\tb]\n", "prompt: x\t\n"]
)
def test_tabs_are_named(tmp_path: Path, text: str) -> None:
    line = problem(tmp_path, text)
    assert line.endswith(": got a tab, need spaces: YAML takes no tabs outside of text")
    assert line.startswith(f"a.yaml:{text[: text.index(chr(9))].count(chr(10)) + 1}:")


def test_a_tab_inside_text_is_text(tmp_path: Path) -> None:
    assert task(tmp_path, {"a.yaml": b"prompt: |\n  all:\n  \tmake it\n"}).spec.prompt == "all:\n\tmake it\n"


def test_a_second_document_is_refused(tmp_path: Path) -> None:
    line = problem(tmp_path, "prompt: x\n---\nprompt: y\n")
    assert line == "a.yaml:2: a second document starts here, need one"


@pytest.mark.parametrize(
    ("content", "line"),
    [
        (b"prompt: x\ntitle: caf\xe9\n", "a.yaml:2: got byte 0xe9, need UTF-8"),
        ("prompt: x\n".encode("utf-16"), "a.yaml:1: got byte 0xff, need UTF-8"),
        (
            b"prompt: x\ntitle: a\0b\n",
            'a.yaml:2: got a NUL, need plain text (or an escape in "double quotes")',
        ),
        (
            b"prompt: x\n\ntitle: \x1b[31mred\n",
            'a.yaml:3: got the character U+001B, need plain text (or an escape in "double quotes")',
        ),
        (
            "prompt: a\u2028b\n".encode(),
            'a.yaml:1: got the character U+2028, need plain text (or an escape in "double quotes")',
        ),
    ],
)
def test_bytes_that_are_no_text_have_a_line(tmp_path: Path, content: bytes, line: str) -> None:
    assert problem(tmp_path, content) == line


@pytest.mark.parametrize("escape", ["\\0", "\\ud800", "\\x00"])
def test_escapes_cannot_smuggle_in_what_files_cannot_hold(tmp_path: Path, escape: str) -> None:
    line = problem(tmp_path, f'prompt: "a{escape}b"\n')
    assert line.startswith("a.yaml:1: got 'a")
    assert line.endswith("need text without NUL and lone surrogates")


def test_an_escape_beyond_unicode_is_one_line(tmp_path: Path) -> None:
    line = problem(tmp_path, 'id: a\nprompt: "\\U00110000"\n')
    assert line == "a.yaml:2: bad escape in double quotes, need a Unicode character"


@pytest.mark.parametrize(
    ("text", "line", "word"),
    [
        ("prompt: [x\n", 2, "not YAML"),
        ('id: a\nprompt: "never closed\n', 3, "not YAML"),
        ("prompt: a: b\n", 1, "put the text in quotes"),
        ("prompt: `ls`\n", 1, "put the text in quotes"),
        ("prompt: @x\n", 1, "put the text in quotes"),
        ("- x\nprompt: y\n", 2, "not YAML"),
        ("%YAML 2.0\n---\nprompt: x\n", 1, "not YAML"),
    ],
)
def test_broken_yaml_is_one_line_where_it_breaks(tmp_path: Path, text: str, line: int, word: str) -> None:
    found = problem(tmp_path, text)
    assert found.startswith(f"a.yaml:{line}: ")
    assert word in found


@pytest.mark.parametrize("text", ["{[a]: b}", "? {x: y}\n: z\n"])
def test_a_key_is_text(tmp_path: Path, text: str) -> None:
    assert problem(tmp_path, text) == "a.yaml:1: a key must be text, got a list or mapping"


@pytest.mark.parametrize(
    "text",
    [
        "[" * 100_000,
        "{a: " * 20_000,
        "- " * 20_000,
        "a:\n" + "".join(" " * n + "a:\n" for n in range(1, 900)),
    ],
)
def test_deep_nesting_is_one_line(tmp_path: Path, text: str) -> None:
    limit = sys.getrecursionlimit()
    assert problem(tmp_path, text).endswith(f"nested more than {MAX_DEPTH} deep")
    assert sys.getrecursionlimit() == limit


def test_too_many_values_are_one_line(tmp_path: Path) -> None:
    text = "tags: [" + "x," * (MAX_NODES + 1) + "]"
    assert problem(tmp_path, text) == f"a.yaml:1: more than {MAX_NODES} values in one file"


def test_a_huge_file_is_not_read(tmp_path: Path) -> None:
    text = "prompt: " + "x" * MAX_BYTES
    assert problem(tmp_path, text) == f"a.yaml: got {len(text)} bytes, need at most {MAX_BYTES}"


def test_a_long_prompt_within_the_cap_is_fine(tmp_path: Path) -> None:
    text = "prompt: |\n" + "  a line of a long prompt\n" * 20_000
    assert len(task(tmp_path, text).spec.prompt) == 24 * 20_000


def test_what_is_no_regular_file_is_not_read(tmp_path: Path) -> None:
    import os

    os.mkfifo(tmp_path / "pipe.yaml")
    found = Problems()
    assert read_yaml(tmp_path / "pipe.yaml", "pipe.yaml", tmp_path, found) is None
    with pytest.raises(Exception, match=r"^pipe\.yaml: not a regular file$"):
        found.raise_if_any()


def test_a_dangling_link_is_one_line(tmp_path: Path) -> None:
    (tmp_path / "a.yaml").symlink_to("gone.yaml")
    write(tmp_path, {"b.yaml": "prompt: x\n"})
    assert problem(tmp_path, {}, "a.yaml", "b.yaml") == "a.yaml: cannot be read: No such file or directory"
