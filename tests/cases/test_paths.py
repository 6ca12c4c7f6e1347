"""Paths: nothing is written or read outside the workspace, and nothing inside is refused."""

from __future__ import annotations

import pytest

from tests.cases.project import Project
from tests.cases.rows import Row, bad, check_rows, ok
from tests.cases.turns import call, edit, write

pytestmark = pytest.mark.slow

INSIDE = (
    Row(
        "a link to a directory inside is no escape (openclaw/openclaw#84913)",
        (write("memo/n.md", "ok\n"), call("read", path="memo/n.md")),
        (ok(), ok("ok")),
        setup="mkdir real; ln -s real memo",
        after={"real/n.md": b"ok\n"},
    ),
    Row(
        "files hold exactly what is written (cline/cline#4727)",
        (write("todo.txt", ""), write("deep/er/x.txt", "no newline"), write("crlf.txt", "a\r\nb\r\n")),
        (ok(), ok(), ok()),
        files={"todo.txt": b"junk\n"},
        after={"todo.txt": b"", "deep/er/x.txt": b"no newline", "crlf.txt": b"a\r\nb\r\n"},
    ),
    Row(
        "names of all kinds are written as they are",
        (write("-rf", "1"), write("./~", "2"), write("$HOME;id", "3"), write("a\nb", "4"), write(" x ", "5")),
        (ok(), ok(), ok(), ok(), ok()),
        after={"-rf": b"1", "~": b"2", "$HOME;id": b"3", "a\nb": b"4", " x ": b"5"},
    ),
    Row(
        "steps that come back are no escape",
        (write("a/b/../../c.txt", "ok"), write("./././d.txt", "ok")),
        (ok(), ok()),
        setup="mkdir -p a/b",
        after={"c.txt": b"ok", "d.txt": b"ok"},
    ),
)
ESCAPES = (
    Row(
        "a link to a file outside (CopilotKit/OpenBot#100)",
        (write("notes.md", "owned\n"), edit("notes.md", "original", "owned"), call("read", path="notes.md")),
        (bad(), bad(), bad()),
        setup="printf 'original\\n' > ../victim.txt; ln -s ../victim.txt notes.md",
    ),
    Row(
        "a link to a directory outside, and one in it",
        (write("up/new.txt", "owned\n"), write("up/sub/new.txt", "owned\n"), call("ls", path="up")),
        (bad(), bad(), bad()),
        setup="mkdir ../beside; ln -s ../beside up",
    ),
    Row(
        "a link to nothing outside",
        (write("dangling", "owned\n"),),
        (bad(),),
        setup="ln -s ../made.txt dangling",
    ),
    Row(
        "two steps up, an absolute path, a sibling that begins alike",
        (
            write("../made.txt", "owned\n"),
            write("x/../../made.txt", "owned\n"),
            write("/tmp/../made-by-the-agent.txt", "owned\n"),
            write("~/made.txt", "owned\n"),
            write("../project2/made.txt", "owned\n"),
            call("read", path="../victim.txt"),
            call("grep", pattern="original", path=".."),
            call("find", pattern="*", path="../beside"),
        ),
        (bad(),) * 8,
        setup="mkdir -p ../project2 x",
        check='test "$(cat ../victim.txt)" = original && test -z "$(ls -A ../beside; ls -A ../project2)" && '
        "test ! -e ../made.txt && test ! -e /made-by-the-agent.txt",
    ),
)


def test_what_lies_inside_can_be_reached_by_any_way(project: Project) -> None:
    check_rows(project, INSIDE)


def test_what_lies_outside_can_not(project: Project) -> None:
    check_rows(project, ESCAPES)
