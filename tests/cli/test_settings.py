"""Flags, variables and the configuration file: what holds, and where it came from."""

from __future__ import annotations

import json
import re
from pathlib import Path

import click
import pytest

from pi_batch.cli.main import cli
from pi_batch.load.config import SETTINGS
from tests.cli.calling import MODEL, Desk

PAGE = (Path(__file__).parents[2] / "docs/settings.md").read_text(encoding="utf-8")
ROWS = {
    flag: (variable, key)
    for flag, variable, key in re.findall(
        r"^\| `(--[a-z-]+)` \|[^|]*\| ([^|]*) \| ([^|]*)\|$", PAGE, re.MULTILINE
    )
}
"""Flag -> the cells of its variable and key."""


def run_flags() -> dict[str, click.Option]:
    command = cli.get_command(click.Context(cli), "run")
    assert command is not None
    return {
        max(one.opts, key=len): one
        for one in command.params
        if isinstance(one, click.Option) and not one.hidden and "--help" not in one.opts
    }


def test_every_flag_of_run_is_on_the_page_with_its_variable() -> None:
    flags = run_flags()
    assert set(ROWS) == set(flags)
    for flag, (variable, key) in ROWS.items():
        name = flag.removeprefix("--").replace("-", "_")
        if flags[flag].envvar is not None:
            assert variable == f"`{flags[flag].envvar}`"
            assert key.strip() == ""
        elif not variable.startswith("none"):
            assert name in SETTINGS
            assert (variable, key.strip()) == (f"`PI_BATCH_{name.upper()}`", f"`{name}`")


def test_every_setting_is_on_the_page() -> None:
    for key in SETTINGS:
        assert f"`{key}`" in PAGE or key == "providers", key


def test_the_report_says_which_place_each_value_came_from(desk: Desk) -> None:
    desk.write("pyproject.toml", "[tool.pi-batch]\nmax_cost_usd = 3\nmax_turns = 3\ncodemode = 'off'\n")
    desk.write(
        "task.yaml", "prompt: Go.\nworkspace: {isolation: none}\nverify: ['true']\nbudget: {tokens: 5000}\n"
    )
    desk.setenv("PI_BATCH_MAX_TURNS", "9")
    desk.setenv("PI_BATCH_MAX_TOKENS", "1")
    assert desk.run("--max-wall-s", "77").code == 0
    (result,) = json.loads((desk.path / "out/run.json").read_bytes())["results"]
    found = {name: (one["value"], one["source"]) for name, one in result["settings"].items()}
    assert found["budget.turns"] == (9, "environment")
    assert found["budget.tokens"] == (5000, "spec")
    assert found["budget.cost_usd"] == (3, "config")
    assert found["budget.wall_s"] == (77, "cli")
    assert found["budget.tool_calls"] == (None, "default")
    assert found["codemode"] == ("off", "config")


def test_variables_say_what_flags_without_a_setting_say(desk: Desk) -> None:
    desk.setenv("PI_BATCH_JUNIT", "j.xml")
    desk.setenv("PI_BATCH_JSON", "")
    desk.setenv("PI_BATCH_QUIET", "1")
    desk.setenv("PI_BATCH_FILTER", "nobody task")
    done = desk.run()
    assert done.code == 0
    assert done.err == ""
    assert (desk.path / "j.xml").is_file()
    desk.setenv("PI_BATCH_FILTER", "nobody")
    assert desk.call("run", "task.yaml", *MODEL).code == 4
    assert desk.call("run", "task.yaml", *MODEL, "--filter", "task").code == 0


@pytest.mark.parametrize(
    ("name", "value", "said"),
    [
        ("PI_BATCH_MAX_TURNS", "many", "PI_BATCH_MAX_TURNS: got 'many', need a whole number"),
        ("PI_BATCH_MAX_COST_USD", "-1", "PI_BATCH_MAX_COST_USD: got -1, need >= 0"),
        ("PI_BATCH_MAX_WALL_S", "0", "PI_BATCH_MAX_WALL_S: got 0, need > 0"),
        ("PI_BATCH_TRUST", "full", "PI_BATCH_TRUST: got 'full', need one of"),
        ("PI_BATCH_REPEAT", "0", "PI_BATCH_REPEAT: got 0, need >= 1"),
        ("PI_BATCH_QUIET", "perhaps", "--quiet"),
        ("PI_BATCH_RERUN", "most", "--rerun"),
    ],
)
def test_a_wrong_variable_is_one_line(desk: Desk, name: str, value: str, said: str) -> None:
    desk.setenv(name, value)
    done = desk.run()
    assert done.code == 2
    assert said in done.err
    assert len(done.lines) == 1


def test_a_distrusted_checkouts_file_says_nothing(desk: Desk) -> None:
    desk.write(".pi-batch.toml", "max_turns = 'broken'\n")
    assert desk.call("validate", "task.yaml").code == 2
    desk.setenv("PI_BATCH_TRUST", "untrusted")
    assert desk.call("validate", "task.yaml").code == 0


@pytest.mark.slow
def test_a_run_is_resumed_with_the_variables_that_it_was_begun_with(desk: Desk) -> None:
    desk.setenv("PI_BATCH_MAX_TURNS", "9")
    assert desk.run().code == 0
    desk.setenv("PI_BATCH_MAX_TURNS", "5")
    desk.setenv("PI_BATCH_MAX_TOKENS", "99")
    assert desk.call("resume", "out").code == 0
