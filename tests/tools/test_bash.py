"""bash as a model sees it: results, limits, and commands that misbehave."""

from __future__ import annotations

import asyncio
import os
import resource
import socketserver
import sys
import threading
import time
from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler
from pathlib import Path

import pytest

from pi_batch.environment import child_environment
from pi_batch.errors import ToolError
from pi_batch.outputs import MaskedOutput
from pi_batch.protocols import ToolOutput
from pi_batch.sandboxes.fake import FakeCall, FakeRun, FakeSandbox
from pi_batch.sandboxes.none import NoneSandbox
from pi_batch.tools.bash import Bash, BashArguments
from pi_batch.tools.declare import declaration, parse_arguments
from tests.living import a_nap, living, until
from tests.tools.context import FakeContext, MemoryOutput, call, text_of


class CappedOutput(MemoryOutput):
    """Keeps no more than a little, as the real file does."""

    def write(self, data: bytes) -> None:
        self.content += data[: max(100_000 - len(self.content), 0)]


class CappedContext(FakeContext):
    """A context whose outputs are capped."""

    def open_output(self, suffix: str) -> MemoryOutput:
        self.outputs.append(CappedOutput(f"/outputs/{len(self.outputs)}{suffix}"))
        return self.outputs[-1]


@dataclass
class Session:
    """One task's bash."""

    context: FakeContext
    tool: Bash

    async def __call__(self, command: str, **arguments: float) -> ToolOutput:
        return await call(self.tool, self.context, command=command, **arguments)

    async def text(self, command: str, **arguments: float) -> str:
        """What the model reads."""
        return text_of(await self(command, **arguments))


@pytest.fixture
async def bash(workspace: Path) -> AsyncIterator[Session]:
    sandbox = NoneSandbox(grace_s=0.2)
    await sandbox.start()
    scratch = str(workspace.parent / "scratch")
    env = child_environment({"PATH": os.environ["PATH"]}, ["PATH"], scratch)
    yield Session(CappedContext(sandbox, str(workspace), scratch, env=env), Bash())
    await sandbox.close()


# --- arguments ------------------------------------------------------------------------------------


def test_the_schema_shows_one_spelling_and_others_are_taken() -> None:
    schema = declaration(Bash()).parameters
    assert set(schema["properties"]) == {"command", "timeout_s"}
    assert schema["required"] == ["command"]
    assert schema["properties"]["timeout_s"]["default"] == 120
    assert schema["additionalProperties"] is False
    made = parse_arguments(Bash(), {"command": "x", "timeout": 5})
    assert made == BashArguments(command="x", timeout_s=5.0)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ({}, "command"),
        ({"command": ""}, "command"),
        ({"command": " \n"}, "blank"),
        ({"command": "a\0b"}, "NUL"),
        ({"command": ["ls"]}, "command"),
        ({"command": "x", "timeout_s": 0}, "timeout_s"),
        ({"command": "x", "timeout_s": 120_000}, "3600"),
        ({"command": "x", "timeout_s": "soon"}, "timeout_s"),
        ({"command": "x", "timeout_s": float("nan")}, "timeout_s"),
        ({"command": "x", "cwd": "/"}, "cwd"),
        ({"command": "lone \ud800"}, "command"),
    ],
)
def test_wrong_arguments_are_named(arguments: dict[str, object], said: str) -> None:
    with pytest.raises(ToolError, match=said) as refused:
        parse_arguments(Bash(), arguments)
    assert refused.value.error_kind == "invalid_arguments"


# --- results --------------------------------------------------------------------------------------


async def test_a_command_that_is_well_gives_its_output_and_nothing_else(bash: Session) -> None:
    output = await bash("echo out; echo err >&2; pwd")
    assert text_of(output) == f"out\nerr\n{bash.context.workspace}"
    assert (output.is_error, output.error_kind) == (False, None)
    details = dict(output.details)
    assert 0 <= details.pop("duration_s") < 9
    assert details == {
        "exit_code": 0,
        "signal": None,
        "timed_out": False,
        "truncated": False,
        "full_output_path": None,
    }
    assert output.value == {
        "output": f"out\nerr\n{bash.context.workspace}\n",
        "exit_code": 0,
        "truncated": False,
        "full_output_path": None,
    }


