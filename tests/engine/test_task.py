"""One task from its workspace to its end, whatever happens on the way."""

from __future__ import annotations

import asyncio
import json
from base64 import b64encode
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from pi_batch.engine.task_parts import TaskParts
from pi_batch.errors import ProviderError, WorkspaceError
from pi_batch.events import AgentStart, TaskEnd, TaskStart, Warned, WorkspaceReady
from pi_batch.messages import AssistantMessage, TextBlock, ToolCall, Usage
from pi_batch.protocols import Changes
from pi_batch.providers.fake import Step, calls, says
from pi_batch.results import Skip
from pi_batch.workspaces import open_workspace
from pi_batch.workspaces.fake import FakeWorkspace
from tests.engine.fakes import MemorySession
from tests.engine.tasks import Lab, planned, replaced
from tests.living import living


def bash(command: str, call_id: str = "c1") -> ToolCall:
    return ToolCall(call_id, "bash", {"command": command})


def write(path: str, content: str, call_id: str = "c1") -> ToolCall:
    return ToolCall(call_id, "write", {"path": path, "content": content})


CHECK = {"name": "made", "run": "test -f made.txt"}
FIX = (calls(write("made.txt", "made\n")), says("made it"))


async def test_the_checks_decide_and_a_fix_passes(tmp_path: Path) -> None:
    lab = Lab(tmp_path, {"t": FIX})
    result = await lab.run_one(verify=[CHECK])
    assert (result.outcome, result.verified, result.stop) == ("passed", True, "completed")
    assert [file.path for file in result.changed_files] == ["made.txt"]
    assert result.answer == "made it"


async def test_what_the_model_says_decides_nothing(tmp_path: Path) -> None:
    lab = Lab(tmp_path, {"t": [says("All set, I made the file.")]})
    result = await lab.run_one(verify=[CHECK])
    assert result.outcome == "failed"
    assert "made" in result.reason


async def test_without_checks_a_finished_task_is_unverified(tmp_path: Path) -> None:
    result = await Lab(tmp_path, {"t": [says("hello")]}).run_one()
    assert (result.outcome, result.verified) == ("passed", False)


async def test_the_failing_output_goes_back_to_the_model(tmp_path: Path) -> None:
    lab = Lab(tmp_path, {"t": [says("done"), *FIX]})
    check = {"name": "made", "run": "echo looking-for-it; test -f made.txt"}
    result = await lab.run_one(verify=[check], attempts={"verify": 2})
    assert (result.outcome, result.attempts) == ("passed", 2)
    feedback = lab.providers["t"].requests[1].messages[-1]
    assert "looking-for-it" in repr(feedback)
    assert [check.passed for check in result.verification] == [False, True]


async def test_attempts_come_to_an_end(tmp_path: Path) -> None:
    lab = Lab(tmp_path, {"t": [says("done"), says("done"), says("done")]})
    result = await lab.run_one(verify=[CHECK], attempts={"verify": 2})
    assert (result.outcome, len(lab.providers["t"].requests)) == ("failed", 2)


async def test_a_limit_does_not_decide_green_checks_do(tmp_path: Path) -> None:
    lab = Lab(tmp_path, {"t": [FIX[0], calls(bash("true"))]})
    result = await lab.run_one(verify=[CHECK], budget={"turns": 2})
    assert (result.outcome, result.stop) == ("passed", "max_turns")


async def test_a_limit_without_checks_is_a_failure(tmp_path: Path) -> None:
    result = await Lab(tmp_path, {"t": [calls(bash("true"))]}).run_one(budget={"turns": 1})
    assert (result.outcome, result.stop) == ("failed", "max_turns")


async def test_no_attempt_follows_a_reached_limit(tmp_path: Path) -> None:
    lab = Lab(tmp_path, {"t": [calls(bash("true"))]})
    result = await lab.run_one(verify=[CHECK], budget={"turns": 1}, attempts={"verify": 3})
    assert (result.outcome, result.attempts) == ("failed", 1)


