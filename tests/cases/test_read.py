"""Reading: one idea of a line, only regular files, and every nothing has a text of its own."""

from __future__ import annotations

import pytest

from tests.cases.project import Project
from tests.cases.rows import Row, Want, bad, check_rows, ok, row
from tests.cases.turns import bash, call, edit
from tests.tools.pictures import png

pytestmark = pytest.mark.slow

FORM_FEED = b"def a():\n    return 1\n\x0c\ndef b():\n    TARGET = 1\n    return 2\n"
SEPARATORS = "one\u2028\u2029\x85\x0b\x1c still one\ntwo TARGET2\nthree\n".encode()
ROWS = (
    Row(
        "grep and read number lines alike, form feed or not (langchain-ai/deepagents#5787)",
        (call("grep", pattern="TARGET", path="m.py"), call("read", path="m.py", offset=5, limit=1)),
        (ok(like=r"\b5\b"), ok("TARGET", hasnt=("def b", "return 2"))),
        files={"m.py": FORM_FEED},
    ),
    Row(
        "nor do Unicode's separators end a line",
        (call("grep", pattern="TARGET2", path="s.txt"), call("read", path="s.txt", offset=2, limit=1)),
        (ok(like=r"\b2\b"), ok("TARGET2", hasnt=("three", "still"))),
        files={"s.txt": SEPARATORS},
    ),
    Row(
        "nor a lone carriage return",
        (call("grep", pattern="TARGET3", path="cr.txt"), call("read", path="cr.txt", offset=2, limit=1)),
        (ok(like=r"\b2\b"), ok("TARGET3", hasnt=("three",))),
        files={"cr.txt": b"o\rn\re\nTARGET3\r\nthree\n"},
    ),
    Row(
        "of one long line a part is given, and how to get the rest (mateaix/mateclaw#190)",
        (call("read", path="one.json"),),
        (
            Want(
                ("[0,1,2",),
                like="truncat|too long|byte",
                unlike=r"offset=1\b",
                min_bytes=500,
                max_bytes=65_536,
            ),
        ),
        setup="python3 -c \"print('['+','.join(str(i) for i in range(60000))+']',end='')\" > one.json",
    ),
    Row(
        "a long file goes on where the advice says",
        (call("read", path="long.txt"), call("read", path="long.txt", offset=2001)),
        (Want(("1\n2\n", "2000"), like="offset.{0,3}2001", max_bytes=65_536), ok("2001", "2500")),
        setup="seq 1 2500 > long.txt",
    ),
    Row(
        "a pipe is not waited for (laude-institute/headlong#115)",
        (
            call("read", path="q"),
            call("grep", pattern="hit", path="."),
            edit("q", "a", "b"),
            call("read", path="sock"),
        ),
        (bad(max_s=3), ok("plain.txt", max_s=5), bad(max_s=3), bad(max_s=3)),
        setup="mkfifo q; echo hit > plain.txt; "
        "python3 -c 'import socket; socket.socket(socket.AF_UNIX).bind(\"sock\")'",
    ),
    Row(
        "nor a link to a device that never ends",
        (call("read", path="zero"), call("read", path="/dev/zero"), call("read", path="loop")),
        (bad(max_s=3), bad(max_s=3), bad(max_s=3)),
        setup="ln -s /dev/zero zero; ln -s loop loop",
    ),
    Row(
        "a page named like a picture is no picture (anthropics/claude-code#19031)",
        (call("read", path="shot.jpg"), bash("echo go-on")),
        (Want(), ok("go-on")),
        files={"shot.jpg": b"<!doctype html><p>404</p>\n"},
    ),
    Row(
        "a path is first taken as it is given (earendil-works/pi#8877)",
        (call("read", path="cap 3.00\u202fp.m..txt"),),
        (ok("data-nn"),),
        files={"cap 3.00\u202fp.m..txt": b"data-nn\n"},
    ),
    Row(
        "decomposed, starred, dashed and percented names as well",
        (call("read", path="e\u0301.txt"), call("read", path="-n *.txt"), call("read", path="%41~.txt")),
        (ok("data-nfd"), ok("data-dash"), ok("data-percent")),
        files={"e\u0301.txt": b"data-nfd\n", "-n *.txt": b"data-dash\n", "%41~.txt": b"data-percent\n"},
    ),
    Row(
        "each nothing is told apart (aaif-goose/goose#1290)",
        (
            call("read", path="none.txt"),
            call("read", path="nl.txt"),
            call("read", path="absent.txt"),
            call("read", path="."),
            call("read", path="nl.txt", offset=9),
        ),
        (
            ok(like="empty"),
            ok(),
            bad(like="no such|not found|not exist"),
            bad(like="directory"),
            bad(like="line|end"),
        ),
        files={"none.txt": b"", "nl.txt": b"\n"},
    ),
    row("a path through a file is an error", call("read", path="nl.txt/x"), bad()),
    row("a path too long is an error", call("read", path="x" * 5000), bad()),
    row("a path with NUL is an error", call("read", path="a\0b"), bad()),
    Row(
        "a file that may not be read is an error, where there is such a thing",
        (call("read", path="shut.txt"),),
        (Want(like="permission|secret"),),
        setup="echo secret > shut.txt; chmod 0 shut.txt",
    ),
    Row(
        "binary files are not poured out",
        (call("read", path="bin"),),
        (Want(max_bytes=65_536, hasnt=("\0",)),),
        setup="head -c 100000 /dev/urandom > bin",
    ),
)


def test_reading_always_says_what_is_there(project: Project) -> None:
    ran = check_rows(project, ROWS)
    assert not [block for message in ran.messages for block in message["content"] if block == ""]
    kinds = {block["type"] for m in ran.messages if m["role"] == "toolResult" for block in m["content"]}
    assert kinds == {"text"}
    texts = [block["text"] for m in ran.messages if m["role"] == "toolResult" for block in m["content"]]
    assert all(text.strip() for text in texts)


def test_a_picture_is_known_by_its_bytes(project: Project) -> None:
    rows = [
        Row("a picture named as text", (call("read", path="x.txt"),), (ok(),), files={"x.txt": png()}),
        Row("a cut picture", (call("read", path="cut.png"),), (Want(),), files={"cut.png": png()[:12]}),
        Row(
            "an empty picture", (call("read", path="none.png"),), (ok(like="empty"),), files={"none.png": b""}
        ),
    ]
    ran = check_rows(project, rows)
    assert "image" in ran.call(0).kinds
    assert ran.call(1).kinds == ran.call(2).kinds == ("text",)
