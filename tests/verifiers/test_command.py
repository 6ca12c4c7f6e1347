"""Tests of checks that are shell commands."""

from __future__ import annotations

import asyncio
import os
import resource
import shlex
import sys
from pathlib import Path

import pytest
from msgspec.structs import replace

from pi_batch.errors import VerificationError
from pi_batch.protocols import CheckContext, Judgement
from pi_batch.redact import Masker
from pi_batch.results import TestCounts
from pi_batch.sandboxes.fake import FakeCall, FakeFile, FakeRun, FakeSandbox
from pi_batch.verifiers.command import MAX_ARGUMENT_BYTES, Command
from tests.verifiers.rigs import Start, changes, check, context, evidence

PYTEST = "pytest -q -p no:cacheprovider"
SKIPPING = "import pytest\n@pytest.mark.skip\ndef test_b(): pass\n"


async def judged(tmp_path: Path, run: str, timeout_s: float = 60, **keys: object) -> Judgement:
    async with context(tmp_path, **keys) as at:
        return await Command().verify(check(run, timeout_s), at)


def log_of(tmp_path: Path) -> str:
    return (tmp_path / "logs" / "check.log").read_text(encoding="utf-8")


def write_tests(tmp_path: Path, **files: str) -> None:
    tree = tmp_path / "tree"
    tree.mkdir(exist_ok=True)
    for name, text in files.items():
        (tree / f"{name}.py").write_text(text)


# --- exit codes, signals, limits -----------------------------------------------------------------


async def test_a_command_that_exits_with_0_passes_with_an_empty_message(tmp_path: Path) -> None:
    result = (await judged(tmp_path, "echo out; echo err >&2")).result
    assert (result.passed, result.exit_code, result.message, result.error) == (True, 0, "", None)
    assert (result.name, result.command, result.log) == (
        "tests",
        "echo out; echo err >&2",
        "tasks/t/check.log",
    )
    assert log_of(tmp_path) == "out\nerr\n"


@pytest.mark.parametrize(
    ("run", "exit_code", "message"),
    [
        ("exit 3", 3, "exit code 3"),
        ("sh -c 'echo 1 failed; exit 1' | tee log.txt", 1, "exit code 1"),  # NousResearch/hermes-agent#87506
        ("false; echo after", 1, "exit code 1"),
        ("test -f made.txt", 1, "exit code 1"),  # anthropics/claude-code#76867
        ("kill -9 $$", None, "ended by SIGKILL"),
        ("sh -c 'kill -11 $$' || exit $?", 139, "exit code 139 (SIGSEGV)"),
        ("exit 255", 255, "exit code 255"),
    ],
)
async def test_a_failing_command_fails_and_says_how_it_ended(
    tmp_path: Path, run: str, exit_code: int | None, message: str
) -> None:
    result = (await judged(tmp_path, run)).result
    assert (result.passed, result.exit_code, result.message, result.error) == (
        False,
        exit_code,
        message,
        None,
    )


async def test_a_check_that_takes_too_long_fails_with_what_it_printed(tmp_path: Path) -> None:
    result = (await judged(tmp_path, "echo begun; sleep 60", timeout_s=0.3)).result
    assert (result.passed, result.exit_code) == (False, None)
    assert result.message == "timed out after 0.3 s"
    assert log_of(tmp_path) == "begun\n"


async def test_a_program_of_the_command_that_is_not_installed_is_an_error(tmp_path: Path) -> None:
    result = (await judged(tmp_path, "no-such-tool --check")).result
    assert result.error is not None
    assert result.error.kind == "verification"
    assert "no-such-tool: command not found; install it in workspace.setup" in result.message


@pytest.mark.parametrize("run", ["./gone.sh", "sh -c 'no-such-tool'; exit 127", "exit 127"])
async def test_an_exit_code_of_127_from_elsewhere_is_a_failure(tmp_path: Path, run: str) -> None:
    result = (await judged(tmp_path, run, changes=changes("a"))).result
    assert (result.passed, result.exit_code) == (False, 127)
    assert (result.error is not None) == run.startswith("sh")


async def test_a_command_too_long_for_an_argument_runs_from_a_file(tmp_path: Path) -> None:
    run = f"x='{'y' * MAX_ARGUMENT_BYTES}'; echo ${{#x}}; false | true"
    result = (await judged(tmp_path, run)).result
    assert result.exit_code == 1
    assert log_of(tmp_path) == f"{MAX_ARGUMENT_BYTES}\n"
    assert not list((tmp_path / "tree").iterdir())


