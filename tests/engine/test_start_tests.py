"""A check that was red at the start cannot be turned green by changing the start's own test files."""

from __future__ import annotations

import asyncio
import shutil
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio

from pi_batch.engine.verification import Verdict
from pi_batch.events import VerificationEnd
from tests.engine.judging import FIX, PROJECT, Court, court, make_project, make_spec

pytestmark = [pytest.mark.asyncio(loop_scope="module"), pytest.mark.slow]

RESET = "git reset -q --hard && git clean -qfdx"
EDIT = "sed -i 's/== 5/== -1/' tests/test_add.py"
UPDATE = "sed -i 's/return 2/return 3/' calc.py; sed -i 's/== 4/== 6/' tests/test_double.py"
"""A change of behaviour, with the green test that it breaks."""
MORE = "printf '\\n\\ndef test_more():\\n    assert add(1, 1) == 2\\n' >> tests/test_add.py"
WHERE_IT_WAS = 'printf \'if "== 5" in open("tests/test_add.py").read():\\n    {}\\n\' >> calc.py'
ADD = "tests/test_add.py::test_add"
FAILS = (
    f"tests/test_add.py was changed: with the start's version {ADD} fails (protect: ['!tests/**'] lifts this)"
)


def message(verdict: Verdict) -> str:
    """The one line that a failed check says, which the model hears as well."""
    assert not verdict.passed
    assert verdict.error is None
    text = verdict.results[0].message
    assert "\n" not in text
    assert text in verdict.feedback
    return text


def again(at: Court, attempt: int) -> list[VerificationEnd]:
    """The runs with the start's tests of one attempt."""
    ends = [event for event in at.events if isinstance(event, VerificationEnd)]
    return [event for event in ends if event.attempt == attempt and "/start-tests-" in (event.log or "")]


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def plain(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Court]:
    async with court(tmp_path_factory.mktemp("plain"), make_spec()) as at:
        yield at


async def test_an_edited_assertion_fails_and_names_file_and_test(plain: Court) -> None:
    verdict = await plain.verdict(f"{RESET}; {EDIT}", attempt=10)
    assert message(verdict) == FAILS
    assert "Put them back as they were" in verdict.feedback
    assert "The end of its output with the start's tests:" in verdict.feedback
    assert "assert -1 == 5" in verdict.feedback
    (run,) = again(plain, 10)
    assert (run.phase, run.passed, run.name) == ("baseline", False, "tests")
    assert (plain.logs / "start-tests-10-tests.log").exists()
    assert "3 passed" in (plain.logs / "verify-10-tests.log").read_text()


@pytest.mark.parametrize(
    "script",
    [
        pytest.param(f"{EDIT}; echo '# more' >> calc.py; echo x > new.py", id="a source change beside it"),
        pytest.param(f"{EDIT}; {UPDATE}", id="another behaviour beside it", marks=pytest.mark.slow),
        pytest.param(
            "git mv tests/test_add.py tests/test_sum.py; sed -i 's/== 5/== -1/' tests/*sum.py", id="moved"
        ),
        pytest.param(
            "rm tests/test_add.py;"
            " printf 'def test_add(): pass\\ndef test_zero(): pass\\n' > tests/test_sum.py",
            id="written anew elsewhere",
            marks=pytest.mark.slow,
        ),
        pytest.param(
            "mkdir tests/unit; git mv tests/test_add.py tests/unit/; sed -i 's/== 5/== -1/' tests/unit/*.py",
            id="moved under its name",
            marks=pytest.mark.slow,
        ),
        pytest.param(
            "sed -i '/assert add(2/d; /^def test_add/s/$/ pass/' tests/test_add.py",
            id="emptied",
            marks=pytest.mark.slow,
        ),
        pytest.param(
            f"{EDIT}; printf 'import atexit, os\\natexit.register(os._exit, 0)\\n' >> calc.py",
            id="with an exit code of 0",
            marks=pytest.mark.slow,
        ),
    ],
)
async def test_the_same_by_other_ways_fails(plain: Court, script: str) -> None:
    text = message(await plain.verdict(f"{RESET}; {script}", attempt=20))
    assert "tests/test_add.py" in text
    assert ADD in text