@pytest.mark.parametrize(
    ("command", "text"),
    [
        ("false", "(no output)\n[exit code 1]"),
        ("echo x; exit 3", "x\n[exit code 3]"),
        ("sh -c 'kill -SEGV $$'; exit $?", "[exit code 139: SIGSEGV]"),
        ("kill -9 $$", "(no output)\n[ended by signal SIGKILL]"),
        ("echo x; kill -40 $$", "x\n[ended by signal 40]"),
        ("exit 200", "(no output)\n[exit code 200]"),
        ("no-such-command", "bash: line 1: no-such-command: command not found\n[exit code 127]"),
        ("echo a\nif", "bash: -c: line 3: syntax error: unexpected end of file\n[exit code 2]"),
    ],
)
async def test_a_command_that_fails_says_how(bash: Session, command: str, text: str) -> None:
    output = await bash(command)
    assert text_of(output).endswith(text)
    assert (output.is_error, output.error_kind) == (True, "failed")


@pytest.mark.parametrize(
    "command", ["true", "echo", "printf '\\n\\n'", "exec >&-; sleep 0.01", "echo -e '\\e[2K\\r'"]
)
async def test_no_output_is_said_in_words(bash: Session, command: str) -> None:
    output = await bash(command)
    assert text_of(output) == "(no output)"
    assert not output.is_error


@pytest.mark.parametrize(
    ("command", "text"),
    [
        (r"printf 'caf\351 \377\376 fine\n'", "caf\ufffd \ufffd\ufffd fine"),
        (r"printf 'left\000right\n'", "left␀right"),
        (
            r"printf '\033[31mred\033[0m \033[?25l\033[2K\033[1A\033]0;title\007plain\033(B end\n'",
            "red plain end",
        ),
        (r"for i in 1 2 3; do printf '\r%d%%' $i; done; echo; printf 'a\r\nb'", "3%\na\nb"),
        (r"for b in 346 274 242; do printf '\'$b; sleep 0.02; done", "漢"),
        (r"printf '|\b/\b-\b\\\n'", "\\"),
        ("printf 'no newline'", "no newline"),
        ("printf '\\ud83d'; printf '\\xed\\xa0\\xbd x'", "\ufffd x"),
    ],
)
async def test_output_is_made_readable(bash: Session, command: str, text: str) -> None:
    shown = await bash.text(command)
    assert shown.endswith(text)
    shown.encode()
    assert "\x1b" not in shown


async def test_binary_output_is_text_after_all(bash: Session) -> None:
    shown = await bash.text("head -c 3000 /dev/urandom; echo; echo end")
    assert shown.endswith("end")
    assert not set(map(chr, range(32))) - {"\n", "\t"} & set(shown)


async def test_of_a_long_output_the_end_is_shown_and_the_whole_is_kept(bash: Session) -> None:
    output = await bash("seq 3000")
    lines = text_of(output).split("\n")
    assert lines[0].startswith("[output truncated: only the last 2000 of 3000 lines shown")
    assert lines[0].endswith("full output: /outputs/0.txt]")
    assert lines[1:] == [str(number) for number in range(1001, 3001)]
    assert output.details["truncated"]
    assert output.details["full_output_path"] == output.value["full_output_path"] == "/outputs/0.txt"
    assert output.value["output"].startswith("1\n2\n")
    assert not output.value["truncated"]
    assert bash.context.outputs[0].content == b"".join(b"%d\n" % number for number in range(1, 3001))


async def test_an_endless_printer_is_bounded_in_time_memory_and_text(bash: Session) -> None:
    before_kib = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    start = time.monotonic()
    output = await bash("yes", timeout_s=1)
    assert time.monotonic() - start < 10
    text = text_of(output)
    assert "truncated" in text
    assert text.endswith("[timed out after 1 s; everything that the call started was ended]")
    assert len(text.encode()) <= 51 * 1024
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before_kib < 100 * 1024
    assert len(output.value["output"]) <= 1024 * 1024
    assert await bash.text("echo still-here") == "still-here"


