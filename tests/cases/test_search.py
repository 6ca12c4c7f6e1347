"""Searching: patterns are text, misses are told from mistakes, and no file hides the others."""

from __future__ import annotations

import pytest

from tests.cases.project import Project
from tests.cases.rows import Row, bad, check_rows, ok, row
from tests.cases.turns import call

pytestmark = pytest.mark.slow

ROWS = (
    Row(
        "a pattern is never an option (earendil-works/pi#4018)",
        (
            call("grep", pattern="--pre=./pre.sh", path=".", literal=True),
            call("find", pattern="--exec=touch PWNED2", path="."),
            call("grep", pattern="-f/etc/passwd"),
            call("grep", pattern="see", path="--files"),
        ),
        (ok("t.txt"), ok(), ok(like="no match"), bad()),
        files={"pre.sh": b'#!/bin/sh\ntouch PWNED\ncat "$1"\n', "t.txt": b"see --pre=./pre.sh here\n"},
        setup="chmod +x pre.sh",
        check="test ! -e PWNED -a ! -e PWNED2",
    ),
    Row(
        "a pattern that does not compile is an error, a miss is none (magnitudedev/magnitude#103)",
        (
            call("grep", pattern="call(", path="."),
            call("grep", pattern="absent-word", path="."),
            call("grep", pattern="[z-a]"),
            call("grep", pattern="call(", literal=True),
            call("grep", pattern="x", path="absent-dir"),
        ),
        (
            bad(like="regex|parse|group|pattern"),
            ok(like="no match"),
            bad(like="regex|parse|range|pattern"),
            ok("c.txt"),
            bad(like="no such|not found|not exist"),
        ),
        files={"c.txt": b"call(\n"},
    ),
    Row(
        "a dangling link hides nothing (anomalyco/opencode#24972)",
        (
            call("find", pattern="*.txt", path="."),
            call("ls", path="."),
            call("grep", pattern="^x$", path="."),
        ),
        (ok("here.txt"), ok("here.txt", "dead.txt"), ok("here.txt")),
        files={"here.txt": b"x\n"},
        setup="ln -s /nowhere/at/all dead.txt; ln -s . round; mkdir shut; chmod 0 shut",
    ),
    Row(
        "names of all kinds are listed on one line each",
        (call("find", pattern="*odd*"), call("ls", path="odds")),
        (ok("naïve odd ☃.txt"), ok("naïve odd ☃.txt")),
        files={"odds/naïve odd ☃.txt": b"1", "odds/tab\todd.txt": b"2", "odds/\x1b[31modd.txt": b"3"},
    ),
    Row(
        "files that are not UTF-8, or binary, are no end of a search",
        (call("grep", pattern="needle"),),
        (ok("latin.txt", "good.txt"),),
        files={"latin.txt": b"caf\xe9 needle\n", "bin": b"\0\1\2needle\0", "good.txt": b"needle\n"},
    ),
    row("a blank pattern is no crash", call("find", pattern=""), bad()),
)
IN_GIT = (
    Row(
        "dot files are searched, .git is not (SchneiderDaniel/cheasee-pi#971)",
        (
            call("grep", pattern="NIGHTLY", path="."),
            call("find", pattern="*.yml", path="."),
            call("ls", path="."),
        ),
        (ok("n.yml", hasnt=(".git/", "COMMIT_EDITMSG")), ok("n.yml"), ok(".github")),
        setup="git init -q; mkdir -p .github/workflows; echo 'name: NIGHTLY' > .github/workflows/n.yml; "
        "git add -A; git -c user.name=t -c user.email=t@e commit -qm NIGHTLY",
    ),
    Row(
        "ignored files are left out, at every depth, with exceptions",
        (call("grep", pattern="MARK"), call("find", pattern="*.log")),
        (ok("keep.log", "src/app.py", hasnt=("drop.log", "built/")), ok("keep.log", hasnt=("drop.log",))),
        files={
            ".gitignore": b"*.log\n!keep.log\n/built/\n",
            "keep.log": b"MARK\n",
            "drop.log": b"MARK\n",
            "built/x.py": b"MARK\n",
            "src/.gitignore": b"gen*\n",
            "src/app.py": b"MARK\n",
            "src/generated.py": b"MARK\n",
        },
    ),
)


def test_a_pattern_is_judged_where_there_is_nothing_to_search(project: Project) -> None:
    check_rows(
        project,
        [
            row("a bad one", call("grep", pattern="call("), bad(like="group|parse|pattern")),
            row("a good one", call("grep", pattern="call"), ok(like="no match")),
        ],
    )


def test_a_search_finds_what_is_there(project: Project) -> None:
    check_rows(project, ROWS)


def test_a_search_in_a_repository_sees_what_is_its_own(project: Project) -> None:
    check_rows(project, IN_GIT)


def test_a_search_without_ripgrep_finds_the_same(project: Project) -> None:
    bare = project.base / "bin"
    bare.mkdir()
    for name in ("bash", "git", "touch", "chmod", "cat", "env", "sh", "true"):
        found = project.shell(f"command -v {name}").stdout.strip()
        (bare / name).symlink_to(found)
    check_rows(project, [*ROWS, *IN_GIT], env={"PATH": str(bare)})
