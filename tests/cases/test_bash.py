"""Commands: they come back, with an end, and leave nothing behind."""

from __future__ import annotations

import fcntl
import os
import pty
import socket
import termios
import threading
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from tests.cases.project import Project
from tests.cases.rows import Row, Want, bad, check_rows, ok, row
from tests.cases.turns import bash, turn
from tests.living import NAP

pytestmark = pytest.mark.slow


def gone(*durations: str) -> str:
    """A check that no `sleep` of these lengths is left."""
    lines = "cat /proc/[0-9]*/cmdline 2>/dev/null | tr '\\0' ' '"
    return "; ".join(f"! {{ {lines} | grep -q '[s]leep {duration}'; }} || exit 1" for duration in durations)


QUICK = (
    Row(
        "a background child that holds the pipe does not hold the call (anomalyco/opencode#48414)",
        (bash(f"sleep {NAP}.51 & echo front-done"),),
        (ok("front-done", max_s=5),),
        check=gone(f"{NAP}.51"),
    ),
    Row(
        "nor does a coprocess, a disowned one, or one in a session of its own",
        (
            bash(
                f"coproc sleep {NAP}.52; sleep {NAP}.53 & disown; setsid -f sleep {NAP}.54; echo all-started"
            ),
        ),
        (ok("all-started", max_s=5),),
        check=gone(f"{NAP}.52", f"{NAP}.53", f"{NAP}.54"),
    ),
    Row(
        "nor one that two forks and a closed stdin made a daemon",
        (bash(f"( ( exec setsid nohup sleep {NAP}.55 </dev/null & ) & ); echo parent-left"),),
        (ok("parent-left", max_s=5),),
        check=gone(f"{NAP}.55"),
    ),
    Row(
        "a child that ignores TERM is ended at the time limit (earendil-works/pi#9460)",
        (
            bash(f"bash -c 'trap \"\" TERM; : sleep {NAP}.65; while :; do sleep 0.2; done'", timeout=1),
            bash("echo next"),
        ),
        (bad(like="timed? ?out", max_s=15), ok("next")),
        check=gone(f"{NAP}.65"),
    ),
    Row(
        "grandchildren end with the call that timed out (anthropics/claude-code#84647)",
        (bash(f"sh -c 'sh -c \"sleep {NAP}.75; true\"; true' | cat", timeout=1),),
        (bad(like="timed? ?out", max_s=15),),
        check=gone(f"{NAP}.75"),
    ),
    Row(
        "a stopped child too",
        (bash(f"sleep {NAP}.76 & kill -STOP $!; wait", timeout=1),),
        (bad(like="timed? ?out", max_s=15),),
        check=gone(f"{NAP}.76"),
    ),
    Row(
        "what a timed-out command said before is kept",
        (bash(f"echo said-before; sleep {NAP}.77", timeout=1),),
        (bad("said-before", like="timed? ?out", max_s=15),),
        check=gone(f"{NAP}.77"),
    ),
    row(
        "standard input is at its end (MoonshotAI/kimi-cli#1579)",
        bash("cat; echo rc=$?; read -r x || echo at-end"),
        ok("rc=0", "at-end", max_s=3),
    ),
    row(
        "there is no terminal to be asked at",
        bash("(read -r x < /dev/tty) 2>/dev/null || echo no-tty; test -t 1 || echo no-screen"),
        ok("no-tty", "no-screen", max_s=3),
    ),
    row(
        "a python that asks gets an end of file",
        bash("python3 -c 'input()'; echo rc=$?"),
        ok("EOFError", "rc=1"),
    ),
    row(
        "an editor is not waited for",
        bash("git -c core.editor=true --version; EDITOR= sh -c 'echo e:$GIT_EDITOR'"),
        ok(),
    ),
    row("exit codes are told", bash("exit 3"), bad("3")),
    row("the shell's death by a signal is told", bash("kill -SEGV $$"), bad(like="SIGSEGV|signal")),
    row(
        "the shell's own words on a missing program are kept",
        bash("no-such-program"),
        bad("no-such-program", "127"),
    ),
    row("a syntax error is an error", bash("if true; then echo"), bad(like="syntax")),
    row("an open quote is an error", bash("echo 'open"), bad(like="quote|EOF|unexpected")),
    row("a here-document works", bash("cat <<'X'\n$HOME `id`\nX"), ok("$HOME `id`")),
    row("a comment alone is a command", bash("# nothing"), ok()),
    row(
        "set -e and exit in one call",
        bash("set -e; false; echo not-reached"),
        Want((), ("not-reached",), is_error=True),
    ),
    row("exec replaces the shell", bash("exec echo replaced"), ok("replaced")),
    row("a closed stdout is no hang", bash("exec 1>&- 2>&-; sleep 0.1"), ok(max_s=3)),
    row("a long command line is run", bash(f"x={'a' * 200_000}; echo ${{#x}}"), ok("200000")),
    row("text beyond ASCII is passed on as it is", bash("echo 'naïve ☃ 𝄞'"), ok("naïve ☃ 𝄞")),
)
ONE_AFTER_THE_OTHER = (
    Row(
        "a working directory that is gone is left (get-bb/bb#1529)",
        (bash("mkdir gone && cd gone && rmdir ../gone; echo here"), bash("echo alive; pwd")),
        (ok("here"), ok("alive", max_s=3)),
    ),
    Row(
        "one that may not be entered any more as well",
        (bash("mkdir -p shut/in && cd shut/in && mv ../../shut ../../moved; echo here"), bash("echo alive")),
        (ok("here"), ok("alive", max_s=3)),
    ),
    Row(
        "variables, functions and the directory live on; options and traps do not",
        (
            bash("export X=kept; f() { echo from-f; }; mkdir -p d; cd d; set -eu; trap 'echo trapped' EXIT"),
            bash("echo $X; f; pwd; echo $undefined; false; echo still-on"),
        ),
        (ok(), Want(("kept", "from-f", "/d", "still-on"), ("trapped",), is_error=False)),
    ),
    Row(
        "variables live on with any content",
        (
            bash("v=$'two\\nlines \\'\"\\\\ $(id) \\xc3\\xa9'; arr=(1 'b c'); declare -A m=([k]=v)"),
            bash('echo "$v"; echo ${#arr[@]} ${m[k]}'),
        ),
        (ok(), ok("two\nlines '\"\\ $(id) é", "2 v")),
    ),
    Row(
        "a call that hangs does not lose what was set before",
        (bash("BEFORE=1"), bash(f"sleep {NAP}.56", timeout=0.3), bash("echo before=$BEFORE")),
        (ok(), bad(), ok("before=1")),
        check=gone(f"{NAP}.56"),
    ),
    Row(
        "readonly, PATH and BASH_ENV of one call do not break the next",
        (bash("readonly R=1; export PATH= BASH_ENV=/nowhere ENV=/nowhere; hash -r"), bash("echo R=$R")),
        (ok(), ok("R=1", max_s=3)),
    ),
    Row(
        "an alias or function that hides a builtin does not break the next call",
        (
            bash(
                "cd() { echo hidden; }; declare() { :; }; printf() { :; }; export() { :; }; "
                "trap() { :; }; echo set"
            ),
            bash("echo after"),
        ),
        (ok("set"), ok("after", max_s=5)),
    ),
)


