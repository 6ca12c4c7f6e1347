"""edit as a model meets it: what it changes, what it refuses, and what it says."""

from __future__ import annotations

import os
import stat
import subprocess
from pathlib import Path
from typing import Any

import pytest

from pi_batch.errors import ToolError
from pi_batch.sandboxes.none import NoneSandbox
from pi_batch.tools.edit import SHOWN_DIFF_BYTES, Edit
from pi_batch.tools.edit_arguments import EditArguments
from tests.tools.context import FakeContext, call, failure, text_of

EDIT = Edit()


async def edited(context: FakeContext, content: bytes, **arguments: Any) -> bytes:
    """The file's bytes after an edit that must work."""
    path = Path(context.workspace) / "f.txt"
    path.write_bytes(content)
    await call(EDIT, context, path="f.txt", **arguments)
    return path.read_bytes()


async def refused(context: FakeContext, content: bytes, **arguments: Any) -> str:
    """The error of an edit that must leave the file alone, its modification time included."""
    path = Path(context.workspace) / "f.txt"
    path.write_bytes(content)
    before = path.stat()
    error = await failure(EDIT, context, path="f.txt", **arguments)
    assert path.read_bytes() == content
    assert path.stat().st_mtime_ns == before.st_mtime_ns
    assert "f.txt" in error or "_string" in error
    return error


# --- only the named bytes change ------------------------------------------------------------------


@pytest.mark.parametrize(
    ("before", "old", "new", "after"),
    [
        pytest.param(
            b"alpha\r\nbeta\r\ngamma\r\n",
            "alpha\nbeta",
            "alpha\nBETA\nextra",
            b"alpha\r\nBETA\r\nextra\r\ngamma\r\n",
            id="crlf-file-and-lf-text",  # pi#360
        ),
        pytest.param(b"a\r\nb\r\n", "a", "a\nx", b"a\r\nx\r\nb\r\n", id="one-line-becomes-two-in-crlf"),
        pytest.param(b"a\r\nb\r\n", "\nb", "\nB", b"a\r\nB\r\n", id="text-begins-with-a-line-end"),
        pytest.param(b"a\r\nb\r\n", "b\n", "", b"a\r\n", id="a-whole-crlf-line-goes"),
        pytest.param(b"a\r\nb\r\n", "a\r\nb", "a\r\nB", b"a\r\nB\r\n", id="crlf-text-in-crlf-file"),
        pytest.param(b"a\r\nb\r\n", "a\r\nb", "a\nb", b"a\nb\r\n", id="crlf-text-says-its-own-line-ends"),
        pytest.param(b"a\nb\n", "a\r\nb", "a\r\nB", b"a\nB\n", id="crlf-text-in-lf-file"),
        pytest.param(b"a\nb\n", "b", "b\r\nc", b"a\nb\r\nc\n", id="lf-file-takes-explicit-crlf"),
        pytest.param(b"a\nb\r\nc\nd\r\n", "b", "b\nB", b"a\nb\r\nB\r\nc\nd\r\n", id="mixed-file-crlf-line"),
        pytest.param(b"a\nb\r\nc\nd\r\n", "c", "c\nC", b"a\nb\r\nc\nC\nd\r\n", id="mixed-file-lf-line"),
        pytest.param(
            b"a\nb\r\nc\nd\r\n",
            "a\nb\nc",
            "a\nX\nc",
            b"a\nX\r\nc\nd\r\n",
            id="mixed-span-keeps-the-line-ends-of-lines-that-stay",
        ),
        pytest.param(b"a\r\nlast", "last", "last\nmore", b"a\r\nlast\r\nmore", id="last-line-has-no-end"),
        pytest.param(b"only", "only", "one\ntwo", b"one\ntwo", id="no-line-end-anywhere"),
        pytest.param(
            b"\xef\xbb\xbfone\ntwo\n", "one", "ONE", b"\xef\xbb\xbfONE\ntwo\n", id="utf8-mark-stays"
        ),  # kimi-code#3825
        pytest.param(b"\xef\xbb\xbfone", "\ufeffone", "one", b"one", id="utf8-mark-goes-when-named"),
        pytest.param(
            b"limit = 1\n# na\xefve caf\xe9\n",
            "limit = 1",
            "limit = 2",
            b"limit = 2\n# na\xefve caf\xe9\n",
            id="latin1-bytes-stay",  # opencode#49600
        ),
        pytest.param(b"caf\xe9 1", "café 1", "café 2", b"caf\xe9 2", id="latin1-text-matches-as-latin1"),
        pytest.param(
            b"ok \xff\xfe bad\nx = 1\n", "x = 1", "x = 2", b"ok \xff\xfe bad\nx = 2\n", id="invalid-utf8"
        ),
        pytest.param(
            b"\xc3\xa9 = 1 \xff", "é = 1", "è = 2", b"\xc3\xa8 = 2 \xff", id="utf8-match-in-a-broken-file"
        ),
        pytest.param(b"a\0b = 1\n", "b = 1", "b = 2", b"a\0b = 2\n", id="nul-bytes"),
        pytest.param(
            'const a = "l’eau";\nconst n = 1;\n'.encode(),
            "const n = 1;",
            "const n = 2;",
            'const a = "l’eau";\nconst n = 2;\n'.encode(),
            id="curly-quotes-elsewhere",  # claude-code#15920
        ),
        pytest.param(
            b"def f():\n    return 1\n\n\ndef g():\n    return 9\n",
            "    return 1",
            "    return 2",
            b"def f():\n    return 2\n\n\ndef g():\n    return 9\n",
            id="no-blank-line-is-added",  # cline#11274
        ),
        pytest.param(b"x = 1", "x = 1", "x = 2", b"x = 2", id="no-final-newline-is-added"),
        pytest.param(b"a\n", "a\n", "a", b"a", id="final-newline-goes-when-named"),
        pytest.param(b"a b c", " b", "", b"a c", id="deletion"),
        pytest.param(b"cost: $1 \\1 \\g<0>", "$1 \\1", "\\2 $&", b"cost: \\2 $& \\g<0>", id="no-regex"),
        pytest.param(b"a\x0cb\x85c\r", "b", "B", b"a\x0cB\x85c\r", id="other-separators-are-no-line-ends"),
        pytest.param("日本語 = 1".encode(), "日本", "西", "西語 = 1".encode(), id="wide-characters"),
        pytest.param("e\u0301".encode(), "e\u0301", "é", "é".encode(), id="unicode-forms-are-not-changed"),
    ],
)
async def test_only_the_named_span_changes(
    context: FakeContext, before: bytes, old: str, new: str, after: bytes
) -> None:
    assert await edited(context, before, old_string=old, new_string=new) == after


