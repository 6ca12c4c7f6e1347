"""What persists from one command to the next, and what cannot break it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from pi_batch.errors import ToolError
from pi_batch.protocols import ToolOutput
from pi_batch.sandboxes.fake import FakeSandbox
from pi_batch.sandboxes.none import NoneSandbox
from pi_batch.tools.bash import Bash
from pi_batch.tools.shell import Shell, ShellRun
from pi_batch.tools.shell_state import ShellState
from tests.tools.context import FakeContext, call, text_of


class Session:
    """One task's bash."""

    def __init__(self, context: FakeContext) -> None:
        self.context = context
        self.tool = Bash()

    async def __call__(self, command: str, timeout_s: float = 20) -> str:
        """What the model reads."""
        return text_of(await self.output(command, timeout_s))

    async def output(self, command: str, timeout_s: float = 20) -> ToolOutput:
        return await call(self.tool, self.context, command=command, timeout_s=timeout_s)


@pytest.fixture
async def sh(workspace: Path) -> AsyncIterator[Session]:
    sandbox = NoneSandbox(grace_s=0.2)
    await sandbox.start()
    yield Session(FakeContext(sandbox, str(workspace), scratch=str(workspace.parent / "scratch")))
    await sandbox.close()


@pytest.mark.parametrize(
    ("first", "second", "shown"),
    [
        ("x=1", "echo $x; env | grep -c ^x=", "1\n0\n[exit code 1]"),
        ("export x=1", "env | grep ^x=", "x=1"),
        ("x='a  b'; y='new\nline'; z=\"q'\\\"\\$HOME\\`\"", 'echo "$x|$y|$z"', "a  b|new\nline|q'\"$HOME`"),
        ("a=(1 'b c' $'d\\ne'); unset 'a[0]'", 'printf "<%s>" "${!a[@]}" "${a[@]}"', "<1><2><b c><d\ne>"),
        ("declare -A m=([k]=v ['x y']=z)", 'echo "${m[k]}${m[x y]}"', "vz"),
        ("declare -i n=5", "n+=2; echo $n", "7"),
        ("declare -r R=5; readonly -a L=(a b)", "echo $R ${L[1]}", "5 b"),
        ("x=1; declare -n ref=x", "ref=2; echo $x", "2"),
        ("x=; declare y", 'echo "${x-unset}|${y-unset}"', "|unset"),
        ('f() { echo "f $1"; }; g-h.i() { f 2; }', "f 1; g-h.i", "f 1\nf 2"),
        (
            "shopt -s extglob\nf() { [[ $1 == @(a|b) ]] && echo yes; }",
            "f a; shopt extglob",
            "yes\nextglob        \toff\n[exit code 1]",
        ),
        ('f() { cat <<E\n$1\'s "doc"\nE\n}', "f my", 'my\'s "doc"'),
        ("f() { echo exported; }; export -f f", "bash -c f", "exported"),
        ('cd() { builtin cd "$@" && echo moved; }; mkdir d', 'cd d; echo "${PWD##*/}"', "moved\nd"),
        ("mkdir d; cd d", 'echo "${PWD##*/}"; cd - >/dev/null; echo "${PWD##*/}"', "d\nworkspace"),
        (
            "mkdir real; ln -s real link; cd link",
            "echo \"${PWD##*/}\"; pwd -P | sed 's/.*workspace//'",
            "link\n/real",
        ),
        ("mkdir $'new\\nline'; cd $'new\\nline'", 'basename "$PWD"', "new\nline"),
        ("unset LANG", "echo ${LANG-unset}; env | grep -c LANG=", "unset\n0\n[exit code 1]"),
        ("PATH=$PATH:/extra", "echo ${PATH##*:}; echo $PATH | grep -o /extra | wc -l", "/extra\n1"),
        ("IFS=:", "x=a:b; echo $x", "a b"),
        ("export -n LANG", "echo $LANG; env | grep LANG", "C.UTF-8\n[exit code 1]"),
        ("LANG=de; export LANG", "env | grep ^LANG", "LANG=de"),
        ("unset PATH", "echo still; /bin/echo here", "still\nhere"),
        ("x=$'\\001\\x7f\\xff\\e[1m'", 'printf %s "$x" | od -An -tx1', " 01 7f ff 1b 5b 31 6d"),
        ("set -e; x=kept; false; x=lost", "echo $x; [[ $- == *e* ]] || echo off", "kept\noff"),
        ("x=kept; exit 3", "echo $x", "kept"),
        ("set -u; x=kept; echo $nothing", "echo $x", "kept"),
        ("x=kept; : ${y:?missing}", "echo $x", "kept"),
        ("f() { x=kept; exit 1; }; f", "echo $x", "kept"),
        ("set -x; x=kept; { set +x; } 2>/dev/null", "echo $x; [[ $- == *x* ]] || echo off", "kept\noff"),
        ("x=kept; exec >&- 2>&-", "echo $x", "kept"),
        ("x=kept; set -o posix; set -f; shopt -s nocasematch nullglob", "echo $x", "kept"),
        ("x=kept; ulimit -f 0", "echo $x", "(no output)"),
        ("x=kept; kill -TERM $$", "echo $x", "kept"),
        ("trap 'echo dbg' DEBUG; x=kept", "echo $x", "kept"),
        ("x=old", "x=new; exec true", "(no output)"),
    ],
)
async def test_what_one_command_leaves_the_next_one_finds(
    sh: Session, first: str, second: str, shown: str
) -> None:
    await sh(first)
    assert await sh(second) == shown


