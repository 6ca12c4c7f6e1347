"""What a model is told about scripts."""

from __future__ import annotations

from pi_batch.codemode.description import description
from pi_batch.codemode.values import ToolSignature
from tests.codemode.fakes import READ

FIND = ToolSignature("find", ("pattern",), ("pattern",), "find(pattern: str) -> list[str]", "Find files.")
WAIT = ToolSignature("wait", (), (), "wait() -> str", "Wait.")


def test_a_model_with_direct_tools_is_told_when_to_use_them() -> None:
    text = description([READ, FIND], is_only_way=False)
    assert "for a single call use the tool itself" in text
    assert "tools.read(path: str)" not in text


def test_a_model_without_them_gets_their_signatures() -> None:
    text = description([READ, FIND], is_only_way=True)
    assert text.endswith("The tools:\ntools.read(path: str) -> str\ntools.find(pattern: str) -> list[str]")
    assert "no other way" in text


def test_the_example_is_there_only_where_its_tools_are() -> None:
    assert "await asyncio.gather(*[tools.read(path=p)" in description([READ, FIND], is_only_way=False)
    assert "Example" not in description([READ], is_only_way=False)


def test_only_results_of_tools_that_are_there_are_explained() -> None:
    assert "bash a dict" not in description([READ], is_only_way=False)
    assert "read gives the whole text" in description([READ], is_only_way=False)
    assert "as each tool says" in description([WAIT], is_only_way=False)


def test_it_stays_short() -> None:
    assert len(description([READ, FIND], is_only_way=False)) < 2500
