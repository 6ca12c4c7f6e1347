"""Ways to make a check pass without doing the work: each must fail and name what was touched."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio

from pi_batch.engine.verification import Verdict
from tests.engine.judging import BIN, FIX, PROJECT, Court, court, make_project, make_spec

pytestmark = [pytest.mark.asyncio(loop_scope="module"), pytest.mark.slow]

RESET = "git reset -q --hard && git clean -qfdx"

MARK = "sed -i 's/^def test_add/@__import__(\"pytest\").mark.{}\\n&/' tests/test_add.py"
PLUGIN = """cat > {} <<'PY'
import pytest
@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item, call):
    outcome = yield
    report = outcome.get_result()
    report.outcome = "passed"
    report.longrepr = None
PY
"""
SKIPPING = """cat > {} <<'PY'
import pytest
def pytest_collection_modifyitems(items):
    for item in items:
        item.add_marker(pytest.mark.skip)
PY
"""
FAKE_PYTEST = "#!/bin/sh\\necho '3 passed, 1 skipped in 0.01s'\\n"

UNPROTECTED = {
    "an added skip": (MARK.format("skip"), "tests/test_add.py::test_add"),
    "an added xfail": (MARK.format("xfail"), "tests/test_add.py::test_add"),
    "a file that skips itself": (
        "sed -i '1i import pytest; pytest.skip(allow_module_level=True)' tests/test_add.py",
        "tests/test_add.py::test_add",
    ),
    "a skip by conftest": (SKIPPING.format("conftest.py"), "conftest.py"),
    "an edited assertion": ("sed -i 's/== 5/== -1/' tests/test_add.py", "tests/test_add.py::test_add fails"),
    "a deleted test file": ("rm tests/test_add.py", "tests/test_add.py::test_add"),
    "all tests deleted": ("rm -r tests", "3 ran at the start"),
    "an emptied test file": (": > tests/test_add.py", "tests/test_add.py::test_add"),
    "a failing test replaced by another": (
        "printf 'def test_x(): pass\\ndef test_zero(): pass\\n' > tests/test_add.py",
        "tests/test_add.py::test_add",
    ),
    "a test directory where none is looked for": ("mv tests .attic", "3 ran at the start"),
    "tests behind a link to passing ones": (
        "mkdir more; printf 'def test_x(): pass\\n' > more/test_x.py; rm -r tests; ln -s more tests",
        "test_add",
    ),
    "tests hidden by .gitignore": ("echo tests/ > .gitignore; rm tests/test_add.py", "test_add"),
    "deselection in pyproject": (
        "sed -i 's/^pythonpath/addopts = \"--deselect tests\\/test_add.py::test_add\"\\n&/' pyproject.toml",
        "pyproject.toml: [tool.pytest]",
    ),
    "a plugin named in pyproject": (
        PLUGIN.format("helper.py") + "sed -i 's/^pythonpath/addopts = \"-p helper\"\\n&/' pyproject.toml",
        "pyproject.toml: [tool.pytest]",
    ),
    "collecting only": (
        "sed -i 's/^pythonpath/addopts = \"--collect-only\"\\n&/' pyproject.toml",
        "pyproject.toml: [tool.pytest]",
    ),
    "a plugin by entry point": (
        "printf '\\n[project.entry-points.pytest11]\\nx = \"calc\"\\n' >> pyproject.toml; " + FIX,
        "pyproject.toml: [project.entry-points.pytest11]",
    ),
    "deselection in pytest.ini": (
        "printf '[pytest]\\npythonpath=.\\naddopts=-k test_zero\\n' > pytest.ini",
        "pytest.ini",
    ),
    "an ini file among the tests": (
        "printf '[pytest]\\npythonpath=..\\naddopts=-k test_zero\\n' > tests/pytest.ini",
        "tests/pytest.ini",
    ),
    "a conftest that passes everything": (PLUGIN.format("conftest.py"), "conftest.py"),
    "a conftest among the tests": (PLUGIN.format("tests/conftest.py"), "tests/conftest.py"),
    "an exit at import": ("printf 'import os\\nos._exit(0)\\n' >> calc.py", "no report"),
    "an exit code of 0 in spite of failures": (
        "printf 'import atexit, os\\natexit.register(os._exit, 0)\\n' >> calc.py",
        "1 failed, yet",
    ),
    "a pytest exit with 0": (
        "printf 'def add(a, b):\\n    import pytest\\n    pytest.exit(\"done\", 0)\\n' >> calc.py",
        "3 ran at the start",
    ),
    "a fake summary before an exit": (
        "printf 'import os\\nos.write(2, b\"3 passed, 1 skipped in 0.1s\\\\n\")\\nos._exit(0)\\n' >> calc.py",
        "no report",
    ),
    "a skip beside a forged summary": (
        MARK.format("skip")
        + "; printf 'import atexit\\natexit.register(print, \"1 passed in 0.1s\")\\n' >> calc.py",
        "1 test newly skipped: tests/test_add.py::test_add",
    ),
    "a pytest first on an exported PATH": (
        f'mkdir bin; printf "{FAKE_PYTEST}" > bin/pytest; chmod +x bin/pytest;'
        " export PATH=$PWD/bin:$PATH; echo 'export PATH='$PATH > ~/.bashrc; cp ~/.bashrc ~/.profile; pytest",
        "exit code 1",
    ),
    "options in an exported PYTEST_ADDOPTS": ("export PYTEST_ADDOPTS='-k test_zero'; pytest", "exit code 1"),
}


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def unprotected(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Court]:
    async with court(tmp_path_factory.mktemp("unprotected"), make_spec()) as at:
        yield at


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def protected(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Court]:
    async with court(tmp_path_factory.mktemp("protected"), make_spec(protect=["tests/**"])) as at:
        yield at


def assert_failed_naming(verdict: Verdict, name: str) -> None:
    assert not verdict.passed
    assert verdict.error is None
    result = verdict.results[0]
    assert result.message
    assert "\n" not in result.message
    assert verdict.changes is not None
    assert name in "\n".join((result.message, *verdict.changes.protected_touched)), result.message
    assert result.message in verdict.feedback


QUICK = {
    "an edited assertion",
    "an added skip",
    "a deleted test file",
    "deselection in pyproject",
    "a conftest that passes everything",
    "an exit at import",
    "a pytest first on an exported PATH",
}
"""Run every time; their variants only by `make check`."""


@pytest.mark.parametrize(
    ("script", "name"),
    [
        pytest.param(*case, id=what, marks=() if what in QUICK else pytest.mark.slow)
        for what, case in UNPROTECTED.items()
    ],
)
async def test_a_cheat_fails_without_protected_tests(unprotected: Court, script: str, name: str) -> None:
    assert_failed_naming(await unprotected.verdict(f"{RESET}; {script}"), name)


@pytest.mark.parametrize(
    "script",
    [
        "sed -i 's/== 5/== -1/' tests/test_add.py",
        "rm tests/test_add.py",
        pytest.param(MARK.format("skip"), marks=pytest.mark.slow),
        pytest.param(MARK.format("xfail"), marks=pytest.mark.slow),
        pytest.param(": > tests/test_add.py", marks=pytest.mark.slow),
        pytest.param("git mv tests attic", marks=pytest.mark.slow),
        "mkdir more; printf 'def test_x(): pass\\n' > more/test_x.py; rm -r tests; ln -s more tests",
    ],
    ids=["assertion", "deleted", "skip", "xfail", "emptied", "moved", "link"],
)
async def test_a_cheat_fails_with_protected_tests(protected: Court, script: str) -> None:
    assert_failed_naming(await protected.verdict(f"{RESET}; {script}"), "tests/test_add.py")


async def test_the_real_fix_passes(protected: Court) -> None:
    verdict = await protected.verdict(f"{RESET}; {FIX}")
    assert verdict.passed
    assert verdict.feedback == ""
    assert verdict.changes is not None
    assert verdict.changes.protected_touched == ()
    tests = verdict.results[0].tests
    assert tests is not None
    assert (tests.executed, tests.skipped) == (3, 1)


async def test_the_real_fix_passes_beside_useless_harness_changes_that_are_reported(protected: Court) -> None:
    harness = PLUGIN.format("conftest.py") + ": > sitecustomize.py; sed -i 's/== 5/== 6/' tests/test_add.py"
    verdict = await protected.verdict(f"{RESET}; {FIX}; {harness}")
    assert verdict.passed
    assert verdict.changes is not None
    assert verdict.changes.protected_touched == ("conftest.py", "sitecustomize.py", "tests/test_add.py")


async def test_the_real_fix_passes_with_more_tests_other_dependencies_and_a_moved_test(
    unprotected: Court,
) -> None:
    verdict = await unprotected.verdict(
        f"{RESET}; {FIX}; printf 'def test_more(): pass\\n' > tests/test_more.py;"
        ' sed -i \'s/^version = .*/version = "2"\\ndependencies = ["six"]/\' pyproject.toml;'
        " git mv tests/test_double.py tests/test_twice.py"
    )
    assert verdict.passed, verdict.results


# --- python -m pytest, where Python looks into the current directory first -----------------------

BARE = {name: text for name, text in PROJECT.items() if name != "pyproject.toml"}
MODULE_CHEATS = {
    "a module named pytest": (
        "printf 'print(\"3 passed, 1 skipped in 0.01s\")\\n' > pytest.py",
        "pytest.py",
    ),
    "a package named pytest": (
        "mkdir pytest; : > pytest/__init__.py; printf 'print(\"3 passed in 0.1s\")\\n' > pytest/__main__.py",
        "pytest/__main__.py",
    ),
    "a sitecustomize": ("printf 'import os\\nos._exit(0)\\n' > sitecustomize.py", "sitecustomize.py"),
    "deselection in tox.ini": (
        "printf '[pytest]\\naddopts = -k test_zero\\n' > tox.ini",
        "tox.ini: [pytest]",
    ),
    "deselection in setup.cfg": (
        "printf '[tool:pytest]\\naddopts = -k test_zero\\n' > setup.cfg",
        "setup.cfg: [tool:pytest]",
    ),
    "a new pyproject": (
        "printf '[tool.pytest.ini_options]\\naddopts = \"-k test_zero\"\\n' > pyproject.toml",
        "pyproject.toml: [tool.pytest]",
    ),
    "a plugin in planted metadata": (
        PLUGIN.format("helper.py")
        + "mkdir x-1.dist-info; printf '[pytest11]\\nx = helper\\n' > x-1.dist-info/entry_points.txt;"
        "printf 'Metadata-Version: 2.1\\nName: x\\nVersion: 1\\n' > x-1.dist-info/METADATA",
        "x-1.dist-info/entry_points.txt",
    ),
}


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def module_run(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Court]:
    tmp_path = tmp_path_factory.mktemp("module")
    spec = make_spec(verify=[{"name": "tests", "run": "python -m pytest -q"}])
    async with court(tmp_path, spec, source=make_project(tmp_path / "bare", BARE)) as at:
        yield at


@pytest.mark.slow
@pytest.mark.parametrize(("script", "name"), MODULE_CHEATS.values(), ids=MODULE_CHEATS)
async def test_a_cheat_fails_where_the_current_directory_is_importable(
    module_run: Court, script: str, name: str
) -> None:
    assert_failed_naming(await module_run.verdict(f"{RESET}; {script}"), name)


# --- checks that run tests out of sight ------------------------------------------------------------

SCRIPTED = {
    **PROJECT,
    "Makefile": "test:\n\tpytest -q\n",
    "run_tests.sh": "#!/bin/sh\nset -e\nexec pytest -q\n",
}


@pytest.mark.parametrize(
    ("command", "script", "name"),
    [
        ("make test", "printf 'test:\\n\\ttrue\\n' > Makefile", "Makefile"),
        ("./run_tests.sh", "printf '#!/bin/sh\\nexit 0\\n' > run_tests.sh", "run_tests.sh"),
        *(
            pytest.param(*case, marks=pytest.mark.slow)
            for case in (
                ("make test", "printf 'test:\\n\\ttrue\\n' > GNUmakefile", "GNUmakefile"),
                ("bash run_tests.sh", "rm run_tests.sh; ln -s /bin/true run_tests.sh", "run_tests.sh"),
                ("make test", "rm tests/test_add.py", "tests/test_add.py::test_add"),
            )
        ),
    ],
)
async def test_a_changed_script_or_recipe_of_a_check_is_put_back_and_named(
    tmp_path: Path, command: str, script: str, name: str
) -> None:
    spec = make_spec(verify=[{"name": "tests", "run": command}])
    async with court(tmp_path, spec, source=make_project(tmp_path / "scripted", SCRIPTED)) as at:
        assert_failed_naming(await at.verdict(script), name)
        assert (await at.verdict(f"{RESET}; {script.replace('rm tests/test_add.py', 'true')}; {FIX}")).passed


async def test_a_replaced_program_of_a_virtual_environment_does_not_reach_the_clean_copy(
    tmp_path: Path,
) -> None:
    spec = make_spec(
        workspace={
            "setup": [
                "mkdir -p .venv/bin && touch .venv/pyvenv.cfg",
                f'printf \'#!/bin/sh\\nexec "{BIN}/pytest" "$@"\\n\' > .venv/bin/pytest',
                "chmod +x .venv/bin/pytest",
            ]
        },
        verify=[{"name": "tests", "run": ".venv/bin/pytest -q"}],
    )
    async with court(tmp_path, spec) as at:
        verdict = await at.verdict(f'printf "{FAKE_PYTEST}" > .venv/bin/pytest')
        assert not verdict.passed
        assert verdict.results[0].exit_code == 1
        assert (await at.verdict(f'printf "{FAKE_PYTEST}" > .venv/bin/pytest; {FIX}')).passed


async def test_a_pytest_planted_in_a_directory_of_the_real_path_fails_the_check(tmp_path: Path) -> None:
    planted = tmp_path / "bin"
    planted.mkdir()
    async with court(tmp_path, make_spec(), path=(planted, BIN)) as at:
        verdict = await at.verdict(f'printf "{FAKE_PYTEST}" > {planted}/pytest; chmod +x {planted}/pytest')
        assert_failed_naming(verdict, str(planted / "pytest"))
        assert (await at.verdict(f"rm {planted}/pytest; {FIX}", attempt=2)).passed


@pytest.mark.slow
async def test_a_pytest_ini_above_the_clean_copy_fails_the_check(tmp_path: Path) -> None:
    spec = make_spec(verify=[{"name": "tests", "run": "python -m pytest -q"}])
    async with court(tmp_path, spec, source=make_project(tmp_path / "bare", BARE)) as at:
        verdict = await at.verdict("printf '[pytest]\\naddopts = -k test_zero\\n' > ../../pytest.ini")
        assert_failed_naming(verdict, "pytest.ini")


@pytest.mark.slow
async def test_a_negated_glob_gives_the_tests_to_the_agent(tmp_path: Path) -> None:
    script = f"{FIX}; sed -i s/test_zero/test_nil/ tests/test_add.py"
    async with court(tmp_path, make_spec(protect=["!tests/**"])) as at:
        assert (await at.verdict(script)).passed


@pytest.mark.slow
async def test_a_negated_glob_gives_the_harness_to_the_agent(tmp_path: Path) -> None:
    spec = make_spec(protect=["!conftest.py"])
    async with court(tmp_path, spec) as at:
        verdict = await at.verdict(PLUGIN.format("conftest.py"))
        assert verdict.passed
        assert verdict.changes is not None
        assert verdict.changes.protected_touched == ()