@pytest.mark.parametrize(
    "ending",
    [
        "x=lost; exec true",
        "x=lost; kill -9 $$",
        "x=lost; sleep 99",
        "x=lost; trap '' TERM; sleep 99; sleep 99",
        "x=lost; if",
        "x=lost; exec /no/such/program",
        'rm -rf "$TMPDIR" /nowhere; x=lost; kill -9 $$',
    ],
)
async def test_a_shell_that_does_not_come_to_its_end_leaves_the_state_as_it_was(
    sh: Session, ending: str
) -> None:
    await sh("x=kept; f() { echo f; }; mkdir d; cd d")
    await sh(ending, timeout_s=0.4)
    assert await sh('echo $x; f; echo "${PWD##*/}"') == "kept\nf\nd"


async def test_the_commands_own_exit_trap_runs_and_nothing_is_lost(sh: Session) -> None:
    assert await sh("trap 'echo bye $?' EXIT; x=1; echo hi") == "hi\nbye 0"
    assert await sh("echo $x; trap") == "1\ntrap -- '{ __pi_batch_save; } 2>/dev/null' EXIT"
    assert await sh("trap 'echo bye $?' EXIT; x=2; exit 3") == "bye 3\n[exit code 3]"
    assert (
        await sh("echo $x; set -e; trap -- 'echo $x; rm -f t' SIGEXIT INT; x=3; false")
        == "2\n3\n[exit code 1]"
    )
    assert await sh("echo $x; trap 'exit 7' 0; x=4") == "3\n[exit code 7]"
    assert await sh("echo $x; trap 'echo no' EXIT; trap - EXIT; x=5") == "4"
    assert await sh("trap 'echo int' INT; kill -INT $$; trap - INT; echo $x") == "int\n5"
    assert (
        await sh("(trap 'echo sub' EXIT; echo in); trap 'echo err' ERR; false; trap - ERR") == "in\nsub\nerr"
    )


async def test_a_function_that_sets_a_return_trap_works_as_ever(sh: Session) -> None:
    assert await sh("f() { trap 'echo back; trap - RETURN' RETURN; echo in; }; f; x=1") == "in\nback"
    assert await sh("echo $x; f") == "1\nin\nback"


async def test_functions_named_like_builtins_break_no_later_command(sh: Session) -> None:
    names = "eval set unset trap printf declare local pwd shopt command exit builtin"
    await sh(f'for n in {names}; do builtin eval "$n() {{ echo fake $n; }}"; done; x=kept')
    assert await sh('builtin echo "$x"; set') == "kept\nfake set"
    await sh("unset() { :; }; builtin() { exit 9; }; y=kept")
    assert await sh("\\builtin echo $y") == "kept"


async def test_a_large_state_is_not_kept_and_said(sh: Session) -> None:
    await sh("x=small")
    shown = await sh("x=$(head -c 5000000 /dev/zero | tr '\\0' x); echo done")
    assert "are not kept: they are over 4.0 MB" in shown
    assert shown.endswith("done")
    assert await sh("echo $x") == "small"


async def test_many_functions_and_variables_come_back(sh: Session) -> None:
    await sh('for i in {1..500}; do eval "f$i() { echo $i; }; v$i=$i"; done')
    assert await sh("f1; f500; echo $v250") == "1\n500\n250"


async def test_a_damaged_state_file_costs_nothing(sh: Session, workspace: Path) -> None:
    await sh("x=kept; f() { echo f; }")
    for file in (workspace.parent / "scratch" / ".shell").iterdir():
        file.write_bytes(b"exit 9\n\0\0 (((")
    assert await sh("echo $x; f") == "kept\nf"
    await sh("rm -rf ../scratch/.shell")
    assert await sh("echo $x; f") == "kept\nf"