async def test_a_real_fix_with_a_new_test_in_the_same_file_passes(plain: Court) -> None:
    verdict = await plain.verdict(f"{RESET}; {FIX}; {MORE}", attempt=30)
    assert verdict.passed, verdict.results
    assert verdict.results[0].tests is not None
    assert verdict.results[0].tests.executed == 4
    assert len(again(plain, 30)) == 1


@pytest.mark.slow
@pytest.mark.parametrize(
    "script",
    [
        "printf 'def test_more(): pass\\n' > tests/test_more.py",
        "sed 's/test_/test_again_/' tests/test_add.py > tests/test_again.py",
        "echo data > tests/data.txt",
    ],
)
async def test_new_files_beside_a_real_fix_need_no_further_run(plain: Court, script: str) -> None:
    assert (await plain.verdict(f"{RESET}; {FIX}; {script}", attempt=40)).passed
    assert again(plain, 40) == []


@pytest.mark.slow
async def test_a_new_file_that_needs_the_changed_one_may_fail_beside_the_starts(plain: Court) -> None:
    script = f"{MORE}; printf 'from test_add import test_more\\n' > tests/test_more.py"
    assert (await plain.verdict(f"{RESET}; {FIX}; {script}", attempt=45)).passed


async def test_a_real_fix_may_update_a_green_test_which_is_said(plain: Court) -> None:
    verdict = await plain.verdict(f"{RESET}; {FIX}; {UPDATE}", attempt=50)
    assert verdict.passed, verdict.results
    assert any("tests/test_double.py" in warning for warning in plain.warnings)
    (run,) = again(plain, 50)
    assert not run.passed


async def test_a_failing_check_is_not_run_again(plain: Court) -> None:
    assert not (await plain.verdict(f"{RESET}; echo '# x' >> tests/test_add.py", attempt=60)).passed
    assert again(plain, 60) == []


@pytest.mark.slow
async def test_each_attempt_is_judged_by_itself(plain: Court) -> None:
    assert message(await plain.verdict(f"{RESET}; {EDIT}", attempt=70)) == FAILS
    assert message(await plain.verdict("echo '# x' >> calc.py", attempt=71)) == FAILS
    assert not (await plain.verdict("git checkout -q tests", attempt=72)).passed
    assert (await plain.verdict(FIX, attempt=73)).passed
    assert [len(again(plain, attempt)) for attempt in (70, 71, 72, 73)] == [1, 1, 0, 0]


async def judged(tmp_path: Path, script: str, files: dict[str, str], **keys: Any) -> Verdict:
    """One attempt on a project of its own."""
    async with court(tmp_path, make_spec(**keys), source=make_project(tmp_path / "own", files)) as at:
        verdict = await at.verdict(script)
        assert [path.name for path in (tmp_path / "state").glob("c*-*")] == []
        return verdict


@pytest.mark.slow
async def test_a_changed_case_of_a_parametrised_test_fails(tmp_path: Path) -> None:
    cases = (
        "import pytest\nfrom calc import add\n\n\n"
        "@pytest.mark.parametrize('a, b, c', [(2, 3, 5), (0, 0, 0)])\n"
    )
    files = {**PROJECT, "tests/test_add.py": f"{cases}def test_add(a, b, c):\n    assert add(a, b) == c\n"}
    text = message(await judged(tmp_path, "sed -i 's/3, 5/3, -1/' tests/test_add.py", files))
    assert "tests/test_add.py::test_add[2-3-5] fails" in text


@pytest.mark.slow
async def test_the_starts_tests_count_also_behind_a_link_to_edited_ones(tmp_path: Path) -> None:
    files = {name: text for name, text in PROJECT.items() if name != "tests/test_double.py"}
    link = (
        "mkdir more; sed 's/== 5/== -1/' tests/test_add.py > more/test_add.py; rm -r tests; ln -s more tests"
    )
    assert ADD in message(await judged(tmp_path, link, files))