async def test_the_file_of_an_endless_printer_has_its_cap(bash: Session, tmp_path: Path) -> None:
    class NoMask:
        def feed(self, data: bytes) -> bytes:
            return data

        def flush(self) -> bytes:
            return b""

    file = MaskedOutput(tmp_path / "o.txt", NoMask(), cap_bytes=2_000_000)

    class RealContext(FakeContext):
        def open_output(self, suffix: str) -> MaskedOutput:  # type: ignore[override]
            return file

    context = RealContext(bash.context.sandbox, bash.context.workspace, bash.context.scratch)
    text = text_of(await call(Bash(), context, command="yes | head -c 9000000"))
    assert f"full output: {tmp_path}/o.txt" in text
    assert 2_000_000 < (tmp_path / "o.txt").stat().st_size < 2_000_100


async def test_progress_is_shown_a_few_times_a_second(bash: Session) -> None:
    await bash("for i in $(seq 60); do echo step $i; sleep 0.01; done")
    assert 1 <= len(bash.context.updates) <= 8
    assert bash.context.updates[0].startswith("step ")


# --- limits ---------------------------------------------------------------------------------------


async def test_a_command_that_times_out_keeps_what_it_printed(bash: Session) -> None:
    output = await bash("echo partial; printf more; sleep 99", timeout_s=0.3)
    assert text_of(output) == (
        "partial\nmore\n[timed out after 0.3 s; everything that the call started was ended]"
    )
    assert (output.is_error, output.error_kind) == (True, "timeout")
    assert output.details["timed_out"]
    assert output.details["exit_code"] is None


async def test_the_tasks_time_is_a_limit_too(bash: Session) -> None:
    bash.context.seconds_left = 0.3
    output = await bash("sleep 99")
    assert "timed out after 0.3 s, all that was left of the task's time;" in text_of(output)
    assert output.error_kind == "timeout"


async def test_limits_go_to_the_sandbox_as_they_are() -> None:
    fake = FakeSandbox({"/work/f": b""}, lambda call: FakeRun(b"x\n"))
    await fake.start()
    context = FakeContext(fake, "/work", "/scratch")
    await call(Bash(), context, command="x")
    await call(Bash(), context, command="x", timeout_s=7)
    context.seconds_left = 3.5
    await call(Bash(), context, command="x", timeout=9)
    assert [made.timeout_s for made in fake.calls] == [120, 7, 3.5]


async def test_a_sandbox_that_refuses_to_start_a_process_is_one_line() -> None:
    def refuse(_: FakeCall) -> FakeRun:
        raise BlockingIOError(11, "Resource temporarily unavailable")

    fake = FakeSandbox({"/work/f": b""}, refuse)
    await fake.start()
    with pytest.raises(
        ToolError, match=r"^bash could not be started: Resource temporarily unavailable[^\n]*$"
    ):
        await call(Bash(), FakeContext(fake, "/work", "/scratch"), command="x")


# --- commands that misbehave ----------------------------------------------------------------------


@pytest.mark.parametrize(
    "background",
    [
        "sleep NAP &",
        "nohup sleep NAP >/dev/null 2>&1 &",
        "setsid sleep NAP & disown",
        "coproc sleep NAP",
        "(env -i setsid sh -c 'sleep NAP & exit' &)",
    ],
)
async def test_a_background_child_does_not_hold_the_call_and_dies_with_the_task(
    bash: Session, background: str
) -> None:
    nap = a_nap()
    start = time.monotonic()
    output = await bash(background.replace("NAP", nap) + "\necho front-done")
    assert text_of(output) == "front-done"
    assert not output.is_error
    assert time.monotonic() - start < 5
    await bash.context.sandbox.close()
    assert not living(f"sleep {nap}")


async def test_a_child_that_ignores_the_terminate_signal_is_killed_and_the_task_goes_on(
    bash: Session,
) -> None:
    output = await bash(
        "bash -c 'trap \"\" TERM; echo $$ > stub.pid; while :; do sleep 0.2; done'", timeout_s=0.5
    )
    assert output.is_error
    assert "timed out" in text_of(output)
    pid = (Path(bash.context.workspace) / "stub.pid").read_text("utf-8").strip()
    assert not Path(f"/proc/{pid}").exists()
    assert await bash.text("echo next") == "next"