def test_commands_come_back_whatever_they_start(project: Project) -> None:
    # Without a sandbox: a check within one of its own would see no process that was left.
    check_rows(project, QUICK, at_once=True, sandbox="none")


def test_a_shell_survives_what_earlier_calls_did_to_it(project: Project) -> None:
    check_rows(project, ONE_AFTER_THE_OTHER)


@contextmanager
def guarded_server() -> Iterator[int]:
    """A loopback HTTP server that wants a password; its port."""
    listener = socket.create_server(("127.0.0.1", 0))

    def answer() -> None:
        while True:
            try:
                connection, _address = listener.accept()
            except OSError:
                return
            with connection:
                connection.recv(65536)
                connection.sendall(
                    b'HTTP/1.1 401 No\r\nWWW-Authenticate: Basic realm="x"\r\n'
                    b"Content-Length: 0\r\nConnection: close\r\n\r\n"
                )

    thread = threading.Thread(target=answer, daemon=True)
    thread.start()
    try:
        yield listener.getsockname()[1]
    finally:
        listener.shutdown(socket.SHUT_RDWR)
        listener.close()
        thread.join(5)


def test_nothing_asks_at_the_users_terminal(project: Project) -> None:
    """Nano-Collective/nanocoder#1344: git asks for a name on the terminal that the program runs in."""
    master, slave = pty.openpty()

    def take_terminal() -> None:
        os.setsid()
        fcntl.ioctl(slave, termios.TIOCSCTTY, 0)

    try:
        with guarded_server() as port:
            session = turn(
                bash(f"git clone -q http://127.0.0.1:{port}/p.git c; echo rc=$?", timeout=30),
                bash(
                    "ssh-keygen -y -f /dev/null </dev/null; sudo -k true 2>&1 | head -1; echo over",
                    timeout=20,
                ),
            )
            ran = project.run(session, popen={"preexec_fn": take_terminal, "pass_fds": (slave,)})
    finally:
        os.close(master)
        os.close(slave)
    assert "rc=128" in ran.call(0, 0).text
    assert ran.call(0, 0).duration_s < 10
    assert "over" in ran.call(0, 1).text
