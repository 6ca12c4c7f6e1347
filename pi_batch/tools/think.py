"""think: room for a model without visible reasoning to write down its next steps."""

from __future__ import annotations

from typing import Annotated

from pi_batch.arguments import ToolArguments, said
from pi_batch.messages import TextBlock
from pi_batch.protocols import ToolContext, ToolOutput


class ThinkArguments(ToolArguments, frozen=True, kw_only=True):
    """What think takes."""

    thought: Annotated[str, said("Your reasoning.", "thoughts", "text", "content")]


class Think:
    """Acknowledges a thought: nothing is run, read or kept beyond the history."""

    name = "think"
    description = "Write down reasoning before a hard step. Runs nothing and changes nothing."
    arguments = ThinkArguments
    is_read_only = True
    returns = "str"

    def written_paths(self, arguments: ThinkArguments) -> tuple[str, ...]:
        """Nothing is written."""
        return ()

    async def run(self, arguments: ThinkArguments, context: ToolContext) -> ToolOutput:
        """Acknowledge."""
        return ToolOutput((TextBlock("Noted."),))