UNITTEST = {
    "calc.py": PROJECT["calc.py"],
    "test_calc.py": (
        "import unittest\nfrom calc import add\n\n\nclass TestCalc(unittest.TestCase):\n"
        "    def test_add(self):\n        self.assertEqual(add(2, 3), 5)\n"
    ),
}


@pytest.mark.parametrize(
    "command", ["python -m unittest -v", pytest.param("python test_calc.py", marks=pytest.mark.slow)]
)
async def test_without_names_the_whole_check_must_pass_with_the_starts_tests(
    tmp_path: Path, command: str
) -> None:
    main = {"test_calc.py": UNITTEST["test_calc.py"] + "\n\nunittest.main()\n"} if "test_" in command else {}
    async with court(
        tmp_path,
        make_spec(verify=[{"name": "tests", "run": command}]),
        source=make_project(tmp_path / "own", {**UNITTEST, **main}),
    ) as at:
        edit = "sed -i 's/, 5)/, -1)/' test_calc.py"
        assert message(await at.verdict(edit)) == (
            "test_calc.py was changed: with the start's version the check fails (exit code 1)"
            " (protect: ['!test_calc.py'] lifts this)"
        )
        assert (
            await at.verdict(f"git checkout -q .; {FIX}; sed -i 's/import unittest/&  # x/' test_calc.py")
        ).passed


@pytest.mark.parametrize(
    ("protect", "passes"),
    [
        (["!tests/**"], True),
        pytest.param(["!tests/test_add.py"], True, marks=pytest.mark.slow),
        pytest.param(["!tests/test_double.py"], False, marks=pytest.mark.slow),
        pytest.param(["*.md"], False, marks=pytest.mark.slow),
    ],
)
async def test_a_negated_glob_lifts_it(tmp_path: Path, protect: list[str], passes: bool) -> None:
    async with court(tmp_path, make_spec(protect=protect)) as at:
        assert (await at.verdict(EDIT)).passed is passes
        assert len(again(at, 1)) == (not passes)


async def test_a_green_start_is_not_concerned(tmp_path: Path) -> None:
    green = {**PROJECT, "calc.py": PROJECT["calc.py"].replace("a - b", "a + b")}
    async with court(tmp_path, make_spec(), source=make_project(tmp_path / "own", green)) as at:
        assert (await at.verdict(UPDATE)).passed
        assert again(at, 1) == []


@pytest.mark.slow
async def test_a_precheck_that_failed_says_that_the_start_was_red(tmp_path: Path) -> None:
    async with court(tmp_path, make_spec(precheck={"run": "pytest -q -p no:cacheprovider"})) as at:
        assert await at.judge.precheck() is None
        assert message(await at.verdict(EDIT)) == FAILS
        assert len(at.ended("baseline")) == 1


@pytest.mark.slow
async def test_a_test_file_that_did_not_load_must_pass_as_it_was(tmp_path: Path) -> None:
    new = "from calc import triple\n\n\ndef test_t():\n    assert triple(1) == 3\n"
    async with court(
        tmp_path, make_spec(), source=make_project(tmp_path / "own", {**PROJECT, "tests/test_new.py": new})
    ) as at:
        triple = "printf '\\n\\ndef triple(a):\\n    return {}\\n' >> calc.py"
        edit = "sed -i 's/== 3/== 0/' tests/test_new.py"
        text = message(await at.verdict(f"{FIX}; {triple.format(0)}; {edit}"))
        assert "tests/test_new.py::test_t fails" in text
        around = "git checkout -q .; sed -i 's/^from.*/def triple(a): return 3/' tests/test_new.py"
        text = message(await at.verdict(f"{around}; {FIX}", attempt=2))
        assert "tests/test_new.py cannot be loaded" in text
        more = "printf '\\n\\ndef test_u():\\n    assert triple(2)\\n' >> tests/test_new.py"
        real = f"git checkout -q .; {FIX}; {triple.format('3 * a')}; {more}"
        assert (await at.verdict(real, attempt=3)).passed


