"""Tests of the places where checks run, and of the events around a judgement."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from msgspec import convert
from msgspec.structs import replace

from pi_batch.engine.bench import JudgeParts, fresh_bench, log_stem, observed, task_bench
from pi_batch.errors import SandboxError, VerificationError, WorkspaceError
from pi_batch.events import Event, VerificationEnd, VerificationStart
from pi_batch.protocols import CheckContext, Judgement
from pi_batch.redact import Masker
from pi_batch.results import RunError, VerificationResult
from pi_batch.sandboxes.fake import FakeSandbox
from pi_batch.spec import TaskSpec
from pi_batch.verifiers.fake import Fake
from pi_batch.workspaces.fake import FakeWorkspace
from tests.clocks import FakeClock


class Raising:
    """A verifier that comes to no judgement."""

    name = "raising"

    def __init__(self, error: Exception) -> None:
        self._error = error

    async def verify(self, check: Any, context: CheckContext) -> Judgement:
        raise self._error


def parts_in(tmp_path: Path, events: list[Event]) -> JudgeParts:
    (tmp_path / "scratch").mkdir()

    def make_env(scratch: str) -> Mapping[str, str]:
        return {"TMPDIR": scratch}

    return JudgeParts(
        spec=convert({"id": "t", "prompt": "p", "protect": ["a/**"]}, TaskSpec),
        workspace=FakeWorkspace(tmp_path, tmp_path),
        sandbox=FakeSandbox(),
        make_sandbox=lambda *_: FakeSandbox(),
        make_env=make_env,
        scratch=tmp_path / "scratch",
        emit=events.append,
        clock=FakeClock(),
        mask=Masker(["hunter2-hunter2"]),
        log_dir=tmp_path / "logs",
        log_prefix="tasks/t",
    )


async def judged(tmp_path: Path, verifier: Any, events: list[Event]) -> Judgement:
    parts = parts_in(tmp_path, events)
    context = task_bench(parts).context(parts, "x.log", 2)
    return await observed(parts, "verify", verifier, "x", context, name="n", command="c")


def end_of(events: list[Event]) -> VerificationEnd:
    """The second of two events: each start has one end."""
    start, end = events
    assert start == VerificationStart("verify", "n", "c", 2)
    assert isinstance(end, VerificationEnd)
    return end


async def test_a_judgement_is_told_as_it_is_with_its_words_masked(tmp_path: Path) -> None:
    error = RunError("verification", "no hunter2-hunter2")
    said = VerificationResult("n", "c", 1, False, 0.1, 2, log="l", message="has hunter2-hunter2", error=error)
    events: list[Event] = []
    judgement = await judged(tmp_path, Fake([Judgement(said, value=3)]), events)
    end = end_of(events)
    assert (judgement.result.message, judgement.value) == ("has ***", 3)
    assert (end.message, end.log, end.exit_code, end.passed) == ("has ***", "l", 1, False)
    assert end.error == RunError("verification", "no ***")


@pytest.mark.parametrize("error", [VerificationError("cannot\nsay"), OSError("no bash")])
async def test_a_check_that_cannot_be_judged_is_a_result_with_an_error(
    tmp_path: Path, error: Exception
) -> None:
    events: list[Event] = []
    judgement = await judged(tmp_path, Raising(error), events)
    end = end_of(events)
    assert judgement.result.error == end.error
    assert end.error is not None
    assert end.error.kind == "verification"
    assert end.message == str(error).replace("\n", " ")


@pytest.mark.parametrize(
    ("error", "kind"), [(SandboxError("gone"), "sandbox_unavailable"), (ZeroDivisionError(), "internal")]
)
async def test_what_goes_wrong_around_a_check_is_raised_after_its_end(
    tmp_path: Path, error: Exception, kind: str
) -> None:
    events: list[Event] = []
    with pytest.raises(type(error)):
        await judged(tmp_path, Raising(error), events)
    ended = end_of(events).error
    assert ended is not None
    assert ended.kind == kind


async def test_a_bench_has_a_scratch_directory_of_its_own_that_goes_with_it(tmp_path: Path) -> None:
    parts = parts_in(tmp_path, [])
    async with fresh_bench(parts, "/copy") as first, fresh_bench(parts, "/copy") as second:
        assert first.scratch != second.scratch
        assert Path(first.scratch).stat().st_mode & 0o777 == 0o700
        assert first.env == {"TMPDIR": first.scratch}
        context = first.context(parts, "x.log", 3)
    assert not Path(first.scratch).exists()
    assert (context.path, context.log_name, context.attempt) == ("/copy", "tasks/t/x.log", 3)
    assert (context.log_path, context.protect) == (tmp_path / "logs" / "x.log", ("a/**",))


@pytest.mark.parametrize(
    ("name", "stem"),
    [("tests", "tests"), ("a b/c", "a_b_c"), ("../..", "check"), ("", "check"), ("x" * 300, "x" * 80)],
)
def test_a_checks_name_becomes_part_of_a_file_name(name: str, stem: str) -> None:
    assert log_stem(name) == stem


class Closable(FakeWorkspace):
    """A workspace whose copies are remembered."""

    closed = 0

    async def clean_copy(self, state: Any, protect: Any) -> Any:
        copy = await super().clean_copy(state, protect)
        close = copy.close

        async def counted() -> None:
            Closable.closed += 1
            await close()

        copy.close = counted  # type: ignore[method-assign]
        return copy


async def test_a_clean_copy_gets_the_hidden_files(tmp_path: Path) -> None:
    (tmp_path / "source").mkdir()
    (tmp_path / "state").mkdir()
    workspace = FakeWorkspace(tmp_path / "source", tmp_path / "state")
    await workspace.open()

    def lay(path: str) -> None:
        Path(path, "checks").write_text("hidden")

    parts = replace(parts_in(tmp_path, []), workspace=workspace, lay_hidden=lay)
    copy = await parts.clean_copy("start", ())
    assert Path(copy.path, "checks").read_text() == "hidden"
    assert not Path(workspace.path, "checks").exists()
    await copy.close()
    await workspace.close(keep=False)


async def test_a_copy_that_gets_no_hidden_files_is_removed(tmp_path: Path) -> None:
    (tmp_path / "source").mkdir()
    (tmp_path / "state").mkdir()
    workspace = Closable(tmp_path / "source", tmp_path / "state")
    await workspace.open()

    def fail(_path: str) -> None:
        raise WorkspaceError("no room")

    parts = replace(parts_in(tmp_path, []), workspace=workspace, lay_hidden=fail)
    with pytest.raises(WorkspaceError, match="no room"):
        await parts.clean_copy("patched", ())
    assert Closable.closed == 1
    assert list((tmp_path / "state").glob("copy-*/*")) == []
    await workspace.close(keep=False)