@pytest.mark.parametrize("poison", [b"exit 9", b"exec true", b"kill -9 $$", b"while :; do :; done"])
async def test_a_state_that_stops_every_shell_is_dropped_and_the_command_runs_once(
    sh: Session, poison: bytes
) -> None:
    shell = Shell(ShellState(sh.context.workspace, poison, frozenset({"x"})), probe_s=0.4)
    output: list[bytes] = []

    async def run(command: str) -> ShellRun:
        return await shell.run(command, limit_s=0.5, context=sh.context, on_output=output.append)

    first = await run("echo runs; x=1")
    assert first.notes == (
        "[the shell's old variables and functions could not be brought back and are gone]",
    )
    assert first.completed.timed_out == poison.startswith(b"while")
    second = await run("echo again; x=1")
    assert second.notes == ()
    assert b"".join(output) == (b"" if first.completed.timed_out else b"runs\n") + b"again\n"


async def test_a_syntax_error_in_the_state_costs_what_comes_after_it(sh: Session) -> None:
    shell = Shell(ShellState(sh.context.workspace, b"x=1\n(((\ny=2\n", frozenset({"x", "y"})))
    output: list[bytes] = []
    await shell.run("echo ${y-unset}", limit_s=9, context=sh.context, on_output=output.append)
    assert output == [b"unset\n"]


async def test_a_directory_that_is_gone_is_said_and_the_workspace_is_next(sh: Session) -> None:
    assert await sh("mkdir gone && cd gone && rmdir ../gone; echo here") == "here"
    shown = await sh("echo alive; pwd")
    assert "/gone no longer exists: started in " in shown
    assert shown.endswith(f"alive\n{sh.context.workspace}")
    assert await sh("pwd") == sh.context.workspace


async def test_a_scratch_directory_that_is_gone_is_made_again(sh: Session) -> None:
    await sh("x=1")
    await sh("rm -rf ../scratch")
    assert await sh("echo $x") == "1"


async def test_commands_at_the_same_time_do_not_meet(sh: Session) -> None:
    await sh("x=0")
    shown = await asyncio.gather(*(sh(f"x={number}; sleep 0.1; echo $x") for number in range(8)))
    assert shown == [str(number) for number in range(8)]
    assert await sh("echo $x") == "7"


async def test_of_commands_at_once_the_last_in_order_leaves_its_state(sh: Session) -> None:
    await asyncio.gather(sh("x=first; sleep 0.3"), sh("x=second; sleep 0.1"), sh("x=third; exec true"))
    assert await sh("echo $x") == "second", "the third ended without saving anything"


async def test_tasks_share_a_tool_but_no_state(sh: Session, workspace: Path) -> None:
    await sh("x=mine")
    other = FakeContext(sh.context.sandbox, str(workspace), scratch=str(workspace.parent / "other"))
    assert text_of(await call(sh.tool, other, command="echo ${x-unset}")) == "unset"


async def test_the_shell_is_its_own_for_each_command(sh: Session) -> None:
    await sh("sleep 0.01 & BASH_ARGV0=x; SECONDS=99; shopt -s nullglob; set -- a b; x=$SHLVL")
    assert await sh("jobs; echo $# $0 $((SECONDS < 9)) $((SHLVL == x))") == "0 bash 1 1"
    assert await sh("echo ${BASH_ENV-unset} $(bash -c 'echo ${BASH_ENV-unset}')") == "unset unset"


async def test_a_long_command_goes_by_file(sh: Session) -> None:
    long = "x='" + "é" * 150_000 + "'; y=kept; echo ${#x}; exit 4"
    assert await sh(long) == "150000\n[exit code 4]"
    assert await sh("echo $y ${#x}") == "kept 150000"


async def test_without_bash_one_line_says_so(workspace: Path) -> None:
    sandbox = FakeSandbox({str(workspace / "f"): b""})
    await sandbox.start()
    context = FakeContext(sandbox, str(workspace), scratch="/scratch")
    with pytest.raises(ToolError, match=r"^bash is not installed where commands run: [^\n]*$"):
        await call(Bash(), context, command="echo x")


async def test_an_environment_that_is_too_large_is_said(sh: Session) -> None:
    sh.context.env = {**sh.context.env, "BIG": "x" * 200_000}
    with pytest.raises(ToolError, match="bash could not be started: Argument list too long"):
        await sh("echo x")
