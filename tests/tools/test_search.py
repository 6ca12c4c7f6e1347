"""The search process: how it is started, and what becomes of it when it does not answer."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import pytest

from pi_batch.errors import SandboxError, ToolError
from pi_batch.protocols import Completed
from pi_batch.sandboxes.none import NoneSandbox
from pi_batch.spec import PathRules
from pi_batch.tools.grep import Grep
from pi_batch.tools.search import MAX_SEARCH_S, search
from tests.tools.context import FakeContext, call, failure, text_of


class ScriptedSandbox(NoneSandbox):
    """Real files; commands that print what the test says."""

    def __init__(
        self, output: bytes = b"", error: Exception | None = None, *, times_out: bool = False
    ) -> None:
        super().__init__()
        self.output = output
        self.error = error
        self.times_out = times_out
        self.argv: Sequence[str] = ()
        self.timeout_s = 0.0
        self.cwd = ""

    async def exec(
        self,
        argv: Sequence[str],
        *,
        cwd: str,
        env: Mapping[str, str],
        timeout_s: float,
        on_output: Callable[[bytes], None],
    ) -> Completed:
        self.argv, self.timeout_s, self.cwd = argv, timeout_s, cwd
        if self.error is not None:
            raise self.error
        on_output(self.output)
        return Completed(None if self.times_out else 0, None, self.times_out, 0.1)


END = {"is_more": False, "hidden": 0, "large": [], "unreadable": 0}


async def test_the_process_is_isolated_from_the_workspace_s_python(context: FakeContext) -> None:
    context.sandbox = sandbox = ScriptedSandbox(json.dumps({"end": END}).encode() + b"\n")
    await search(context, ".", "grep", PathRules(), {"pattern": "-x"})
    assert list(sandbox.argv[:4]) == [sys.executable, "-I", "-X", "utf8"]
    assert sandbox.cwd == context.workspace
    request = json.loads(sandbox.argv[-1])
    assert request["pattern"] == "-x"
    assert request["root"] == context.workspace


@pytest.mark.parametrize(("left_s", "limit_s"), [(float("inf"), MAX_SEARCH_S), (5.0, 5.0), (-1.0, 0.1)])
async def test_a_search_takes_no_longer_than_the_task_has(
    context: FakeContext, left_s: float, limit_s: float
) -> None:
    context.sandbox = sandbox = ScriptedSandbox(times_out=True)
    context.seconds_left = left_s
    with pytest.raises(ToolError, match="timed out") as caught:
        await search(context, ".", "find", PathRules(), {"pattern": "*"})
    assert caught.value.error_kind == "timeout"
    assert sandbox.timeout_s == limit_s


@pytest.mark.parametrize(
    ("output", "expected"),
    [
        (b"", "no output"),
        (b"Traceback (most recent call last):\nMemoryError\n", "MemoryError"),
        (b'{"path": "a", "line": 1, "text": "x", "is_match": true}\n', "did not come to its end"),
        (b'{"error": "unterminated subpattern"}\n', "invalid regular expression: unterminated subpattern"),
    ],
)
async def test_a_process_that_does_not_come_to_its_end_is_an_error(
    context: FakeContext, output: bytes, expected: str
) -> None:
    context.sandbox = ScriptedSandbox(output)
    assert expected in await failure(Grep(), context, pattern="x")


@pytest.mark.parametrize("error", [SandboxError("not open"), FileNotFoundError(2, "No such file")])
async def test_a_process_that_cannot_start_is_an_error(context: FakeContext, error: Exception) -> None:
    context.sandbox = ScriptedSandbox(error=error)
    assert "could not be started" in await failure(Grep(), context, pattern="x")


async def test_noise_around_the_answer_is_passed_over(context: FakeContext) -> None:
    record = {"path": "a", "line": 1, "text": "x\0", "is_match": True}
    lines = ["warning: noise", json.dumps(record), json.dumps({"end": {**END, "large": ["big.bin"]}})]
    context.sandbox = ScriptedSandbox("\n".join(lines).encode() + b"\n")
    text = text_of(await call(Grep(), context, pattern="x"))
    assert text == "a:1: x\ufffd\n\n[Not searched, over 100.0 MB: big.bin.]"


async def test_large_files_are_named_and_not_searched(context: FakeContext, workspace: Path) -> None:
    with (workspace / "big.txt").open("wb") as file:
        file.truncate(101 * 1024 * 1024)
    (workspace / "a.txt").write_text("hit\n")
    text = text_of(await call(Grep(), context, pattern="hit"))
    assert text == "a.txt:1: hit\n\n[Not searched, over 100.0 MB: big.txt.]"


def test_the_process_imports_little() -> None:
    code = (
        "import sys; import pi_batch.tools.search_worker; "
        "print([name for name in ('pydantic', 'asyncio', 'pathlib', 'subprocess', 'pathspec') "
        "if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-I", "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
