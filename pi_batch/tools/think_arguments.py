"""What think takes, in every spelling that models use for it."""

from __future__ import annotations

from pydantic import AliasChoices, Field

from pi_batch.tools.arguments import ToolArguments


class ThinkArguments(ToolArguments):
    """What think takes."""

    thought: str = Field(
        validation_alias=AliasChoices("thought", "thoughts", "text", "content"), description="Your reasoning."
    )
