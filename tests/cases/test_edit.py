"""Edits: only the bytes that are named change, or none."""

from __future__ import annotations

import pytest

from tests.cases.project import Project
from tests.cases.rows import Row, Want, bad, check_rows, ok
from tests.cases.turns import Call, bash, call, edit, write

pytestmark = pytest.mark.slow

LATIN = b"limit = %d\n# na\xefve caf\xe9\n"
LOOSE = b"keep \xe2\x80\x94 me   \nhit one   \nhit two\nend   \n"


def edited(what: str, before: bytes, change: Call, after: bytes, name: str = "") -> Row:
    """A row of one edit that is made."""
    path = name or str(change.arguments["path"])
    return Row(what, (change,), (ok(),), files={path: before}, after={path: after})


def refused(what: str, before: bytes, change: Call, *has: str, like: str = "") -> Row:
    """A row of one edit that is refused, with the file as it was."""
    path = str(change.arguments["path"])
    return Row(what, (change,), (bad(*has, like=like),), files={path: before}, after={path: before})


MADE = (
    edited(
        "LF text fits a CRLF file, and new lines are as the file's (earendil-works/pi#360)",
        b"alpha\r\nbeta\r\ngamma\r\n",
        edit("crlf.txt", "alpha\nbeta", "alpha\nBETA\nextra"),
        b"alpha\r\nBETA\r\nextra\r\ngamma\r\n",
    ),
    edited(
        "CRLF text fits an LF file",
        b"alpha\nbeta\ngamma\n",
        edit("lf.txt", "alpha\r\nbeta", "alpha\r\nBETA"),
        b"alpha\nBETA\ngamma\n",
    ),
    edited(
        "in a file of both line ends the others stay",
        b"a\r\nb\nc\r\nd\n",
        edit("mixed.txt", "b\nc", "B\nC"),
        b"a\r\nB\nC\r\nd\n",
    ),
    edited(
        "a byte order mark stays (MoonshotAI/kimi-code#3825)",
        b"\xef\xbb\xbfone\ntwo\n",
        edit("bom.txt", "one", "ONE"),
        b"\xef\xbb\xbfONE\ntwo\n",
    ),
    edited(
        "curly quotes elsewhere stay (anthropics/claude-code#15920)",
        'const a = "l’eau";\nconst n = 1;\n'.encode(),
        edit("fr.js", "const n = 1;", "const n = 2;"),
        'const a = "l’eau";\nconst n = 2;\n'.encode(),
    ),
    edited(
        "no blank line is added (cline/cline#11274)",
        b"def f():\n    return 1\n\n\ndef g():\n    return 9\n",
        edit("r.py", "    return 1", "    return 2"),
        b"def f():\n    return 2\n\n\ndef g():\n    return 9\n",
    ),
    edited(
        "a missing last newline stays missing", b"one\ntwo", edit("end.txt", "two", "three"), b"one\nthree"
    ),
    edited(
        "tabs stay tabs", b"\tif x:\n\t\ty = 1\n", edit("tab.py", "y = 1", "y = 2"), b"\tif x:\n\t\ty = 2\n"
    ),
    edited(
        "form feeds and odd spaces stay",
        b"a\x0c\xc2\xa0b\nc\n",
        edit("ff.txt", "c", "C"),
        b"a\x0c\xc2\xa0b\nC\n",
    ),
    edited("text may be deleted", b"a\nb\nc\n", edit("del.txt", "b\n", ""), b"a\nc\n"),
    edited(
        "new text is no pattern",
        b"x = 1\n",
        edit("back.txt", "1", r"\1 $& \g<0> \n"),
        b"x = \\1 $& \\g<0> \\n\n",
    ),
    edited("old text is no pattern", b"a.c abc (x|y)*\n", edit("pat.txt", "a.c", "A"), b"A abc (x|y)*\n"),
    edited(
        "combining and composed letters are told apart",
        "e\u0301 \u00e9\n".encode(),
        edit("nf.txt", "\u00e9", "E"),
        "e\u0301 E\n".encode(),
    ),
    edited(
        "all places can be changed",
        b"a a a\n",
        call("edit", path="all.txt", old_string="a", new_string="b", replace_all=True),
        b"b b b\n",
    ),
    edited(
        "several edits go in at once",
        b"one\ntwo\nthree\n",
        call(
            "edit",
            path="many.txt",
            edits=[{"oldText": "one", "newText": "1"}, {"oldText": "three", "newText": "3"}],
        ),
        b"1\ntwo\n3\n",
    ),
)
REFUSED = (
    refused("empty old text (langchain-ai/deepagents#5588)", b"wxyz\n", edit("empty.txt", "", "-")),
    refused(
        "two overlapping places are two (earendil-works/pi#9697)",
        b"tick\ntick\ntick\n",
        edit("o.txt", "tick\ntick\n", "tock\n"),
        "2",
    ),
    refused("three places are three", b"x\ny\nx\ny\nx\n", edit("three.txt", "x", "z"), "3"),
    refused("absent text (cline/cline#9555)", b"gem 'a'\n  gem 'b'\n", edit("G.txt", "gem 'zzz'", "x")),
    refused("old and new text are the same", b"same\n", edit("same.txt", "same", "same")),
    refused(
        "one of several edits that does not fit undoes the others",
        b"one\ntwo\n",
        call(
            "edit",
            path="half.txt",
            edits=[{"oldText": "one", "newText": "1"}, {"oldText": "zzz", "newText": "3"}],
        ),
    ),
    refused(
        "edits that overlap",
        b"abc\n",
        call(
            "edit",
            path="over.txt",
            edits=[{"oldText": "ab", "newText": "1"}, {"oldText": "bc", "newText": "2"}],
        ),
    ),
)
EITHER = (
    Row(
        "Latin-1 bytes elsewhere stay (anomalyco/opencode#49600)",
        (edit("l.txt", "limit = 1", "limit = 2"),),
        (Want(),),
        files={"l.txt": LATIN % 1},
        check="! grep -q $'\\xef\\xbf\\xbd' l.txt && grep -aq $'na\\xefve caf\\xe9' l.txt",
    ),
    Row(
        "a tolerant match changes its span alone (earendil-works/pi#5898)",
        (edit("t.md", "hit one\nhit two", "HIT"),),
        (Want(),),
        files={"t.md": LOOSE},
        check="grep -q '^keep — me   $' t.md && grep -q '^end   $' t.md",
    ),
    Row(
        "UTF-16 is not mangled",
        (edit("u16.txt", "one", "ONE"),),
        (Want(),),
        files={"u16.txt": "one\ntwo\n".encode("utf-16")},
        check=r"{ printf '\377\376'; printf 'one\ntwo\n' | iconv -t UTF-16LE; } | cmp - u16.txt || "
        r"{ printf '\377\376'; printf 'ONE\ntwo\n' | iconv -t UTF-16LE; } | cmp - u16.txt",
    ),
)
FILES = (
    Row(
        "an edit goes by the file as it is now (anthropics/claude-code#65575)",
        (
            call("read", path="f.py"),
            bash("sed -i 's/^a=1$/a = 1/' f.py"),
            edit("f.py", "keep = 2", "keep = 3"),
        ),
        (ok(), ok(), ok()),
        files={"f.py": b"a=1\nkeep = 2\n"},
        after={"f.py": b"a = 1\nkeep = 3\n"},
    ),
    Row(
        "edit and write keep the mode (anthropics/claude-code#20356)",
        (edit("go.sh", "echo a", "echo b"), write("go.sh", "#!/bin/sh\necho c\n")),
        (ok(), ok()),
        files={"go.sh": b"#!/bin/sh\necho a\n"},
        setup="chmod 0755 go.sh",
        check='test $(stat -c %a go.sh) = 755 && test "$(./go.sh)" = c',
    ),
    Row(
        "odd modes too",
        (edit("odd.txt", "a", "b"), write("odd.txt", "c\n")),
        (ok(), ok()),
        files={"odd.txt": b"a\n"},
        setup="chmod 2640 odd.txt",
        check="test $(stat -c %a odd.txt) = 2640",
    ),
    Row(
        "a refused edit leaves the time of change (cline/cline#9555)",
        (edit("old.txt", "zzz", "x"),),
        (bad(),),
        files={"old.txt": b"a\n"},
        setup="touch -d 2001-02-03 old.txt",
        check="test $(stat -c %Y old.txt) = $(date -d 2001-02-03 +%s)",
    ),
    Row(
        "the other name of a file sees the edit",
        (edit("hard.txt", "a", "b"),),
        (ok(),),
        files={"hard.txt": b"a\n"},
        setup="ln hard.txt other.txt",
        after={"other.txt": b"b\n"},
    ),
    Row(
        "a link stays a link",
        (edit("sym.txt", "a", "b"),),
        (ok(),),
        files={"real.txt": b"a\n"},
        setup="ln -s real.txt sym.txt",
        after={"real.txt": b"b\n"},
        check="test -L sym.txt",
    ),
    Row(
        "a directory, an absent file and a path through a file are refused",
        (edit("dir", "a", "b"), edit("absent.txt", "a", "b"), write("plain/x.txt", "b"), write("dir", "b")),
        (bad(like="directory"), bad(like="no such|not exist|not found"), bad(), bad(like="directory")),
        files={"dir/x": b"a\n", "plain": b"a\n"},
        after={"plain": b"a\n"},
    ),
)
TOGETHER = (
    Row(
        "edits of one file in one reply are both made (earendil-works/pi#2327)",
        (edit("n.txt", "\n50\n", "\nfifty\n"),),
        (ok(),),
        setup="seq 1 100 > n.txt; ln -s . here",
    ),
    Row(
        "under any spelling of its name",
        (edit("./n.txt", "\n75\n", "\nseventy-five\n"),),
        (ok(),),
    ),
    Row(
        "through a link too",
        (edit("here/n.txt", "\n25\n", "\ntwenty-five\n"),),
        (ok(),),
        check="test $(grep -cxE 'fifty|seventy-five|twenty-five' n.txt) = 3 && test $(wc -l < n.txt) = 100",
    ),
)


def test_an_edit_changes_what_it_names_and_nothing_else(project: Project) -> None:
    check_rows(project, [*MADE, *EITHER])


def test_an_edit_that_is_refused_leaves_the_file_as_it_was(project: Project) -> None:
    check_rows(project, [*REFUSED, *FILES])


def test_edits_of_one_reply_come_one_after_the_other(project: Project) -> None:
    check_rows(project, TOGETHER, at_once=True)