async def test_a_cut_answer_is_judged_by_the_checks(tmp_path: Path) -> None:
    cut = AssistantMessage((TextBlock("half"),), "length", usage=Usage(1, 1), cost_usd=0.0)
    lab = Lab(tmp_path, {"t": [FIX[0], cut]})
    result = await lab.run_one(verify=[CHECK])
    assert (result.outcome, result.stop) == ("passed", "model_error")
    assert result.error is not None
    assert result.error.kind == "length"


async def test_an_empty_answer_without_checks_is_a_failure(tmp_path: Path) -> None:
    result = await Lab(tmp_path, {"t": [says("")] * 3}).run_one()
    assert result.outcome == "failed"


async def test_a_failed_service_is_an_error_and_the_work_so_far_is_kept(tmp_path: Path) -> None:
    lab = Lab(tmp_path, {"t": [FIX[0], ProviderError("401: bad key", kind="auth")]})
    result = await lab.run_one(verify=[CHECK])
    assert result.error is not None
    assert (result.outcome, result.error.kind) == ("error", "auth")
    assert result.patch == "tasks/t/changes.partial.patch"
    assert (lab.run_dir / result.patch).read_bytes()


async def test_a_precheck_that_passes_skips_without_a_request(tmp_path: Path) -> None:
    lab = Lab(tmp_path)
    result = await lab.run_one(precheck={"run": "true"}, verify=[CHECK])
    assert (result.outcome, result.stop, result.skipped_by) == ("skipped", None, "precheck")
    assert lab.providers["t"].requests == []
    assert not lab.events(AgentStart)


async def test_what_the_gate_says_ends_a_task_before_anything_is_made(tmp_path: Path) -> None:
    async def gate() -> Skip | None:
        return Skip("left_alone", "failed too often")

    lab = Lab(tmp_path, change=replaced(gate=gate))
    result = await lab.run_one(verify=[CHECK])
    assert (result.outcome, result.skipped_by, result.reason) == ("skipped", "left_alone", "failed too often")
    assert (result.session, result.base_commit, result.verification) == (None, None, ())
    assert not lab.events(WorkspaceReady)


async def test_only_if_asks_a_command_before_setup_and_makes_no_request(tmp_path: Path) -> None:
    lab = Lab(tmp_path)
    workspace = {"setup": ["touch set-up"]}
    result = await lab.run_one(only_if={"run": "test -e set-up"}, workspace=workspace, verify=[CHECK])
    assert (result.outcome, result.skipped_by) == ("skipped", "only_if")
    assert result.reason == "only_if: test -e set-up fails (exit code 1)"
    assert lab.providers["t"].requests == []
    assert (lab.run_dir / "tasks/t/only_if.log").is_file()


async def test_only_if_that_holds_lets_the_agent_work(tmp_path: Path) -> None:
    lab = Lab(tmp_path, {"t": FIX})
    result = await lab.run_one(only_if={"run": "true"}, verify=[CHECK])
    assert (result.outcome, result.skipped_by) == ("passed", None)


async def test_a_precheck_that_fails_lets_the_agent_work(tmp_path: Path) -> None:
    lab = Lab(tmp_path, {"t": FIX})
    assert (await lab.run_one(precheck=CHECK_AS_PRECHECK, verify=[CHECK])).outcome == "passed"


CHECK_AS_PRECHECK = {"run": "test -f made.txt", "skip_if": "passes"}


async def test_a_failing_setup_is_an_error_that_quotes_it(tmp_path: Path) -> None:
    result = await Lab(tmp_path).run_one(workspace={"setup": ["echo no-such-wheel >&2; exit 9"]})
    assert result.error is not None
    assert (result.outcome, result.error.kind) == ("error", "setup")
    assert "no-such-wheel" in result.error.message


async def test_a_workspace_that_cannot_be_made_is_an_error_and_nothing_is_run_in_place(
    tmp_path: Path,
) -> None:
    class Broken(FakeWorkspace):
        async def open(self) -> tuple[str, ...]:
            raise WorkspaceError("source: not a git repository")

    def change(parts: TaskParts) -> TaskParts:
        return replaced(workspace=Broken(lab.source, parts.state_dir))(parts)

    lab = Lab(tmp_path, change=change)
    result = await lab.run_one()
    assert result.error is not None
    assert (result.outcome, result.error.kind) == ("error", "workspace")
    assert lab.providers["t"].requests == []