@pytest.mark.slow
async def test_tests_that_a_stopped_start_did_not_reach_must_pass_as_they_were(tmp_path: Path) -> None:
    files = {**PROJECT, "calc.py": PROJECT["calc.py"].replace("2 * a", "a")}
    files["tests/test_double.py"] = files["tests/test_double.py"].partition("\n\n\n@")[0]
    run = [{"name": "tests", "run": "pytest -x -q"}]
    edit = f"{FIX}; sed -i 's/== 4/== 2/' tests/test_double.py"
    text = message(await judged(tmp_path, edit, files, verify=run))
    assert "tests/test_double.py was changed" in text
    assert "tests/test_double.py::test_double fails" in text


@pytest.mark.slow
async def test_a_linter_may_be_satisfied_by_changing_test_files(tmp_path: Path) -> None:
    files = {**PROJECT, "Makefile": "lint:\n\t! grep -rn 'add(0, 0)' tests\n"}
    change = "sed -i 's/add(0, 0)/add(0,0)/' tests/test_add.py"
    async with court(
        tmp_path,
        make_spec(
            verify=[{"name": "lint", "run": "make lint"}, {"name": "grep", "run": "! grep -r '0, 0' tests"}]
        ),
        source=make_project(tmp_path / "own", files),
    ) as at:
        assert (await at.verdict(change)).passed
        assert again(at, 1) == []


@pytest.mark.slow
async def test_a_linter_beside_the_tests_is_not_asked_about_the_starts(tmp_path: Path) -> None:
    files = {**PROJECT, "calc.py": PROJECT["calc.py"].replace("a - b", "a + b")}
    run = [{"name": "tests", "run": "pytest -q && ! grep -rn 'add(0, 0)' tests"}]
    assert (
        await judged(tmp_path, "sed -i 's/add(0, 0)/add(0,0)/' tests/test_add.py", files, verify=run)
    ).passed


async def test_setup_runs_in_the_second_copy_and_several_checks_share_it(tmp_path: Path) -> None:
    checks = [{"name": name, "run": "test -e made && pytest -q"} for name in ("one", "two")]
    async with court(tmp_path, make_spec(workspace={"setup": ["touch made; pwd"]}, verify=checks)) as at:
        verdict = await at.verdict(EDIT)
        assert [result.message for result in verdict.results] == [FAILS, FAILS]
        runs = again(at, 1)
    assert [run.phase for run in runs] == ["setup", "baseline", "baseline"]
    places = {(at.logs / f"{name}-1-setup-1.log").read_text() for name in ("verify", "start-tests")}
    assert len(places) == 2


@pytest.mark.slow
async def test_a_setup_that_fails_with_the_starts_tests_fails_the_check(tmp_path: Path) -> None:
    setup = ["if grep -q 'b): return a' calc.py; then grep -q -- '== -1' tests/test_add.py; fi"]
    script = f"{EDIT}; sed -i 'N;s/b):\\n *return a/b): return a/' calc.py"
    text = message(await judged(tmp_path, script, dict(PROJECT), workspace={"setup": setup}))
    assert "with the start's version pytest runs none of the tests (setup-1 failed: exit code 1)" in text


@pytest.mark.slow
async def test_a_run_with_the_starts_tests_ends_at_the_checks_time_limit(tmp_path: Path) -> None:
    hang = f"{EDIT}; {WHERE_IT_WAS.format('while 1: 0')}"
    run = [{"name": "tests", "run": "pytest -q", "timeout_s": 3}]
    assert "timed out after 3 s" in message(await judged(tmp_path, hang, dict(PROJECT), verify=run))


