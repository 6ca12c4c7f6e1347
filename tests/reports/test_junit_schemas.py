"""junit.xml before strict schemas: Jenkins' xUnit plugin's, GitLab's, pytest's."""

from __future__ import annotations

import subprocess
import sys
import xml.etree.ElementTree as ET
from functools import cache
from pathlib import Path

import pytest
import xmlschema
from msgspec.structs import replace

from pi_batch.fold import fold
from pi_batch.reports.junit import JUnit
from pi_batch.reports.xunit import XUnit
from pi_batch.results import BatchResult
from tests.reports.batches import hostile, many, one_of_everything, read_log
from tests.streams import Stream

DIALECTS = {"jenkins": XUnit, "gitlab": JUnit, "pytest": JUnit}
"""Schema -> the report that holds before it."""
every_dialect = pytest.mark.parametrize("name", DIALECTS)


@cache
def schema(name: str) -> xmlschema.XMLSchema:
    return xmlschema.XMLSchema(Path(__file__).parent / "schemas" / f"{name}.xsd")


def problems(name: str, document: str) -> list[str]:
    """What a schema finds in a document."""
    return [f"{error.path}: {error.reason}" for error in schema(name).iter_errors(document)]


@every_dialect
@pytest.mark.parametrize("batch", [one_of_everything(), hostile(), fold(Stream().finish().records)])
def test_a_report_holds_before_a_strict_schema(name: str, batch: BatchResult) -> None:
    assert problems(name, DIALECTS[name](read_log).render(batch)) == []


@pytest.mark.slow
@every_dialect
@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("<testsuite ", '<testsuite disabled="0" '),  # larrymyers/jasmine-reporters#191
        ("<testcase name=", "<testcase title="),
        ('time="10.000"', 'time="10,0"'),
        ("<system-out>", "<output>"),
        ('message="', 'message="&#10;'),
        ('tests="', 'tests="-'),
    ],
)
def test_a_schema_finds_what_is_wrong(name: str, old: str, new: str) -> None:
    document = DIALECTS[name](read_log).render(one_of_everything())
    assert old in document
    changed = document.replace(old, new).replace(
        "</system-out>", f"</{'output' if 'out' in new else 'system-out'}>"
    )
    assert problems(name, changed)


def test_the_file_of_a_case_is_for_those_that_know_it() -> None:
    """jest-community/jest-junit#74: for one unknown attribute Jenkins refuses the file."""
    batch = one_of_everything()
    with_files, without = JUnit(read_log).render(batch), XUnit(read_log).render(batch)
    assert problems("jenkins", with_files)
    assert problems("gitlab", without)
    known = ET.fromstring(with_files)
    for case in known.iter("testcase"):
        assert case.attrib.pop("file")
    assert ET.canonicalize(ET.tostring(known)) == ET.canonicalize(without)


@pytest.mark.slow
@every_dialect
@pytest.mark.parametrize("unit", ["<&>\x1b[31m\0", "]]>\ud800\ufffe", "é\u202e\r\n"])
def test_ten_megabytes_of_hostile_text_hold_too(name: str, unit: str) -> None:
    text = unit * (10_000_000 // len(unit))
    batch = many(2, text)
    huge = tuple(replace(result, reason=text, warnings=(text,)) for result in batch.results)
    document = DIALECTS[name](lambda _: text[:60_000]).render(replace(batch, results=huge))
    assert problems(name, document) == []
    assert len(document.encode()) < 250_000


@pytest.mark.slow
def test_a_report_of_pytests_own_holds_before_its_schema(tmp_path: Path) -> None:
    (tmp_path / "test_a.py").write_text(
        "import pytest\ndef test_good(): print('x')\ndef test_bad(): assert 0\n"
        "@pytest.fixture\ndef no(): raise OSError\ndef test_error(no): pass\n"
        "@pytest.mark.skip(reason='later')\ndef test_skipped(): pass\n",
        encoding="utf-8",
    )
    words = ("-q", "-p", "no:cacheprovider", "--junitxml=j.xml", "-o", "junit_family=xunit1")
    subprocess.run([sys.executable, "-m", "pytest", *words], cwd=tmp_path, capture_output=True, check=False)
    assert problems("pytest", (tmp_path / "j.xml").read_text(encoding="utf-8")) == []