async def test_a_check_has_no_standard_input_and_its_own_environment(tmp_path: Path) -> None:
    os.environ["LEAKED_BY_TESTS"] = "yes"
    try:
        await judged(tmp_path, "cat; echo ${LEAKED_BY_TESTS:-none} $0")
    finally:
        del os.environ["LEAKED_BY_TESTS"]
    assert log_of(tmp_path) == "none bash\n"


# --- the log ---------------------------------------------------------------------------------------


async def test_the_log_is_readable_and_masked(tmp_path: Path) -> None:
    run = "printf 'bad \\033[31m \\001 \\013 \\000 hunter2-hunter2 tail-x\\n'; exit 1"  # reticlehq/reticle#69
    await judged(tmp_path, run, mask=Masker(["hunter2-hunter2"]).mask)
    assert log_of(tmp_path) == "bad  ␁ ␋ ␀ *** tail-x\n"


async def test_a_check_that_prints_45_megabytes_keeps_head_and_tail_in_little_memory(tmp_path: Path) -> None:
    before_kib = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    line = "import sys; [sys.stdout.write('log line\\n' * 1000) for _ in range(5000)]"
    run = f'{shlex.quote(sys.executable)} -c "{line}"; echo THE-END; exit 1'  # camunda/camunda#9959
    result = (await judged(tmp_path, run)).result
    assert result.exit_code == 1
    text = log_of(tmp_path)
    assert text.endswith("log line\nTHE-END\n")
    assert "bytes of output are not kept]" in text
    assert len(text) < 17 * 1024 * 1024
    after_kib = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    assert after_kib - before_kib < 120 * 1024


async def test_a_cancelled_check_leaves_its_log(tmp_path: Path) -> None:
    async with context(tmp_path) as at:
        running = asyncio.create_task(Command().verify(check("echo begun; sleep 60"), at))
        await asyncio.sleep(0.4)
        running.cancel()
        with pytest.raises(asyncio.CancelledError):
            await running
    assert log_of(tmp_path) == "begun\n"


# --- tests that ran ----------------------------------------------------------------------------------


async def test_tests_are_counted_by_the_report_of_pytest(tmp_path: Path) -> None:
    write_tests(tmp_path, test_a="def test_a(): pass\n", test_b=SKIPPING)
    found = await judged(tmp_path, f"{PYTEST} -qq")
    assert found.result.passed
    assert found.result.tests == TestCounts(1, 1)
    assert found.evidence[0].executed_names == ("test_a.py::test_a",)


async def test_several_runs_of_pytest_in_one_check_are_summed(tmp_path: Path) -> None:
    write_tests(tmp_path, test_a="def test_a(): pass\ndef test_aa(): pass\n", test_b=SKIPPING)
    found = await judged(tmp_path, f"{PYTEST} test_a.py && {PYTEST} test_a.py test_b.py")
    assert found.result.tests == TestCounts(4, 1)


async def test_a_report_that_the_command_takes_for_itself_leaves_the_summary(tmp_path: Path) -> None:
    write_tests(tmp_path, test_a="def test_a(): pass\n")
    found = await judged(tmp_path, f"{PYTEST} --junitxml=own.xml", changes=changes("a.py"))
    assert found.result.passed
    assert (found.result.tests, found.evidence[0].is_report) == (TestCounts(1, 0), False)
    assert (tmp_path / "tree" / "own.xml").exists()


async def test_a_project_that_refuses_the_report_is_run_without(tmp_path: Path) -> None:
    write_tests(tmp_path, test_a="def test_a(): pass\n")
    found = await judged(tmp_path, f"{PYTEST} -p no:junitxml")
    assert found.result.passed
    assert "unrecognized" not in log_of(tmp_path)


async def test_unittest_is_counted_by_what_it_prints(tmp_path: Path) -> None:
    write_tests(
        tmp_path,
        test_a="import unittest\nclass T(unittest.TestCase):\n    def test_a(self): pass\n"
        "    @unittest.skip('x')\n    def test_b(self): pass\n",
    )
    assert (await judged(tmp_path, "python -m unittest")).result.tests == TestCounts(1, 1)