@pytest.mark.parametrize("codec", ["utf-16-le", "utf-16-be", "utf-32-le", "utf-32-be"])
async def test_wide_encodings_keep_their_mark_and_line_ends(context: FakeContext, codec: str) -> None:
    before = "\ufeffone\r\ntwo € = 1\r\n".encode(codec)
    after = await edited(context, before, old_string="one\ntwo €", new_string="one\nmore\ntwo ¥")
    assert after == "\ufeffone\r\nmore\r\ntwo ¥ = 1\r\n".encode(codec)


async def test_a_place_in_utf16_begins_at_a_character(context: FakeContext) -> None:
    """U+6100 U+0061 holds the bytes of "a" across two characters as well."""
    before = "\ufeff\u6100a".encode("utf-16-be")
    assert await edited(context, before, old_string="a", new_string="b") == "\ufeff\u6100b".encode(
        "utf-16-be"
    )


async def test_trailing_blanks_are_ignored_when_that_leaves_one_place(context: FakeContext) -> None:
    """pi#5898: nothing but the matched lines may change."""
    before = "keep — me   \nhit one   \nhit two\nend   \n".encode()
    after = await edited(context, before, old_string="hit one\nhit two", new_string="HIT")
    assert after == "keep — me   \nHIT\nend   \n".encode()


@pytest.mark.parametrize(
    ("before", "old", "new", "after"),
    [
        (b"a  \r\nb\t\r\nc\r\n", "a\nb\n", "A\n", b"A\r\nc\r\n"),
        (b"a  \nb", "a\nb", "A\nB", b"A\nB"),
        (b"x\na \n", "a", "b", b"x\nb \n"),
        (b"if x:\n    y  \n", "if x:   \n    y\n", "if x:\n    z\n", b"if x:\n    z\n"),
    ],
)
async def test_blanks_at_line_ends_may_differ(
    context: FakeContext, before: bytes, old: str, new: str, after: bytes
) -> None:
    assert await edited(context, before, old_string=old, new_string=new) == after


async def test_a_match_that_ignored_blanks_is_said(context: FakeContext, workspace: Path) -> None:
    (workspace / "f.txt").write_bytes(b"a  \nb\n")
    output = await call(EDIT, context, path="f.txt", old_string="a\nb", new_string="c")
    assert "blanks at line ends ignored" in text_of(output)