async def test_a_session_that_cannot_be_written_is_an_error(tmp_path: Path) -> None:
    lab = Lab(
        tmp_path,
        {"t": FIX},
        change=replaced(open_session=lambda _path, _cwd: MemorySession(fails_after=4)),
    )
    result = await lab.run_one(verify=[CHECK])
    assert result.error is not None
    assert result.outcome == "error"
    assert "No space left" in result.error.message


async def test_a_defect_of_ours_is_this_tasks_error_with_the_traceback_in_a_file(tmp_path: Path) -> None:
    def broken(_workspace: str) -> str:
        raise ZeroDivisionError("a defect")

    lab = Lab(tmp_path, change=replaced(system_prompt=broken))
    result = await lab.run_one()
    assert result.error is not None
    assert (result.outcome, result.error.kind) == ("error", "internal")
    assert "Traceback" in (lab.run_dir / "tasks/t/internal-error.log").read_text()


async def test_a_defect_in_making_the_parts_is_this_tasks_error_too(tmp_path: Path) -> None:
    def change(_parts: TaskParts) -> TaskParts:
        raise RuntimeError("no such part")

    result = await Lab(tmp_path, change=change).run_one()
    assert result.error is not None
    assert "no such part" in result.error.message


async def test_changes_that_cannot_be_read_are_an_error(tmp_path: Path) -> None:
    class Unreadable(FakeWorkspace):
        async def changes(self, _protect: Any) -> Changes:
            raise WorkspaceError("git: fatal: bad object")

    def change(parts: TaskParts) -> TaskParts:
        return replaced(workspace=Unreadable(lab.source, parts.state_dir))(parts)

    lab = Lab(tmp_path, {"t": [says("done")]}, change=change)
    result = await lab.run_one()
    assert result.error is not None
    assert (result.outcome, result.error.kind) == ("error", "workspace")


async def test_the_workspace_is_gone_and_the_sources_untouched(tmp_path: Path) -> None:
    lab = Lab(tmp_path, {"t": FIX}, files={"a.txt": "a\n"})
    await lab.run_one(verify=[CHECK])
    (ready,) = lab.events(WorkspaceReady)
    assert not Path(ready.path).exists()
    assert [path.name for path in lab.source.iterdir()] == ["a.txt"]


async def test_temporary_files_of_a_task_are_gone_before_the_next_one(tmp_path: Path) -> None:
    lab = Lab(tmp_path, {"t": [calls(bash("echo x > $TMPDIR/left && echo $TMPDIR")), says("done")]})
    await lab.run_one()
    assert str(tmp_path) in repr(lab.providers["t"].requests[1].messages[-1])
    assert not list(tmp_path.rglob("left"))


async def test_no_process_outlives_its_task(tmp_path: Path) -> None:
    script = [calls(bash("setsid sleep 1007.31 >/dev/null 2>&1 & sleep 1007.31 & echo up")), says("done")]
    lab = Lab(tmp_path, {"t": script})
    await lab.run_one()
    assert not living("sleep 1007.31")


async def test_the_answer_is_kept_as_text(tmp_path: Path) -> None:
    lab = Lab(tmp_path, {"t": [says("the answer")]})
    await lab.run_one()
    assert (lab.run_dir / "tasks/t/answer.md").read_text() == "the answer\n"


async def test_a_structured_answer_is_kept_as_json(tmp_path: Path) -> None:
    lab = Lab(tmp_path, {"t": [says('```json\n{"ok": true}\n```')]})
    result = await lab.run_one(output={"schema": {"type": "object", "required": ["ok"]}})
    assert result.structured_output == {"ok": True}
    assert json.loads((lab.run_dir / "tasks/t/answer.json").read_text()) == {"ok": True}


