"""Output: readable, bounded, and no end of a run, whatever bytes it is made of."""

from __future__ import annotations

import pytest

from tests.cases.project import Project
from tests.cases.rows import Row, Want, bad, check_rows, ok, row
from tests.cases.turns import bash, turn

pytestmark = pytest.mark.slow

ROWS = (
    row(
        "bytes that are not UTF-8 are replaced (SWE-agent/mini-swe-agent#154)",
        bash(r"printf 'caf\351 \377\376 fine\n'"),
        ok("fine"),
    ),
    row(
        "UTF-16 and a lone continuation byte too", bash(r"printf '\377\376a\000b\000\n\200 end\n'"), ok("end")
    ),
    row("a surrogate in UTF-8 too", bash(r"printf 'x\355\240\200y\n'"), ok("x", "y")),
    row("a character cut at the end too", bash(r"printf 'last \342\230'"), ok("last")),
    row(
        "NUL is no end (anthropics/claude-code#94055)", bash(r"printf 'left\000right\n'"), ok("left", "right")
    ),
    row("random bytes are no end", bash("head -c 4096 /dev/urandom; echo; echo after"), ok("after")),
    row(
        "escape codes are taken out whole (datalayer/jupyter-mcp-server#426)",
        bash(r"printf '\033[31mred\033[0m \033[?25l\033[2K\033[1A\033]0;title\007plain\033(B end\n'"),
        ok("red", "plain", "end", hasnt=("\x1b", "[?25l", "[2K", "]0;title", "(B", "\x07")),
    ),
    row(
        "links, 8-bit codes, device strings and cut codes too",
        bash(
            r"printf '\033]8;;http://x\033\\link\033]8;;\033\\ \302\2331mbold \033Pq#0\033\\sixel '; "
            r"printf '\033[38;2;1;2;3mrgb\033[m tail\033['"
        ),
        ok("link", "bold", "sixel", "rgb", "tail", hasnt=("\x1b", "http://x", "q#0", "38;2", "\x9b")),
    ),
    row(
        "of a progress bar the last state is kept",
        bash(r"for i in 1 50 100; do printf 'done %d%%\r' $i; done; printf '\nover\n'"),
        ok("done 100%", "over", hasnt=("done 1%", "\r")),
    ),
    row("backspaces leave no control byte", bash(r"printf 'N\bNA\bA\n'"), ok(hasnt=("\b",))),
    row("a silent command says so (dirge-code/dirge#757)", bash("true"), ok(like="no output")),
    row("blank output says something", bash(r"printf '\n \n\t\n'"), ok(like=r"\S")),
    row("stderr is part of it", bash("echo to-err >&2; exit 1"), bad("to-err", "1")),
)
LARGE = (
    row(
        "an endless printer is ended and cut (anomalyco/opencode#20115)",
        bash("yes", timeout=1),
        Want(like="truncat", is_error=True, max_s=10, max_bytes=65_536),
    ),
    row(
        "of much output the end is kept",
        bash("seq 1 200000; echo THE-END"),
        Want(("THE-END", "200000"), like="truncat", is_error=False, max_bytes=65_536),
    ),
    row(
        "one endless line is cut",
        bash("head -c 3000000 /dev/zero | tr '\\0' x; echo; echo THE-END"),
        Want(("THE-END",), like="truncat", is_error=False, max_bytes=65_536),
    ),
    row(
        "so is one of wide characters, between two of them",
        bash("yes ☃ | head -c 300000 | tr -d '\\n'"),
        Want(("☃",), ("\ufffd",), like="truncat", is_error=False, max_bytes=65_536),
    ),
)


def test_output_is_readable_whatever_its_bytes(project: Project) -> None:
    ran = check_rows(project, ROWS)
    assert b"\0" not in ran.session_bytes
    assert rb"\u0000" not in ran.session_bytes
    ran.session_bytes.decode("utf-8", "strict")
    assert rb"\ud8" not in ran.session_bytes.lower()
    for path in ran.files():
        assert b"\0" not in path.read_bytes() or "outputs" in path.parts, path


def test_large_output_is_bounded_and_kept_in_a_file(project: Project) -> None:
    ran = check_rows(project, LARGE, at_once=True)
    assert ran.max_rss_mib < 400
    assert len(ran.session_bytes) < 1_000_000
    whole = next(path for path in ran.files() if "outputs" in path.parts and b"THE-END" in path.read_bytes())
    assert whole.name in ran.call(0, 1).text + ran.call(0, 2).text


def test_the_whole_output_can_be_read_again(project: Project) -> None:
    first = project.run(turn(bash("seq 1 200000; echo THE-END")))
    named = first.call(0).details["full_output_path"]
    assert named in first.call(0).text
    assert named.startswith(str(first.run_dir))


def test_a_write_beyond_the_disk_is_told_and_survived(project: Project) -> None:
    row_ = Row(
        "a full disk under a command",
        (bash("echo x > /dev/full"), bash("echo still-here")),
        (bad(like="space"), ok("still-here")),
    )
    check_rows(project, [row_])