async def test_mode_links_and_owner_survive(context: FakeContext, workspace: Path) -> None:
    """claude-code#20356."""
    script = workspace / "go.sh"
    script.write_text("#!/bin/sh\necho a\n")
    script.chmod(0o755)
    os.link(script, workspace / "twin.sh")
    (workspace / "link.sh").symlink_to("go.sh")
    inode = script.stat().st_ino
    await call(EDIT, context, path="link.sh", old_string="echo a", new_string="echo b")
    assert script.read_text() == (workspace / "twin.sh").read_text() == "#!/bin/sh\necho b\n"
    assert stat.S_IMODE(script.stat().st_mode) == 0o755
    assert script.stat().st_ino == inode
    assert (workspace / "link.sh").is_symlink()


async def test_a_link_out_of_the_workspace_is_refused(context: FakeContext, workspace: Path) -> None:
    """OpenBot#100."""
    victim = workspace.parent / "victim.txt"
    victim.write_text("original\n")
    (workspace / "notes.md").symlink_to(victim)
    assert "outside" in await failure(EDIT, context, path="notes.md", old_string="original", new_string="x")
    assert victim.read_text() == "original\n"


async def test_fresh_content_counts_and_not_what_was_read_before(
    context: FakeContext, workspace: Path
) -> None:
    """claude-code#65575: a formatter ran in between, the text to replace is still there once."""
    (workspace / "f.py").write_text("a=1\nkeep = 2\n")
    (workspace / "f.py").write_text("a = 1\nkeep = 2\n")
    await call(EDIT, context, path="f.py", old_string="keep = 2", new_string="keep = 3")
    assert (workspace / "f.py").read_text() == "a = 1\nkeep = 3\n"


# --- refusals --------------------------------------------------------------------------------------


async def test_empty_old_text_is_refused(context: FakeContext) -> None:
    """deepagents#5588: it would be found between all characters."""
    assert "empty" in await refused(context, b"wxyz\n", old_string="", new_string="-")


async def test_empty_old_text_makes_no_file(context: FakeContext, workspace: Path) -> None:
    assert "write" in await failure(EDIT, context, path="new.txt", old_string="", new_string="x")
    assert not (workspace / "new.txt").exists()


@pytest.mark.parametrize(
    ("content", "old", "count"),
    [
        (b"tick\ntick\ntick\n", "tick\ntick\n", "2"),  # pi#9697: they overlap
        (b"aaaa", "aa", "3"),
        (b"x x", "x", "2"),
        (b"a\r\nb\r\na\r\nb\r\n", "a\nb", "2"),
        (b"ab" * 30, "ab", "30"),
        (b"a" * 5000, "a", "1000 or more"),
    ],
)
async def test_ambiguous_text_is_refused_with_the_number_of_places(
    context: FakeContext, content: bytes, old: str, count: str
) -> None:
    error = await refused(context, content, old_string=old, new_string="-")
    assert f" {count} places" in error
    assert "replace_all" in error


async def test_an_ambiguity_names_lines(context: FakeContext) -> None:
    assert "at lines 1, 3, 4)" in await refused(context, b"x\ny\nx\nx\n", old_string="x", new_string="z")


async def test_lines_are_counted_by_newlines_alone(context: FakeContext) -> None:
    content = b"a\x0c\x85\r x\n\xe2\x80\xa8x\n"
    assert "at lines 1, 2)" in await refused(context, content, old_string="x", new_string="z")


async def test_text_that_is_not_there_leaves_the_file_alone(context: FakeContext) -> None:
    """cline#9555."""
    error = await refused(context, b"gem 'a'\n  gem 'b'\n", old_string="gem 'zzz'", new_string="x")
    assert "not found" in error
    assert "Nothing was changed" in error


async def test_text_that_stays_the_same_is_refused(context: FakeContext) -> None:
    assert "same" in await refused(context, b"abc", old_string="b", new_string="b")


async def test_text_that_comes_out_the_same_is_refused(context: FakeContext) -> None:
    assert "same" in await refused(context, b"a\r\nb\r\n", old_string="a\nb", new_string="a\r\nb")


async def test_half_a_character_is_refused(context: FakeContext) -> None:
    error = await refused(context, b"abc", old_string="b", new_string="\ud83d")
    assert "surrogate" in error
    error.encode()


async def test_new_characters_are_not_guessed_into_an_unknown_encoding(context: FakeContext) -> None:
    error = await refused(context, b"caf\xe9\nx = 1\n", old_string="x = 1", new_string="x = 'é'")
    assert "UTF-8" in error


