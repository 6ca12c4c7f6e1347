"""What every verifier of the table keeps to."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from pi_batch import verifiers
from pi_batch.protocols import Judgement
from pi_batch.results import VerificationResult
from pi_batch.verifiers.fake import Fake
from tests.verifiers.rigs import changes, check, context


@dataclass(frozen=True)
class Case:
    """What one verifier passes and fails."""

    passing: Any
    failing: Any


FAILED = Judgement(VerificationResult("fake", "", None, False, 0.0, 3, message="as written"))

CASES: Mapping[str, Case] = {
    "command": Case(check("test -s there.txt"), check("exit 1")),
    "files": Case(("there.txt",), ("gone.txt",)),
    "schema": Case({"type": "object"}, {"type": "array"}),
    "fake": Case("anything", "anything"),
}


async def judged(name: str, tmp_path: Path, what: Any, *, fails: bool) -> Judgement:
    verifier = Fake([FAILED]) if name == "fake" and fails else verifiers.load(name)()
    (tmp_path / "tree").mkdir(exist_ok=True)
    (tmp_path / "tree" / "there.txt").write_text("x")
    async with context(tmp_path, attempt=3, answer="{}", changes=changes("there.txt")) as at:
        return await verifier.verify(what, at)


def test_every_verifier_has_a_case() -> None:
    assert CASES.keys() == verifiers.TABLE.keys()


@pytest.mark.parametrize("name", verifiers.TABLE)
def test_a_verifier_is_loaded_by_its_name(name: str) -> None:
    assert verifiers.load(name)().name == name


def test_a_tasks_verifiers_are_made_when_they_are_asked_for() -> None:
    made = verifiers.make_all()
    assert not made
    assert made["files"] is made["files"]
    assert set(made) == {"files"}
    with pytest.raises(KeyError):
        made["oracle"]


def test_an_unknown_name_is_a_key_error() -> None:
    with pytest.raises(KeyError):
        verifiers.load("oracle")


@pytest.mark.parametrize("name", verifiers.TABLE)
async def test_what_passes_has_no_message_and_no_error(name: str, tmp_path: Path) -> None:
    result = (await judged(name, tmp_path, CASES[name].passing, fails=False)).result
    assert (result.passed, result.message, result.error, result.attempt) == (True, "", None, 3)


@pytest.mark.parametrize("name", verifiers.TABLE)
async def test_what_fails_says_why_on_one_line(name: str, tmp_path: Path) -> None:
    found = await judged(name, tmp_path, CASES[name].failing, fails=True)
    assert (found.result.passed, found.result.attempt, found.value) == (False, 3, None)
    assert found.result.message
    assert "\n" not in found.result.message


async def test_the_fake_gives_its_judgements_in_order_and_remembers_what_it_saw(tmp_path: Path) -> None:
    passed = Judgement(VerificationResult("fake", "", None, True, 0.0, 1))
    fake = Fake([FAILED, passed])
    async with context(tmp_path) as at:
        seen = [await fake.verify(number, at) for number in range(3)]
    assert seen == [FAILED, passed, passed]
    assert [what for what, _ in fake.seen] == [0, 1, 2]