async def test_a_cancelled_run_with_the_starts_tests_leaves_nothing_behind(tmp_path: Path) -> None:
    hang = f"{EDIT}; {WHERE_IT_WAS.format('import time; time.sleep(60)')}"
    async with court(tmp_path, make_spec()) as at:
        await at.agent(hang)
        running = asyncio.create_task(at.judge.judge(1, None))
        while len(list((tmp_path / "state").glob("copy-*"))) < 3:
            await asyncio.sleep(0.02)
            assert not running.done()
        await asyncio.sleep(0.3)
        running.cancel()
        with pytest.raises(asyncio.CancelledError):
            await running
        assert [path.name for path in (tmp_path / "state").glob("c*-*")] == []
        (ended,) = at.ended("verify")
    assert ended.error is not None
    assert ended.error.kind == "cancelled"


# --- in the workspace ------------------------------------------------------------------------------


@pytest.mark.parametrize("isolation", ["none", pytest.param("clone", marks=pytest.mark.slow)])
async def test_in_the_workspace_a_copy_shows_what_the_starts_tests_say(
    tmp_path: Path, isolation: str
) -> None:
    spec = make_spec(workspace={"isolation": isolation}, verify_in="workspace")
    async with court(tmp_path, spec, isolation=isolation) as at:
        assert message(await at.verdict(EDIT)) == FAILS
        assert (await at.verdict(f"git checkout -q .; {FIX}; {MORE}", attempt=2)).passed


@pytest.mark.slow
async def test_in_the_workspace_a_copy_that_lacks_what_the_check_needs_tells_nothing(tmp_path: Path) -> None:
    project = make_project(tmp_path / "own", {**PROJECT, ".gitignore": "local.py\n"})
    (project / "local.py").write_text("")
    spec = make_spec(
        workspace={"isolation": "none"}, verify=[{"name": "tests", "run": "test -e local.py && pytest -q"}]
    )
    async with court(tmp_path, spec, isolation="none", source=project) as at:
        assert (await at.verdict(EDIT)).passed
        assert any("tests/test_add.py" in warning for warning in at.warnings)


async def test_in_the_workspace_without_a_recorded_start_it_is_said(tmp_path: Path) -> None:
    spec = make_spec(workspace={"isolation": "none"}, precheck={"run": "pytest -q -p no:cacheprovider"})
    async with court(tmp_path, spec, isolation="none") as at:
        assert await at.judge.precheck() is None
        at.workspace.start_commit = None
        assert (await at.verdict(EDIT)).passed
        assert any("tests/test_add.py" in warning for warning in at.warnings)


# --- other runners ---------------------------------------------------------------------------------

GO = {
    "go.mod": "module x\n\ngo 1.18\n",
    "calc.go": (
        "package x\n\nfunc Add(a, b int) int { return a - b }\nfunc Double(a int) int { return 2 * a }\n"
    ),
    "calc_test.go": (
        'package x\n\nimport "testing"\n\n'
        "func TestAdd(t *testing.T) {\n\tif Add(2, 3) != 5 {\n\t\tt.Fatal()\n\t}\n}\n\n"
        "func TestDouble(t *testing.T) {\n\tif Double(2) != 4 {\n\t\tt.Fatal()\n\t}\n}\n"
    ),
}


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("go") is None, reason="needs go")
async def test_go_names_its_tests(tmp_path: Path) -> None:
    spec = make_spec(verify=[{"name": "tests", "run": "go test ./..."}])
    async with court(tmp_path, spec, source=make_project(tmp_path / "own", GO)) as at:
        assert "TestAdd fails" in message(await at.verdict("sed -i 's/!= 5/!= -1/' calc_test.go"))
        update = "sed -i 's/2 . a/3 * a/' calc.go; sed -i 's/!= 4/!= 6/' calc_test.go"
        fix = "git checkout -q .; sed -i 's/a - b/a + b/' calc.go"
        # A helper that moved to a new file of the package would be declared twice.
        helper = (
            "printf 'package x\\n\\nfunc helper() {}\\n' > help_test.go;"
            " sed -i 's/t.Fatal/helper(); &/' calc_test.go"
        )
        verdict = await at.verdict(f"{fix}; {update}; {helper}", attempt=2)
        assert verdict.passed, verdict.results