async def test_secrets_are_in_no_file_of_the_run(tmp_path: Path) -> None:
    secret = "hunter2-hunter2"
    script = [calls(bash(f"echo {secret}; seq 1 90000; echo {secret}")), says(f"it is {secret}")]
    lab = Lab(tmp_path, {"t": script}, secrets=[secret])
    await lab.run_one(prompt=f"use {secret}", verify=[{"name": "c", "run": f"echo {secret}"}])
    files = [path for path in lab.run_dir.rglob("*") if path.is_file()]
    assert any(path.parent.name == "outputs" for path in files)
    assert [path for path in files if secret.encode() in path.read_bytes()] == []


async def test_a_patch_that_carries_a_secret_is_withheld_and_that_is_an_error(tmp_path: Path) -> None:
    secret = "hunter2-hunter2"

    def change(parts: TaskParts) -> TaskParts:
        return replace(parts, workspace=open_workspace("copy", lab.source, parts.state_dir))

    leak = bash("tr a-z n-za-m <<< uhagre2-uhagre2 > leak.txt")
    lab = Lab(tmp_path, {"t": [calls(leak), says("done")]}, secrets=[secret], change=change)
    result = await lab.run_one()
    assert result.error is not None
    assert (result.outcome, result.error.kind, result.patch) == ("error", "policy", None)


@pytest.mark.parametrize("spelled", [str, lambda text: b64encode(text.encode()).decode()])
async def test_an_answer_that_carries_a_secret_is_withheld_and_that_is_an_error(
    tmp_path: Path, spelled: Callable[[str], str]
) -> None:
    secret = "hunter2-hunter2"
    lab = Lab(tmp_path, {"t": [says(f"it is {spelled(secret)}")]}, secrets=[secret])
    result = await lab.run_one(verify=[{"name": "c", "run": "true"}])
    assert result.error is not None
    assert (result.outcome, result.error.kind, result.answer) == ("error", "policy", None)
    assert not (lab.run_dir / "tasks/t/answer.md").exists()


async def test_a_structured_answer_that_carries_a_secret_is_asked_for_again(tmp_path: Path) -> None:
    secret = "hunter2-hunter2"
    script = [says(json.dumps({"key": secret})), says(json.dumps({"key": "no"}))]
    lab = Lab(tmp_path, {"t": script}, secrets=[secret])
    result = await lab.run_one(output={"schema": {"type": "object"}}, attempts={"verify": 2})
    assert (result.outcome, result.structured_output) == ("passed", {"key": "no"})


@pytest.mark.parametrize("when", ["in a tool", "in a request", "in a check"])
async def test_a_cancelled_task_still_has_its_end_and_its_partial_patch(tmp_path: Path, when: str) -> None:
    def hang(_request: Any) -> AssistantMessage:
        batch.cancel(130)
        return says("late")

    seconds: dict[str, Step] = {
        "in a tool": calls(bash("sleep 60")),
        "in a request": hang,
        "in a check": says("done"),
    }
    lab = Lab(tmp_path, {"t": [FIX[0], seconds[when], says("never")]})
    batch = lab.batch(planned("t", lab.source, verify=[{"name": "slow", "run": "sleep 60"}]))
    running = asyncio.create_task(batch.run())
    if when != "in a request":
        for _ in range(200):
            await asyncio.sleep(0.02)
            if len(lab.providers.get("t", Empty()).requests) == 2:
                break
        await asyncio.sleep(0.1)
        batch.cancel(130)
    result = await asyncio.wait_for(running, 10)
    assert (result.status, result.exit_code) == ("interrupted", 130)
    (one,) = result.results
    assert one.error is not None
    assert (one.outcome, one.error.kind) == ("error", "cancelled")
    assert one.patch is not None
    assert "partial" in one.patch
    assert len(lab.events(TaskStart)) == len(lab.events(TaskEnd)) == 1


class Empty:
    """No provider yet."""

    requests: tuple[Any, ...] = ()


async def test_what_a_recording_has_left_is_said(tmp_path: Path) -> None:
    def change(parts: TaskParts) -> TaskParts:
        return replace(parts, port=replace(parts.port, warnings=lambda: ("2 replies left over",)))

    lab = Lab(tmp_path, {"t": [says("hello")]}, change=change)
    result = await lab.run_one()
    assert "2 replies left over" in result.warnings
    assert lab.events(Warned)
