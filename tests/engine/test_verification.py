"""Tests of the judge: setup, precheck, clean copies, verdicts, feedback."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from pi_batch.engine.verification import Verdict
from pi_batch.errors import SetupError, VerificationError
from pi_batch.events import VerificationEnd
from tests.engine.judging import FIX, PROJECT, court, make_project, make_spec

pytestmark = pytest.mark.slow

FILES: Mapping[str, str] = {"a.txt": "one\n", "tests/data.txt": "expected\n"}


def checks(*commands: str, timeout_s: float = 60) -> list[dict[str, Any]]:
    return [
        {"name": f"check {number}", "run": run, "timeout_s": timeout_s}
        for number, run in enumerate(commands, start=1)
    ]


def small(tmp_path: Path, **keys: Any) -> Any:
    """A court over two text files, without git."""
    courts = {name: keys.pop(name) for name in ("isolation", "secrets", "path") if name in keys}
    source = tmp_path / "project"
    if not source.exists():
        for name, text in FILES.items():
            (source / name).parent.mkdir(parents=True, exist_ok=True)
            (source / name).write_text(text)
    return court(tmp_path, make_spec(**keys), source=source, **{"isolation": "fake", **courts})


def messages(verdict: Verdict) -> list[str]:
    return [result.message for result in verdict.results]


def left_behind(tmp_path: Path) -> list[str]:
    return [path.name for path in (tmp_path / "state").iterdir() if path.name.startswith(("copy-", "check-"))]


# --- checks --------------------------------------------------------------------------------------


async def test_without_any_check_every_attempt_passes_and_its_changes_are_known(tmp_path: Path) -> None:
    async with small(tmp_path, verify=[]) as at:
        verdict = await at.verdict("echo two > a.txt")
    assert (verdict.passed, verdict.results, verdict.feedback) == (True, (), "")
    assert [file.path for file in verdict.changes.files] == ["a.txt"]


async def test_every_check_runs_in_order_also_after_a_failure(tmp_path: Path) -> None:
    async with small(tmp_path, verify=checks("exit 3", "true", "cat a.txt; false")) as at:
        verdict = await at.verdict("echo two > a.txt", attempt=2)
        ended = at.ended("verify")
    assert not verdict.passed
    assert messages(verdict) == ["exit code 3", "", "exit code 1"]
    assert [event.name for event in ended] == ["check 1", "check 2", "check 3"]
    assert [event.exit_code for event in ended] == [3, 0, 1]
    assert {event.attempt for event in ended} == {2}
    assert ended[2].log == "tasks/task/verify-2-check_3.log"
    assert (at.logs / "verify-2-check_3.log").read_text() == "two\n"


async def test_checks_whose_names_look_alike_have_logs_of_their_own(tmp_path: Path) -> None:
    verify = [{"name": name, "run": f"echo '{name}'"} for name in ("a b", "a/b", "..", "日本")]
    async with small(tmp_path, verify=verify) as at:
        verdict = await at.verdict()
        texts = [(at.logs / Path(result.log or "").name).read_text().strip() for result in verdict.results]
    assert texts == ["a b", "a/b", "..", "日本"]
    assert all(Path(result.log or "").name.startswith("verify-1-") for result in verdict.results)


@pytest.mark.parametrize(
    "run",
    [
        "sh -c 'echo 1 failed; exit 1' | tee log.txt",  # NousResearch/hermes-agent#87506
        "test -f made.txt",  # anthropics/claude-code#76867
    ],
)
async def test_what_the_model_says_decides_nothing(tmp_path: Path, run: str) -> None:
    async with small(tmp_path, verify=checks(run)) as at:
        assert not (await at.verdict(answer="All set, I made the file.")).passed


async def test_a_check_that_cannot_be_judged_is_the_verdicts_error(tmp_path: Path) -> None:
    async with small(tmp_path, verify=checks("true", "no-such-tool")) as at:
        verdict = await at.verdict()
    assert verdict.error is not None
    assert verdict.error.kind == "verification"
    assert verdict.results[1].error == verdict.error
    assert not verdict.passed


# --- the clean copy ----------------------------------------------------------------------------------


async def test_checks_run_in_a_copy_that_is_gone_afterwards(tmp_path: Path) -> None:
    async with small(tmp_path, verify=checks("pwd; echo $TMPDIR; touch made")) as at:
        assert (await at.verdict()).passed
        directory, scratch = (at.logs / "verify-1-check_1.log").read_text().split()
        assert directory != at.workspace.path
        assert not (Path(at.workspace.path) / "made").exists()
        assert not Path(directory).exists()
        assert not Path(scratch).exists()
        assert left_behind(tmp_path) == []


async def test_protected_paths_are_as_at_the_start_and_named(tmp_path: Path) -> None:
    run = "grep -q expected tests/data.txt && test ! -e tests/new.txt && grep -q two a.txt"
    async with small(tmp_path, verify=checks(run), protect=["tests/**"]) as at:
        verdict = await at.verdict("echo x > tests/data.txt; echo y > tests/new.txt; echo two > a.txt")
    assert verdict.passed
    assert verdict.changes.protected_touched == ("tests/data.txt", "tests/new.txt")


async def test_nothing_that_the_agent_exported_reaches_a_check(tmp_path: Path) -> None:
    async with small(tmp_path, verify=checks("echo ${EVIL:-clean} $PATH")) as at:
        await at.verdict("export EVIL=1 PATH=/evil:$PATH; true")
        assert (at.logs / "verify-1-check_1.log").read_text() == f"clean {at.env['PATH']}\n"


async def test_setup_runs_again_in_the_copy(tmp_path: Path) -> None:
    setup = ["pwd > .where", "echo second >> .where"]
    async with small(tmp_path, workspace={"setup": setup}, verify=checks("cat .where; pwd")) as at:
        assert (Path(at.workspace.path) / ".where").read_text() == f"{at.workspace.path}\nsecond\n"
        await at.verdict("echo two > a.txt")
        place, second, copy = (at.logs / "verify-1-check_1.log").read_text().split()
        assert (place, second) == (copy, "second")
        assert place != at.workspace.path
        setups = at.ended("setup")
    assert [event.command for event in setups] == setup * 2
    assert [event.log for event in setups][1:3] == [
        "tasks/task/setup-2.log",
        "tasks/task/verify-1-setup-1.log",
    ]


async def test_a_patch_that_breaks_setup_fails_every_check(tmp_path: Path) -> None:
    spec = {"workspace": {"setup": ["grep -q one a.txt"]}, "verify": checks("true", "false")}
    async with small(tmp_path, **spec) as at:
        verdict = await at.verdict("echo broken > a.txt")
        assert len(at.ended("verify")) == 2
    assert verdict.error is None
    assert (
        messages(verdict)
        == ["not run: setup-1 failed in the clean copy: exit code 1; it passed at the start"] * 2
    )
    assert "setup-1 failed" in verdict.feedback


async def test_a_setup_that_fails_at_the_start_as_well_is_an_error(tmp_path: Path) -> None:
    marker = tmp_path / "service-is-up"
    marker.write_text("")
    spec = {"workspace": {"setup": [f"test -e {marker}"]}, "verify": checks("true")}
    async with small(tmp_path, **spec) as at:
        marker.unlink()
        verdict = await at.verdict("echo two > a.txt")
    assert verdict.error is not None
    assert verdict.error.kind == "setup"
    assert "and at the start as well" in verdict.error.message
    assert left_behind(tmp_path) == []


async def test_a_failing_setup_before_the_agent_names_the_command_and_its_last_words(tmp_path: Path) -> None:
    with pytest.raises(
        SetupError, match=r"setup-2: 'echo no disk; exit 4': exit code 4; its output ends: no disk"
    ):
        async with small(tmp_path, workspace={"setup": ["true", "echo no disk; exit 4", "echo never"]}):
            pass
    assert not (tmp_path / "run" / "tasks" / "task" / "setup-3.log").exists()


async def test_a_cancelled_judgement_leaves_nothing_behind_and_ends_its_event(tmp_path: Path) -> None:
    async with small(tmp_path, verify=checks("echo begun; sleep 60")) as at:
        running = asyncio.create_task(at.judge.judge(1, None))
        while not left_behind(tmp_path):
            await asyncio.sleep(0.02)
        await asyncio.sleep(0.5)
        running.cancel()
        with pytest.raises(asyncio.CancelledError):
            await running
        assert left_behind(tmp_path) == []
        (ended,) = at.ended("verify")
    assert ended.error is not None
    assert ended.error.kind == "cancelled"
    assert (at.logs / "verify-1-check_1.log").read_text() == "begun\n"


# --- in the workspace ------------------------------------------------------------------------------------


async def test_in_the_workspace_the_tree_is_judged_as_it_is(tmp_path: Path) -> None:
    async with small(tmp_path, verify=checks("pwd; test -e made"), verify_in="workspace") as at:
        assert (await at.verdict("touch made")).passed
        assert (at.logs / "verify-1-check_1.log").read_text() == f"{at.workspace.path}\n"


async def test_in_the_workspace_a_protected_change_fails_a_green_check(tmp_path: Path) -> None:
    spec = {"verify": checks("true"), "verify_in": "workspace", "protect": ["tests/**"]}
    async with small(tmp_path, **spec) as at:
        verdict = await at.verdict("echo x > tests/data.txt")
    assert messages(verdict) == [
        "exited with 0, but tests/data.txt was changed, and verify_in: workspace cannot put it back"
    ]
    assert verdict.changes.protected_touched == ("tests/data.txt",)


async def test_in_place_without_a_recorded_start_the_precheck_is_what_a_check_is_compared_with(
    tmp_path: Path,
) -> None:
    make_project(tmp_path / "project")
    spec = make_spec(
        workspace={"isolation": "none"},
        precheck={"run": "pytest -q -p no:cacheprovider"},
    )
    async with court(tmp_path, spec, isolation="none", source=tmp_path / "project") as at:
        assert await at.judge.precheck() is None
        verdict = await at.verdict("rm tests/test_add.py")
        assert not verdict.passed
        assert at.ended("baseline") == []
    assert "tests of the start no longer run" in verdict.results[0].message


async def test_in_the_workspace_old_and_planted_bytecode_is_not_read(tmp_path: Path) -> None:
    spec = make_spec(
        verify=[{"name": "tests", "run": "python -m pytest -q"}],
        verify_in="workspace",
        precheck={"run": "python -m pytest -q"},
    )
    plant = "python -m compileall -q --invalidation-mode unchecked-hash calc.py"
    async with court(tmp_path, spec) as at:
        assert await at.judge.precheck() is None
        assert (await at.verdict(f"{plant}; {FIX}")).passed
        unfix = f"{plant}; sed -i 's/a + b/a - b/' calc.py"
        assert not (await at.verdict(unfix, attempt=2)).passed
        assert not list(Path(at.workspace.path).rglob("test_*.pyc"))


# --- precheck and baseline ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("precheck", "reason"),
    [
        ({"run": "true"}, "precheck: true exits with 0"),
        ({"run": "exit 2"}, None),
        ({"run": "exit 2", "skip_if": "fails"}, "precheck: exit 2 fails (exit code 2)"),
        ({"run": "true", "skip_if": "fails"}, None),
        (None, None),
    ],
)
async def test_a_precheck_says_whether_there_is_anything_to_do(
    tmp_path: Path, precheck: dict[str, str] | None, reason: str | None
) -> None:
    async with small(tmp_path, precheck=precheck, verify=checks("true")) as at:
        assert await at.judge.precheck() == reason
        assert len(at.ended("precheck")) == (precheck is not None)


async def test_a_precheck_whose_program_is_missing_is_an_error_before_anything_is_spent(
    tmp_path: Path,
) -> None:
    async with small(tmp_path, precheck={"run": "no-such-tool"}) as at:
        with pytest.raises(VerificationError, match="no-such-tool: command not found"):
            await at.judge.precheck()


async def test_a_precheck_that_counted_saves_counting_the_start(tmp_path: Path) -> None:
    spec = make_spec(precheck={"run": "pytest -q -p no:cacheprovider"})
    async with court(tmp_path, spec) as at:
        assert await at.judge.precheck() is None
        assert (await at.verdict(FIX)).passed
        assert at.ended("baseline") == []


async def test_the_start_is_counted_once_for_all_attempts_and_only_when_needed(tmp_path: Path) -> None:
    async with court(tmp_path, make_spec()) as at:
        assert not (await at.verdict("echo >> calc.py")).passed
        assert at.ended("baseline") == []
        assert (await at.verdict(FIX, attempt=2)).passed
        assert (await at.verdict("true", attempt=3)).passed
        (baseline,) = at.ended("baseline")
    assert (baseline.passed, baseline.exit_code) == (False, 1)
    assert baseline.tests is not None
    assert (baseline.tests.executed, baseline.tests.skipped) == (3, 1)
    assert (at.logs / "baseline-tests.log").exists()


@pytest.mark.slow
async def test_a_start_that_hangs_cannot_be_counted_which_is_said_and_no_failure(tmp_path: Path) -> None:
    files = {**PROJECT, "calc.py": PROJECT["calc.py"].replace("return a - b", "while True: pass")}
    spec = make_spec(verify=[{"name": "tests", "run": "pytest -q", "timeout_s": 2}])
    async with court(tmp_path, spec, source=make_project(tmp_path / "hangs", files)) as at:
        verdict = await at.verdict("sed -i 's/while True: pass/return a + b/' calc.py")
        assert verdict.passed, messages(verdict)
        assert any("the start's tests could not be counted: timed out" in text for text in at.warnings)


async def test_test_files_that_did_not_load_at_the_start_must_load_in_the_end(tmp_path: Path) -> None:
    files = {
        **PROJECT,
        "tests/test_new.py": "from calc import triple\n\ndef test_t(): assert triple(1) == 3\n",
    }
    async with court(tmp_path, make_spec(), source=make_project(tmp_path / "new", files)) as at:
        assert not (await at.verdict(f"{FIX}; rm tests/test_new.py")).passed
        assert not (await at.verdict(f"git checkout -q .; {FIX}; : > tests/test_new.py", attempt=2)).passed
        fix = f"git checkout -q .; {FIX}; printf 'def triple(a):\\n    return 3 * a\\n' >> calc.py"
        verdict = await at.verdict(fix, attempt=3)
    assert verdict.passed, messages(verdict)


@pytest.mark.parametrize(
    "run",
    [
        "pytest -x -q",
        "pytest -q tests/test_add.py && pytest -q tests/test_double.py",
        pytest.param("python -m pytest -q --maxfail=1 -o addopts=", marks=pytest.mark.slow),
        pytest.param('coverage() { "$@"; }; coverage pytest -q', marks=pytest.mark.slow),
    ],
)
async def test_a_real_fix_passes_though_the_start_did_not_come_to_every_test(
    tmp_path: Path, run: str
) -> None:
    async with court(tmp_path, make_spec(verify=[{"name": "tests", "run": run}])) as at:
        verdict = await at.verdict(FIX)
    assert verdict.passed, messages(verdict)
    assert verdict.results[0].tests is not None
    assert verdict.results[0].tests.skipped == 1


# --- output ------------------------------------------------------------------------------------------------


async def test_output_files_are_looked_for_in_the_workspace_also_where_git_ignores_them(
    tmp_path: Path,
) -> None:
    project = make_project(tmp_path / "project", {".gitignore": "*.log\n"})
    spec = make_spec(verify=[], output={"files": ["out.log"]})
    async with court(tmp_path, spec, source=project) as at:
        missing = await at.verdict()
        there = await at.verdict("echo x > out.log", attempt=2)
        assert [event.name for event in at.ended("verify")] == ["output.files"] * 2
    assert messages(missing) == ["'out.log' is not there"]
    assert "'out.log' is not there" in missing.feedback
    assert there.passed


async def test_the_structured_output_is_the_answers_value(tmp_path: Path) -> None:
    spec = {"verify": checks("true"), "output": {"schema": {"type": "object", "required": ["n"]}}}
    async with small(tmp_path, **spec, secrets=["hunter2-hunter2"]) as at:
        bad = await at.verdict(answer='{"m": 1}')
        good = await at.verdict(answer='{"n": "hunter2-hunter2"}', attempt=2)
    assert bad.structured_output is None
    assert messages(bad) == [
        "",
        "the final answer does not match output.schema: $: 'n' is a required property",
    ]
    assert good.structured_output == {"n": "***"}
    assert [result.name for result in good.results] == ["check 1", "output.schema"]


# --- what is said ------------------------------------------------------------------------------------------


async def test_the_feedback_names_what_failed_shows_the_end_and_says_what_does_not_help(
    tmp_path: Path,
) -> None:
    run = "for i in $(seq 3000); do echo line $i; done; echo '```'; echo the end; exit 1"
    spec = {"verify": checks("true", run), "protect": ["tests/**"]}
    async with small(tmp_path, **spec) as at:
        verdict = await at.verdict("echo x > tests/data.txt")
    text = verdict.feedback
    assert "Check 'check 2' failed: exit code 1" in text
    assert "check 1" not in text
    assert "line 3000\n```\nthe end\n````" in text
    assert "line 1\n" not in text
    assert "- tests/data.txt" in text
    assert len(text.encode()) < 10_000


async def test_no_secret_is_in_a_log_a_message_an_event_or_the_feedback(tmp_path: Path) -> None:
    secret = "hunter2-hunter2"
    files = {"t/test_x.py": "def test_a(): pass\n"}
    verify = [{"name": "tests", "run": f"pytest -q; echo {secret[:5]}''{secret[5:]}"}]
    async with court(
        tmp_path, make_spec(verify=verify), secrets=[secret], source=make_project(tmp_path / "p", files)
    ) as at:
        verdict = await at.verdict(f"printf 'def test_{secret.replace('-', '_')}(): pass\\n' >> t/test_x.py")
        assert verdict.passed
        verdict = await at.verdict("git mv t/test_x.py t/x.py", attempt=2)
        everything = repr((verdict, at.events)) + "".join(log.read_text() for log in at.logs.iterdir())
    assert secret not in everything.replace(verify[0]["run"], "")


async def test_warnings_of_the_workspace_are_said_once(tmp_path: Path) -> None:
    async with small(tmp_path, verify=checks("true")) as at:
        plain = at.workspace.changes

        async def changes(protect: Any) -> Any:
            from msgspec.structs import replace

            return replace(await plain(protect), warnings=("left out: core.1234",))

        at.workspace.changes = changes
        await at.verdict()
        await at.verdict(attempt=2)
        assert at.warnings == ["left out: core.1234"]


async def test_a_setup_that_changes_the_machine_each_time_is_no_tampering(tmp_path: Path) -> None:
    tools = tmp_path / "tools"
    tools.mkdir()
    setup = f"printf '#!/bin/sh\\n# %s\\nexit 0\\n' $PWD > {tools}/pytest; chmod +x {tools}/pytest"
    spec = {"workspace": {"setup": [setup]}, "verify": checks("true")}
    async with small(tmp_path, **spec, path=(tools,)) as at:
        assert (await at.verdict()).passed
        assert (await at.verdict(attempt=2)).passed
        verdict = await at.verdict(f"echo '# x' >> {tools}/pytest", attempt=3)
    assert messages(verdict) == [
        f"exited with 0, but `pytest` on PATH ({tools}/pytest) was changed since the start"
    ]


async def test_a_harness_file_beside_the_workspace_fails_a_green_check(tmp_path: Path) -> None:
    top = make_project(tmp_path / "project", {f"sub/{name}": text for name, text in PROJECT.items()})
    async with court(tmp_path, make_spec(), source=top / "sub") as at:
        verdict = await at.verdict(f"{FIX}; echo > ../conftest.py")
        assert messages(verdict) == ["exited with 0, but ../conftest.py was changed, beside the workspace"]
        assert (await at.verdict("rm ../conftest.py", attempt=2)).passed


# --- the promise of the first page -------------------------------------------------------------------------

BACKEND = '''"""A build backend of its own: an editable wheel is one line in a .pth file."""

import os
import zipfile

META = "Metadata-Version: 2.1\\nName: calc\\nVersion: 1\\n"
WHEEL = "Wheel-Version: 1.0\\nGenerator: x\\nRoot-Is-Purelib: true\\nTag: py3-none-any\\n"


def build_wheel(directory, config_settings=None, metadata_directory=None):
    name = "calc-1-py3-none-any.whl"
    with zipfile.ZipFile(os.path.join(directory, name), "w") as wheel:
        wheel.writestr("calc.pth", os.path.abspath("src"))
        wheel.writestr("calc-1.dist-info/METADATA", META)
        wheel.writestr("calc-1.dist-info/WHEEL", WHEEL)
        wheel.writestr("calc-1.dist-info/RECORD", "")
    return name


build_editable = build_wheel
'''


@pytest.mark.slow
async def test_an_uncommitted_failing_test_is_judged_with_a_venv_that_points_into_the_clean_copy(
    tmp_path: Path,
) -> None:
    project = make_project(
        tmp_path / "my project é",
        {
            "src/calc.py": PROJECT["calc.py"],
            "backend.py": BACKEND,
            "pyproject.toml": (
                '[build-system]\nrequires = []\nbuild-backend = "backend"\nbackend-path = ["."]\n'
                '[project]\nname = "calc"\nversion = "1"\n'
            ),
            ".gitignore": ".venv/\n",
        },
    )
    (project / "test_calc.py").write_text(
        "import calc, pathlib, unittest\n\n\nclass TestCalc(unittest.TestCase):\n"
        "    def test_add(self):\n        print('calc is', pathlib.Path(calc.__file__).resolve())\n"
        "        self.assertEqual(calc.add(2, 3), 5)\n"
    )
    spec = make_spec(
        workspace={
            "setup": [
                f"{sys.executable} -m venv .venv",
                ".venv/bin/python -m pip install -q --no-build-isolation --no-deps --no-index -e .",
            ]
        },
        verify=[{"name": "tests", "run": ".venv/bin/python -m unittest -v && pwd"}],
    )
    async with court(tmp_path, spec, source=project) as at:
        assert not (await at.verdict("true")).passed
        verdict = await at.verdict("sed -i 's/a - b/a + b/' src/calc.py", attempt=2)
        assert verdict.passed, (messages(verdict), verdict.feedback)
        log = (at.logs / "verify-2-tests.log").read_text()
        copy = log.strip().split("\n")[-1]
        assert f"calc is {copy}/src/calc.py" in log
        assert at.workspace.path not in log
        assert [event.phase for event in at.events if isinstance(event, VerificationEnd)].count(
            "baseline"
        ) == 1
