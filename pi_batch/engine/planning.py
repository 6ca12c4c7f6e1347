"""A plan first: what the model is told before and after it, and what waits until it is there."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from msgspec import Struct

from pi_batch.engine.tool_calls import Rules
from pi_batch.protocols import Tool

PLAN = (
    "Make a plan first, and change nothing yet: look at what you need, then answer with the plan alone. Say "
    "which files are to be changed and how, and how to see that it is right. Whoever carries it out knows "
    "only what stands in this conversation."
)
"""Said after the task."""
WORK = "The plan is above. Carry it out now, and finish the task."
"""Said after the plan."""


def last_said(texts: Sequence[str]) -> str:
    """Which of the two was said last: of several prompts each may have a plan of its own. Empty: neither."""
    return next((text for text in reversed(texts) if text in (PLAN, WORK)), "")


class PlanRules(Struct, frozen=True):
    """Permissions under which nothing changes while a plan is made; scripts may run, and find the same."""

    rules: Rules
    is_planning: Callable[[], bool]
    tools: Mapping[str, Tool]
    script_tool: str

    def refusal(self, tool: str, arguments: Any, paths: Sequence[str]) -> tuple[str, str] | None:
        """(rule, reason for the model) of a refusal, or None."""
        found = self.tools.get(tool)
        is_changing = found is not None and not found.is_read_only and tool != self.script_tool
        if is_changing and self.is_planning():
            reason = f"{tool}: waits until the plan is there: answer with the plan, without a call"
            return "phases: plan", reason
        return self.rules.refusal(tool, arguments, paths)
