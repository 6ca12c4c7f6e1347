"""Tests of pytest's own report, made by the real pytest."""

from __future__ import annotations

import shlex
import sys
from pathlib import Path

import pytest

from pi_batch.protocols import TestEvidence
from pi_batch.sandboxes.fake import FakeFile, FakeSandbox
from pi_batch.verifiers.pytest_report import read_report, with_report
from tests.verifiers.rigs import context, printed_by

TESTS = """
import pytest

def test_ok(): pass

class TestX:
    @pytest.mark.parametrize("a", [1, "x y"])
    def test_y(self, a): assert a == 1

@pytest.mark.xfail
def test_expected(): assert 0

@pytest.mark.xfail
def test_unexpected(): pass

@pytest.mark.skip
def test_skipped(): pass

@pytest.fixture
def before(): raise ValueError

@pytest.fixture
def after():
    yield
    raise ValueError

def test_before(before): pass

def test_after(after): assert 0
"""


async def report_of(tmp_path: Path, *, is_counting: bool, plugins: str = "") -> TestEvidence | None:
    async with context(tmp_path) as at:
        tests = Path(at.path) / "tests"
        tests.mkdir()
        (tests / "test_a.py").write_text(TESTS)
        (tests / "test_broken.py").write_text("import no_such_module\n")
        (tests / "test_whole.py").write_text("import pytest\npytest.skip(allow_module_level=True)\n")
        env = with_report(at.env, f"{at.scratch}/a report.xml", is_counting=is_counting)
        argv = [sys.executable, "-m", "pytest", "-qq", *shlex.split(plugins)]
        await printed_by(at.sandbox, argv, at.path, env)
        return await read_report(at.sandbox, f"{at.scratch}/a report.xml")


async def test_every_test_is_there_once_under_the_name_that_pytest_gives_it(tmp_path: Path) -> None:
    found = await report_of(tmp_path, is_counting=True)
    assert found is not None
    assert found.executed_names == (
        "tests/test_a.py::TestX::test_y[1]",
        "tests/test_a.py::TestX::test_y[x y]",
        "tests/test_a.py::test_after",
        "tests/test_a.py::test_before",
        "tests/test_a.py::test_ok",
        "tests/test_a.py::test_unexpected",
    )
    assert found.skipped_names == (
        "tests/test_a.py::test_expected",
        "tests/test_a.py::test_skipped",
        "tests/test_whole.py",
    )
    assert found.broken == ("tests/test_broken.py",)
    assert found.failed_names == (
        "tests/test_a.py::TestX::test_y[x y]",
        "tests/test_a.py::test_after",
        "tests/test_a.py::test_before",
    )
    assert (found.executed, found.skipped, found.failed, found.is_report) == (6, 3, 3, True)


async def test_a_file_that_does_not_load_ends_the_run_unless_only_counts_matter(tmp_path: Path) -> None:
    found = await report_of(tmp_path, is_counting=False)
    assert found is not None
    assert (found.executed, found.broken, found.found_none) == (0, ("tests/test_broken.py",), False)


@pytest.mark.slow
async def test_workers_of_xdist_write_one_report(tmp_path: Path) -> None:
    found = await report_of(tmp_path, is_counting=True, plugins="-p xdist -n 2")
    assert found is not None
    assert (found.executed, found.skipped) == (6, 3)


def test_options_are_added_to_those_that_are_there() -> None:
    env = with_report({"PYTEST_ADDOPTS": "-x", "A": "1"}, "/tmp/a b.xml", is_counting=False)
    assert env["PYTEST_ADDOPTS"].startswith("-x -o junit_family=xunit1")
    assert shlex.split(env["PYTEST_ADDOPTS"])[-1] == "--junitxml=/tmp/a b.xml"
    assert env["A"] == "1"


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"<testsuites><testsuite><testcase name='a'/>",
        b"not xml",
        b"<!DOCTYPE x [<!ENTITY a 'b'>]><testsuites>&a;</testsuites>",
        b"\xff\xfe\x00",
    ],
)
async def test_a_report_that_cannot_be_read_is_none(content: bytes) -> None:
    sandbox = FakeSandbox({"/r.xml": FakeFile(content)})
    assert await read_report(sandbox, "/r.xml") is None
    assert await read_report(sandbox, "/missing.xml") is None


async def test_a_large_report_is_read_in_pieces() -> None:
    case = b"<testcase classname='tests.a' name='test_%d' file='tests/a.py'><failure>%s</failure></testcase>"
    body = b"".join(case % (number, b"x" * 20_000) for number in range(200))
    content = b"<?xml version='1.0'?><testsuites><testsuite>" + body + b"</testsuite></testsuites>"
    found = await read_report(FakeSandbox({"/r.xml": FakeFile(content)}), "/r.xml")
    assert found is not None
    assert (found.executed, found.failed) == (200, 200)


async def test_names_are_made_up_from_the_class_where_an_old_pytest_names_no_file() -> None:
    content = (
        b"<testsuite><testcase classname='tests.test_a' name='test_x'/>"
        b"<testcase classname='' name='tests.b'><skipped/></testcase></testsuite>"
    )
    found = await read_report(FakeSandbox({"/r.xml": FakeFile(content)}), "/r.xml")
    assert found is not None
    assert found.executed_names == ("tests/test_a.py::test_x",)
    assert found.skipped_names == ("tests/b.py",)