async def test_go_is_asked_for_its_names(tmp_path: Path) -> None:
    binary = tmp_path / "bin" / "go"
    binary.parent.mkdir()
    binary.write_text('#!/bin/sh\necho "$GOFLAGS"\necho "--- PASS: TestA (0.00s)"\necho "ok  \tx\t0.1s"\n')
    binary.chmod(0o755)
    async with context(tmp_path) as at:
        env = {**at.env, "PATH": f"{binary.parent}:{at.env['PATH']}"}
        plain = await Command().verify(check("go test ./..."), replace(at, env=env))
        assert log_of(tmp_path).startswith("-v\n")
        written = tmp_path / ".config" / "go" / "env"
        written.parent.mkdir(parents=True)
        written.write_text("GOPROXY=off\nGOFLAGS=-mod=vendor\n")
        await Command().verify(check("go test ./..."), replace(at, env=env))
        assert log_of(tmp_path).startswith("-mod=vendor -v\n")
        await Command().verify(check("go test"), replace(at, env={**env, "GOFLAGS": "-mod=mod"}))
        assert log_of(tmp_path).startswith("-mod=mod -v\n")
    assert plain.result.tests == TestCounts(1, 0)


async def test_a_plain_command_is_run_as_it_is_and_counts_nothing(tmp_path: Path) -> None:
    found = await judged(tmp_path, "echo ${PYTEST_ADDOPTS:-none}; echo 5 passed in 0.1s")
    assert (found.evidence, found.result.tests) == ((), None)
    assert log_of(tmp_path).startswith("none\n")


# --- no test at all ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "run", [PYTEST, f"{PYTEST} -k nothing", "python -m unittest", f"sh -c '{PYTEST}; exit 0'"]
)
async def test_a_check_that_collects_no_test_is_an_error(tmp_path: Path, run: str) -> None:
    write_tests(tmp_path, **({"test_a": "def test_a(): pass\n"} if "nothing" in run else {}))
    result = (await judged(tmp_path, run, changes=changes("a.py"))).result
    assert not result.passed
    assert result.error is not None
    assert result.error.kind == "verification"
    assert "found no test to run" in result.message


async def test_no_test_where_the_start_had_some_is_a_failure(tmp_path: Path) -> None:
    start = Start(evidence(executed=3))
    result = (await judged(tmp_path, PYTEST, changes=changes("a.py"), baseline=start.baseline)).result
    assert (result.passed, result.error) == (False, None)
    assert result.message == "pytest found no test to run (exit code 5), 3 ran at the start"


async def test_a_precheck_without_tests_is_red_and_no_error(tmp_path: Path) -> None:
    result = (await judged(tmp_path, PYTEST)).result
    assert (result.passed, result.error) == (False, None)


async def test_collecting_only_on_purpose_passes(tmp_path: Path) -> None:
    write_tests(tmp_path, test_a="def test_a(): pass\n")
    start = Start(evidence(is_report=True), passed=True)
    for run in (f"{PYTEST} --collect-only", f"{PYTEST} --co -qq", "pytest --version"):
        result = (await judged(tmp_path, run, changes=changes("a.py"), baseline=start.baseline)).result
        assert result.passed, result.message


# --- is the 0 to be believed? ---------------------------------------------------------------------------


async def test_a_green_check_is_compared_with_the_start_once(tmp_path: Path) -> None:
    write_tests(tmp_path, test_a="def test_a(): pass\n")
    start = Start(evidence(executed=2, executed_names=("t.py::test_a", "t.py::test_b"), is_report=True))
    result = (await judged(tmp_path, PYTEST, changes=changes("t.py"), baseline=start.baseline)).result
    assert not result.passed
    assert result.message == "exited with 0, but 1 test of the start no longer run: t.py::test_b"
    assert start.asked == 1


async def test_a_red_check_asks_nothing_of_the_start(tmp_path: Path) -> None:
    write_tests(tmp_path, test_a="def test_a(): assert 0\n")
    start = Start()
    await judged(tmp_path, PYTEST, changes=changes("t.py"), baseline=start.baseline)
    assert start.asked == 0


async def test_a_plain_command_and_a_program_of_its_own_ask_nothing_of_the_start(tmp_path: Path) -> None:
    write_tests(tmp_path, app="print('hello')\n")
    start = Start()
    for run in ("test -f app.py", "python app.py | grep -q hello"):
        assert (await judged(tmp_path, run, changes=changes("app.py"), baseline=start.baseline)).result.passed
    assert start.asked == 0


