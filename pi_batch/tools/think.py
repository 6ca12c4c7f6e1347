"""think: room for a model without visible reasoning to write down its next steps."""

from __future__ import annotations

from pydantic import AliasChoices, Field

from pi_batch.messages import TextBlock
from pi_batch.protocols import ToolContext, ToolOutput
from pi_batch.tools.arguments import ToolArguments


class ThinkArguments(ToolArguments):
    """What think takes."""

    thought: str = Field(
        validation_alias=AliasChoices("thought", "thoughts", "text", "content"), description="Your reasoning."
    )


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
