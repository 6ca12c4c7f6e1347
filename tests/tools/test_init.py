"""The table: every tool is found, and is what the Protocol says."""

from __future__ import annotations

import re
import subprocess
import sys
from typing import get_args

import pytest

from pi_batch import tools
from pi_batch.spec import PathRules, ToolName
from pi_batch.tools.declare import declaration

NAMES = sorted(tools.TABLE)


def test_the_table_holds_the_tools_of_the_spec() -> None:
    assert set(tools.TABLE) == set(get_args(ToolName)) - {"codemode"}


@pytest.mark.parametrize("name", NAMES)
def test_each_tool_is_what_the_protocol_says(name: str) -> None:
    tool = tools.make([name], PathRules())[name]
    assert tool.name == name
    assert isinstance(tool, tools.load(name))
    assert tool.description.endswith(".")
    assert 20 < len(tool.description) < 500
    assert isinstance(tool.is_read_only, bool)
    config = tool.arguments.__struct_config__
    assert config.forbid_unknown_fields
    assert config.frozen


@pytest.mark.parametrize("name", NAMES)
def test_each_argument_is_described_for_the_model(name: str) -> None:
    tool = tools.make([name], PathRules())[name]
    for node in declaration(tool).parameters["properties"].values():
        assert node["description"]
        assert "\n" not in node["description"]


def test_only_bash_write_and_edit_change_things() -> None:
    made = tools.make(tools.TABLE, PathRules())
    assert {name for name, tool in made.items() if not tool.is_read_only} == {"bash", "write", "edit"}


def test_tools_are_made_in_the_order_asked_for() -> None:
    assert list(tools.make(["write", "read"], PathRules())) == ["write", "read"]


def test_an_unknown_name_is_a_key_error() -> None:
    with pytest.raises(KeyError):
        tools.load("nope")


def test_the_table_costs_nothing_to_import() -> None:
    code = "import sys, pi_batch.tools; print('pydantic' in sys.modules, 'asyncio' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["False", "False"]


@pytest.mark.parametrize("name", NAMES)
def test_names_fit_every_provider(name: str) -> None:
    assert re.fullmatch(r"[A-Za-z0-9_-]{1,64}", name)