async def test_a_runner_that_leaves_no_trace_is_an_error_where_the_start_left_none_either(
    tmp_path: Path,
) -> None:
    binary = tmp_path / "bin" / "pytest"
    binary.parent.mkdir()
    binary.write_text("#!/bin/sh\nexit 0\n")
    binary.chmod(0o755)
    for start, is_error in ((Start(passed=True), True), (Start(evidence(executed=1)), False)):
        async with context(tmp_path, changes=changes("a.py"), baseline=start.baseline) as at:
            env = {**at.env, "PATH": f"{binary.parent}:{at.env['PATH']}"}
            result = (await Command().verify(check("pytest"), replace(at, env=env))).result
        assert not result.passed
        assert (result.error is not None) == is_error


async def test_what_was_tampered_with_fails_a_green_check_and_is_named(tmp_path: Path) -> None:
    result = (
        await judged(tmp_path, "true", changes=changes("a"), tampered=("x is new since the start",))
    ).result
    assert result.message == "exited with 0, but x is new since the start"


async def test_a_changed_section_fails_a_green_check_and_is_named(tmp_path: Path) -> None:
    write_tests(tmp_path, test_a="def test_a(): pass\n")
    (tmp_path / "tree" / "pyproject.toml").write_text("[tool.pytest.ini_options]\naddopts = '-q'\n")
    start = Start(evidence(executed=1), files={"pyproject.toml": ""})
    result = (
        await judged(
            tmp_path,
            PYTEST,
            changes=changes("pyproject.toml"),
            baseline=start.baseline,
            start_text=start.text,
        )
    ).result
    assert result.message == "exited with 0, but pyproject.toml: [tool.pytest] was changed"


async def test_files_that_were_put_back_are_named_where_a_check_fails(tmp_path: Path) -> None:
    result = (await judged(tmp_path, "exit 1", restored=("a", "b", "c", "d", "e"))).result
    assert result.message == "exit code 1 (as at the start: a, b, c and 2 more)"


async def test_a_message_is_one_line_of_limited_length(tmp_path: Path) -> None:
    result = (await judged(tmp_path, "true", changes=changes("a"), tampered=("x\ny" * 500,))).result
    assert "\n" not in result.message
    assert len(result.message) <= 300


async def test_counting_the_start_passes_over_files_that_do_not_load(tmp_path: Path) -> None:
    write_tests(tmp_path, test_a="def test_a(): pass\n", test_b="import no_such_module\n")
    found = await judged(tmp_path, PYTEST, is_counting=True)
    assert (found.result.tests, found.evidence[0].broken) == (TestCounts(1, 0), ("test_b.py",))


# --- without a machine ------------------------------------------------------------------------------------


def fake_context(tmp_path: Path, sandbox: FakeSandbox) -> CheckContext:
    return CheckContext(
        sandbox=sandbox,
        path="/copy",
        env={"A": "1"},
        scratch="/scratch",
        log_path=tmp_path / "x.log",
        log_name="x.log",
        attempt=2,
        mask=lambda text: text,
    )


async def test_only_the_sandbox_runs_reads_and_writes(tmp_path: Path) -> None:
    def run(call: FakeCall) -> FakeRun:
        return FakeRun(b"3 passed in 0.01s\n")

    sandbox = FakeSandbox({"/copy/a": b"", "/scratch/b": FakeFile()}, run)
    await sandbox.start()
    found = await Command().verify(check("pytest -q"), fake_context(tmp_path, sandbox))
    (call,) = sandbox.calls
    assert call.argv == ("bash", "-e", "-o", "pipefail", "-c", "pytest -q")
    assert (call.cwd, call.timeout_s) == ("/copy", 60)
    assert "--junitxml=/scratch/report-" in call.env["PYTEST_ADDOPTS"]
    assert (found.result.tests, found.result.attempt) == (TestCounts(3, 0), 2)


async def test_a_shell_that_cannot_be_started_is_no_judgement(tmp_path: Path) -> None:
    sandbox = FakeSandbox({"/copy/a": b""})
    await sandbox.start()
    with pytest.raises(VerificationError, match=r"cannot be started: bash: No such file"):
        await Command().verify(check("true"), fake_context(tmp_path, sandbox))