@pytest.mark.parametrize(
    "command",
    [
        "sh -c 'sh -c \"sleep NAP; true\"; true' | cat",
        "trap '' TERM HUP; setsid sleep NAP & wait",
        "cat <(sleep NAP)",
        "coproc sleep NAP; wait",
        "sleep NAP & kill -STOP $$",
    ],
)
async def test_no_process_of_a_timed_out_call_is_left_when_its_result_is_given(
    bash: Session, command: str
) -> None:
    nap = a_nap()
    output = await bash(command.replace("NAP", nap), timeout_s=0.3)
    assert output.error_kind == "timeout"
    assert not living(f"sleep {nap}")


async def test_standard_input_is_at_its_end_from_the_start(bash: Session) -> None:
    shown = await bash.text("cat; echo rc=$?; read -r x || echo at-end; python3 -c 'input()' 2>&1 | tail -1")
    assert shown == "rc=0\nat-end\nEOFError: EOF when reading a line"


async def test_the_parent_shell_killed_by_its_own_child_is_a_result(bash: Session) -> None:
    assert await bash.text("echo a; (kill -9 $$); echo b") == "a\n[ended by signal SIGKILL]"
    assert await bash.text("echo alive") == "alive"


async def test_two_hundred_short_calls_at_once(bash: Session) -> None:
    texts = await asyncio.gather(*(bash.text(f"echo {number}") for number in range(200)))
    assert texts == [str(number) for number in range(200)]


async def test_a_cancelled_command_is_ended_and_the_next_one_has_the_old_state(bash: Session) -> None:
    nap = a_nap()
    await bash("x=old")
    running = asyncio.create_task(bash(f"x=new; sleep {nap}"))
    await until(lambda: living(f"sleep {nap}"))
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running
    assert not living(f"sleep {nap}")
    assert await bash.text("echo $x") == "old"


# --- nobody is asked ------------------------------------------------------------------------------


class _AsksForAPassword(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        self.send_response(401)
        self.send_header("WWW-Authenticate", "Basic")
        self.end_headers()

    def log_message(self, *_: object) -> None:
        """Say nothing."""


@pytest.fixture
def closed_server() -> Iterator[int]:
    with socketserver.ThreadingTCPServer(("127.0.0.1", 0), _AsksForAPassword) as server:
        threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}).start()
        yield server.server_address[1]
        server.shutdown()


async def test_git_that_wants_a_password_fails_by_itself(bash: Session, closed_server: int) -> None:
    start = time.monotonic()
    shown = await bash.text(f"git clone http://127.0.0.1:{closed_server}/p.git c; echo rc=$?", timeout_s=30)
    assert shown.endswith("rc=128")
    assert time.monotonic() - start < 10


@pytest.mark.skipif(not os.path.ismount("/dev/pts"), reason="no terminals can be had here")
async def test_there_is_no_terminal_even_where_the_program_runs_on_one(tmp_path: Path) -> None:
    """Runs the tool under a terminal of its own, and has a command ask that terminal."""
    script = f"""
import asyncio, os, pty, sys
pid, terminal = pty.fork()
if pid:
    output = b""
    try:
        while chunk := os.read(terminal, 999):
            output += chunk
    except OSError:
        pass
    print(output.decode())
    sys.exit(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
from pi_batch.sandboxes.none import NoneSandbox
from pi_batch.tools.bash import Bash, BashArguments
from tests.living import a_nap, living, until
from tests.tools.context import FakeContext, call, text_of
async def main():
    sandbox = NoneSandbox()
    await sandbox.start()
    context = FakeContext(sandbox, {str(tmp_path)!r}, {str(tmp_path / "s")!r})
    print(text_of(await call(Bash(), context, command="read -r x </dev/tty; tty; echo rc=$?")))
    await sandbox.close()
asyncio.run(main())
"""
    child = await asyncio.create_subprocess_exec(
        sys.executable, "-c", script, cwd=Path(__file__).parents[2], stdout=asyncio.subprocess.PIPE
    )
    shown, _ = await asyncio.wait_for(child.communicate(), 20)
    assert b"/dev/tty: No such device or address" in shown
    assert b"not a tty\r\nrc=1" in shown
