"""A plan first: what waits until it is there, and which of several prompts is being planned for."""

from __future__ import annotations

from typing import Any

import pytest

from pi_batch.engine.planning import PLAN, WORK, PlanRules, last_said
from pi_batch.providers.fake import says
from pi_batch.routes import ByPhase, OneModel
from tests.engine.fakes import AllowAll, DenyPaths, FakeTool
from tests.engine.test_asking import Choir

TOOLS = {
    "look": FakeTool("look", lambda _arguments, _context: ""),
    "change": FakeTool("change", lambda _arguments, _context: "", is_read_only=False),
    "codemode": FakeTool("codemode", lambda _arguments, _context: "", is_read_only=False),
}


def rules(rest: Any, *, is_planning: bool) -> PlanRules:
    return PlanRules(rest, lambda: is_planning, TOOLS, "codemode")


@pytest.mark.parametrize(
    ("tool", "is_planning", "is_refused"),
    [
        ("change", True, True),
        ("change", False, False),
        ("look", True, False),
        ("codemode", True, False),
        ("nobody", True, False),
    ],
)
def test_what_changes_something_waits_for_the_plan(tool: str, is_planning: bool, is_refused: bool) -> None:
    refusal = rules(AllowAll(), is_planning=is_planning).refusal(tool, None, ())
    assert (refusal is not None) == is_refused
    if refusal is not None:
        assert refusal[0] == "phases: plan"
        assert refusal[1].startswith("change: waits until the plan is there")


def test_the_permissions_hold_in_both_phases() -> None:
    for is_planning in (True, False):
        found = rules(DenyPaths(".env"), is_planning=is_planning).refusal("look", None, ("/w/.env",))
        assert found == ("deny .env", "look: denied by rule .env")


@pytest.mark.parametrize(
    ("texts", "last"),
    [
        ([], ""),
        (["go"], ""),
        (["go", PLAN], PLAN),
        (["go", PLAN, WORK, "warning"], WORK),
        (["go", PLAN, WORK, "more", PLAN], PLAN),
    ],
)
def test_of_several_prompts_the_last_ones_plan_counts(texts: list[str], last: str) -> None:
    assert last_said(texts) == last


async def test_a_further_attempt_is_no_new_plan() -> None:
    route = ByPhase("router/r", OneModel("fake/plan"), OneModel("fake/work"))
    choir = Choir(route, {"fake/plan": [says("plan")], "fake/work": [says("did"), says("mended")]})
    await choir.run("go", 1)
    await choir.run("it failed", 2)
    assert choir.said() == ["go", PLAN, WORK, "it failed"]