async def test_new_characters_that_latin1_lacks_are_refused(context: FakeContext) -> None:
    assert "UTF-8" in await refused(context, b"caf\xe9", old_string="café", new_string="caf€")


async def test_an_empty_file_says_so(context: FakeContext) -> None:
    assert "file is empty" in await refused(context, b"", old_string="x", new_string="y")


@pytest.mark.parametrize("kind", ["missing", "directory", "pipe"])
async def test_what_is_no_file_is_refused_by_name(context: FakeContext, workspace: Path, kind: str) -> None:
    """headlong#115: a pipe would block for ever."""
    if kind == "directory":
        (workspace / "q").mkdir()
    elif kind == "pipe":
        os.mkfifo(workspace / "q")
    expected = {"missing": "no such file", "directory": "is a directory", "pipe": "not a regular file"}
    assert expected[kind] in await failure(EDIT, context, path="q", old_string="a", new_string="b")


async def test_a_huge_file_is_refused(context: FakeContext, workspace: Path) -> None:
    with (workspace / "big").open("wb") as file:
        file.truncate(70 * 1024 * 1024)
    assert "70.0 MB" in await failure(EDIT, context, path="big", old_string="a", new_string="b")


class ReadOnlySandbox(NoneSandbox):
    """Files that can be read."""

    async def write(self, path: str, content: bytes) -> None:
        raise OSError(30, "Read-only file system", path)


async def test_a_file_that_cannot_be_written_says_why(context: FakeContext, workspace: Path) -> None:
    (workspace / "f").write_text("a")
    context.sandbox = ReadOnlySandbox()
    assert "Read-only file system" in await failure(EDIT, context, path="f", old_string="a", new_string="b")


# --- several at once -------------------------------------------------------------------------------


async def test_all_edits_are_matched_against_the_file_as_it_is(context: FakeContext) -> None:
    edits = [{"old_string": "a", "new_string": "b"}, {"old_string": "b", "new_string": "a"}]
    assert await edited(context, b"a b", edits=edits) == b"b a"


async def test_edits_may_come_in_any_order_and_touch(context: FakeContext) -> None:
    edits = [{"oldText": "cd", "newText": "3"}, {"oldText": "ab", "newText": "12"}]
    assert await edited(context, b"abcd", edits=edits) == b"123"


async def test_one_bad_edit_undoes_all(context: FakeContext) -> None:
    edits = [{"old_string": "a", "new_string": "1"}, {"old_string": "zz", "new_string": "2"}]
    assert "edits[1].old_string not found" in await refused(context, b"abc", edits=edits)


async def test_overlapping_edits_are_refused_by_name(context: FakeContext) -> None:
    edits = [{"old_string": "abc", "new_string": "1"}, {"old_string": "cd", "new_string": "2"}]
    error = await refused(context, b"abcd", edits=edits)
    assert "edits[0].old_string and edits[1].old_string overlap" in error


async def test_the_same_edit_twice_overlaps(context: FakeContext) -> None:
    edits = [{"old_string": "a", "new_string": "1"}] * 2
    assert "overlap" in await refused(context, b"abc", edits=edits)


async def test_an_edit_beside_edits_counts_too(context: FakeContext) -> None:
    edits = [{"old_string": "a", "new_string": "1"}]
    assert await edited(context, b"abc", edits=edits, oldText="b", newText="2") == b"12c"


async def test_empty_fields_beside_edits_are_as_good_as_left_out(context: FakeContext) -> None:
    edits = [{"old_string": "a", "new_string": "1"}]
    assert await edited(context, b"abc", edits=edits, old_string="", new_string="") == b"1bc"


@pytest.mark.parametrize(
    ("content", "old", "new", "after"),
    [
        (b"x x x", "x", "yy", b"yy yy yy"),
        (b"aaaa", "aa", "b", b"bb"),
        (b"a\r\nb\r\na\r\nb\r\n", "a\nb\n", "c\n", b"c\r\nc\r\n"),
        (b"one", "one", "two", b"two"),
    ],
)
async def test_replace_all_takes_every_place(
    context: FakeContext, content: bytes, old: str, new: str, after: bytes
) -> None:
    assert await edited(context, content, old_string=old, new_string=new, replace_all=True) == after


async def test_replace_all_holds_for_the_edits_beside_it(context: FakeContext) -> None:
    edits = [{"old_string": "a", "new_string": "b"}]
    assert await edited(context, b"aa", edits=edits, replace_all=True) == b"bb"


