"""What tools declare without their argument models, and that both are the same."""

from __future__ import annotations

import json

import pytest

from pi_batch.codemode.tool import Codemode
from pi_batch.messages import JsonObject
from pi_batch.spec import PathRules
from pi_batch.tools import TABLE, load, make
from pi_batch.tools.declare import declaration, made_schema
from pi_batch.tools.later import FROZEN, Later, frozen_schema, place_of
from pi_batch.tools.read import Read
from pi_batch.tools.read_arguments import ReadArguments
from tests.codemode.fakes import FakeRunner

TOOLS = [*make(TABLE, PathRules()).values(), Codemode(FakeRunner(), ())]


@pytest.mark.parametrize("tool", TOOLS, ids=lambda tool: tool.name)
def test_what_is_frozen_is_what_the_model_takes(tool: object) -> None:
    schema = made_schema(tool.arguments)  # type: ignore[attr-defined]
    assert frozen_schema(tool) == schema, "run scripts/freeze_schemas.py"
    assert json.dumps(frozen_schema(tool)) == json.dumps(schema), "the order is what models see"


def test_nothing_else_is_frozen() -> None:
    assert set(json.loads(FROZEN.read_bytes())) == {place_of(tool) for tool in TOOLS}


def test_a_tool_is_found_by_the_place_of_its_class() -> None:
    assert place_of(Read()) == TABLE["read"]
    assert load("read").arguments is ReadArguments  # type: ignore[comparison-overlap]


class Foreign:
    """A tool of somebody else that has the name of ours."""

    name = "read"
    description = "Read it."
    is_read_only = True
    returns = "str"
    arguments = Later("pi_batch.tools.think_arguments:ThinkArguments")


def test_a_foreign_tool_declares_its_own_arguments_whatever_its_name() -> None:
    assert frozen_schema(Foreign()) is None
    parameters: JsonObject = declaration(Foreign()).parameters  # type: ignore[arg-type]
    assert set(parameters["properties"]) == {"thought"}