# --- spellings -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "arguments",
    [
        {"oldText": "a", "newText": "b"},
        {"old_text": "a", "new_text": "b"},
        {"old_str": "a", "new_str": "b"},
        {"oldString": "a", "newString": "b", "replaceAll": False},
        {"edits": [{"oldText": "a", "newText": "b"}]},
        {"edits": {"oldText": "a", "newText": "b"}},
        {"edits": '[{"oldText": "a", "newText": "b"}]'},
        {"edits": '{"old_string": "a", "new_string": "b"}'},
        {"edits": None, "old_string": "a", "new_string": "b", "replace_all": None},
        {"old_string": "a", "new_string": "b", "replace_all": "false"},
    ],
)
async def test_other_spellings_are_taken(context: FakeContext, arguments: dict[str, Any]) -> None:
    assert await edited(context, b"xax", **arguments) == b"xbx"


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        ({}, "old_string"),
        ({"old_string": "a"}, "new_string: missing"),
        ({"new_string": "a"}, "old_string: missing"),
        ({"edits": []}, "nothing to do"),
        ({"edits": "no json"}, "edits"),
        ({"edits": [{"old_string": "a"}]}, "edits[0].new_string: missing"),
        ({"edits": ["a"]}, "edits[0]"),
        ({"old_string": 1, "new_string": "b"}, "old_string: got 1"),
        ({"old_string": "a", "oldText": "b", "new_string": "c"}, "means the same"),
        ({"old_string": "a", "new_string": "b", "new_sting": "c"}, "did you mean 'new_string'?"),
    ],
)
async def test_arguments_that_are_wrong_are_explained(
    context: FakeContext, arguments: dict[str, Any], expected: str
) -> None:
    with pytest.raises(ToolError) as caught:
        await call(EDIT, context, path="f.txt", **arguments)
    assert caught.value.error_kind == "invalid_arguments"
    assert expected in str(caught.value)


# --- what it says ----------------------------------------------------------------------------------


async def test_the_result_is_a_diff_that_patch_takes(context: FakeContext, workspace: Path) -> None:
    before = "".join(f"line {number}\n" for number in range(1, 41))
    path = workspace / "f.txt"
    path.write_text(before)
    edits = [
        {"old_string": "line 3\n", "new_string": "line three\nand more\n"},
        {"old_string": "line 20\n", "new_string": ""},
        {"old_string": "line 40\n", "new_string": "the end"},
    ]
    output = await call(EDIT, context, path="f.txt", edits=edits)
    after = path.read_text()
    path.write_text(before)
    diff = workspace / "d.patch"
    diff.write_text(output.details["diff"] + "\n")
    subprocess.run(["git", "apply", "-p0", "d.patch"], cwd=workspace, check=True)
    assert path.read_text() == after
    assert output.details["first_changed_line"] == 3
    assert output.details["replacements"] == 3
    assert "+line three" in text_of(output)


async def test_a_long_diff_is_cut_for_the_model(context: FakeContext, workspace: Path) -> None:
    (workspace / "f.txt").write_text("start\n" + "old line\n" * 4000)
    edits = [{"old_string": "old line\n" * 4000, "new_string": "new line\n" * 4000}]
    output = await call(EDIT, context, path="f.txt", edits=edits)
    assert len(text_of(output)) < SHOWN_DIFF_BYTES + 300
    assert "The diff is longer" in text_of(output)


async def test_a_diff_of_other_encodings_is_valid_text(context: FakeContext, workspace: Path) -> None:
    (workspace / "f.txt").write_bytes(b"caf\xe9 \0\nx = 1\n")
    output = await call(EDIT, context, path="f.txt", old_string="x = 1", new_string="x = 2")
    assert "\0" not in text_of(output)
    assert "caf\ufffd" in text_of(output)
    text_of(output).encode()


async def test_a_read_of_the_path_given_twice_is_the_same_file(context: FakeContext, workspace: Path) -> None:
    """kimi-style absolute and dotted paths name the same file."""
    (workspace / "n.txt").write_text("1\n2\n3\n")
    await call(EDIT, context, path="./n.txt", old_string="2", new_string="two")
    await call(EDIT, context, path=str(workspace / "n.txt"), old_string="3", new_string="three")
    assert (workspace / "n.txt").read_text() == "1\ntwo\nthree\n"
    arguments = EditArguments(path="./n.txt", old_string="a", new_string="b")
    assert EDIT.written_paths(arguments) == ("./n.txt",)
    assert not EDIT.is_read_only
